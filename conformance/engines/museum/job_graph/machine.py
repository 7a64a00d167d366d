"""From the operators and edges of a program to vertices, their network outputs and who reads them.

CHAIN-1 … CHAIN-28: what a program leaves out is filled in, `Chaining` divides the operators, and every edge that is not
chained is written through the network.
"""

from tidegate.conformance.engines.graphs import Edge, Node
from tidegate.conformance.engines.museum.chaining import Chaining
from tidegate.conformance.engines.museum.job_graph.program import Program, Wishes, read_program
from tidegate.conformance.engines.museum.job_graph.results import Results
from tidegate.conformance.engines.wire import (
    Host,
    Json,
    Observations,
    get_choice,
    get_extension,
    rejected,
    unknown_type,
)

_MODES = (
    "all_edges_pipelined",
    "all_edges_pipelined_approximate",
    "pointwise_edges_pipelined",
    "forward_edges_pipelined",
    "all_edges_blocking",
    "all_edges_hybrid_full",
    "all_edges_hybrid_selective",
)


EXTENSIONS = ("dynamic",)


class JobGraph(Chaining):
    def __init__(self, config: Json, host: Host) -> None:
        super().__init__(config, host)
        self.bug = host.bug.removeprefix("job-graph-")
        self.is_dynamic = get_extension(config, EXTENSIONS) is not None
        self.results = Results(get_choice(config, "mode", _MODES), self.bug)
        self.program = Program()
        #: The sources that run in the task of their consumer, by id, and that consumer.
        self.hosts: dict[int, Node] = {}

    def step(self, event: Json) -> Observations:
        if event.get("type") != "graph":
            raise unknown_type(event)
        self.program = read_program(event, self.bug)
        if not self.is_dynamic or self.bug == "unasked-stays-forward":
            self.program.unasked = set()
        elif self.bug == "any-forward-becomes-rescale":
            self.program.unasked = {edge for edge in self.program.wishes if edge.partitioner == "forward"}
        self.results.unasked = self.program.unasked
        if self.program.is_impossible:
            return rejected()
        nodes = self.program.nodes
        for node in nodes:
            for edge in node.outputs:
                self.is_chained(edge)
        found = {node.id: self.find_host(node) for node in nodes if node.is_source()}
        self.hosts = {source: target for source, target in found.items() if target is not None}
        out: Observations = []
        for head in self.order_vertices():
            outputs = self.make_outputs(head, head)
            if any(self.is_timed_wrongly(output, head) for output in outputs):
                return rejected()
            out += [self.make_vertex(head), *outputs]
        return rejected() if self.is_hybrid_in_vain(out) else out

    def is_hybrid_in_vain(self, out: Observations) -> bool:
        """A job that streams or has slot sharing groups of its own has no hybrid results, CHAIN-38."""
        bug = self.bug
        if not any(one["type"] == "output" and one["result"].startswith("hybrid") for one in out):
            return False
        streams = self.results.mode.startswith("all_edges_pipelined") and bug != "hybrid-streams"
        own = any(node.slot_group != "default" for node in self.program.nodes) and bug != "hybrid-in-own-slots"
        return streams or own

    def wishes(self, edge: Edge) -> Wishes:
        return self.program.wishes[edge]

    # --- what is chained --------------------------------------------------------------------------------------

    def count_inputs(self, node: Node) -> int:
        if self.bug == "unions-counted-by-input":
            numbers = [self.wishes(edge).input for edge in node.inputs]
            return max(numbers.count(number) for number in numbers)
        return len(node.inputs)

    def is_chainable_input(self, edge: Edge, *, to_host: bool = False) -> bool:
        bug = self.bug
        if not self.program.bare.isdisjoint({edge.source.id, edge.target.id}) and bug != "bare-node-chained":
            return False
        if bug == "side-output-kept-apart" and self.wishes(edge).tag is not None:
            return False
        return super().is_chainable_input(edge, to_host=to_host)

    def is_forward(self, edge: Edge) -> bool:
        bug = self.bug
        if edge.partitioner == "forward_for_consecutive_hash":
            return edge.exchange != "batch" or bug != "consecutive-hash-cut-by-batch"
        if bug == "hybrid-exchange-kept-apart" and edge.exchange.startswith("hybrid"):
            return False
        return super().is_forward(edge)

    def find_host(self, source: Node) -> Node | None:
        bug = self.bug
        if source.kind != "source" or not source.outputs:
            return None
        if len(source.outputs) > 1 and bug != "source-of-two-taken-in":
            return None
        edge = source.outputs[0]
        target = edge.target
        if target.strategy != "head_with_sources" or not self.is_chainable_input(edge, to_host=True):
            return None
        number = self.wishes(edge).input
        beside = sum(self.wishes(other).input == number for other in target.inputs) - 1
        if bug == "second-input-shuts-sources-out":
            beside = len(target.inputs) - 1
        return target if not beside or bug == "union-takes-sources-in" else None

    def is_hosted(self, edge: Edge) -> bool:
        return self.hosts.get(edge.source.id) is edge.target

    def get_children(self, node: Node) -> list[Node]:
        return [edge.target for edge in node.outputs if self.is_chained(edge) and not self.is_hosted(edge)]

    def get_network_edges(self, node: Node) -> list[Edge]:
        return [edge for edge in node.outputs if not self.is_chained(edge) and not self.is_hosted(edge)]

    # --- vertices ---------------------------------------------------------------------------------------------

    def order_vertices(self) -> list[Node]:
        bug = self.bug
        entries = {node.id: node for node in self.program.nodes if node.is_source() and node.id not in self.hosts}
        entries |= {target.id: target for target in self.hosts.values()}
        done: dict[int, Node] = {}
        ids = sorted(entries)
        if bug == "entries-by-name":
            ids.sort(key=lambda entry: entries[entry].name)
        for entry in ids:
            self.complete(entries[entry], done)
        vertices = list(done.values())
        if bug == "vertices-by-id":
            vertices.sort(key=lambda node: node.id)
        return vertices[::-1] if bug == "producers-completed-first" else vertices

    def complete(self, head: Node, done: dict[int, Node]) -> None:
        if head.id not in done:
            self.complete_below(head, done)
            done[head.id] = head

    def complete_below(self, node: Node, done: dict[int, Node]) -> None:
        network = [edge.target for edge in self.get_network_edges(node)]
        if self.bug == "network-edges-followed-first":
            for target in network:
                self.complete(target, done)
        for child in self.get_children(node):
            self.complete_below(child, done)
        for target in network:
            self.complete(target, done)

    def make_vertex(self, head: Node) -> Json:
        bug = self.bug
        sources = [edge.source for edge in head.inputs if self.is_hosted(edge)]
        if bug == "chained-sources-by-id":
            sources.sort(key=lambda source: source.id)
        indices = dict.fromkeys((source.id for source in sources), 1 if bug == "chained-source-counts" else 0)
        self.number(head, 0 if bug == "indices-from-zero" else 1, indices)
        if bug == "indices-count-operators":
            indices |= {operator: place for place, operator in enumerate(list(indices)[len(sources) :], start=1)}
        most = head.max_parallelism
        if bug == "largest-max-parallelism-of-all":
            most = max(node.max_parallelism for node in self.program.nodes if node.id in indices)
        return {
            "type": "vertex",
            "head": head.id,
            "name": self.make_name(head, sources),
            "parallelism": head.parallelism,
            "max_parallelism": most,
            "members": [{"operator": operator, "index": index} for operator, index in sorted(indices.items())],
        }

    def number(self, node: Node, index: int, indices: dict[int, int]) -> None:
        indices[node.id] = index
        for child in self.get_children(node):
            self.number(child, index + 1, indices)

    # --- outputs ----------------------------------------------------------------------------------------------

    def make_outputs(self, head: Node, node: Node) -> list[Json]:
        """Those of the operators chained to this one, then its own, CHAIN-22."""
        bug = self.bug
        below: list[Json] = []
        for child in self.get_children(node):
            below += self.make_outputs(head, child)
        groups: dict[object, list[Edge]] = {}
        edges = self.get_network_edges(node)
        for place, edge in enumerate(edges[::-1] if bug == "outputs-backwards" else edges):
            groups.setdefault(self.results.get_group(edge, self.wishes(edge)) or place, []).append(edge)
        own = [self.make_output(head, group) for group in groups.values()]
        return own + below if bug == "own-outputs-first" else below + own

    def make_output(self, head: Node, edges: list[Edge]) -> Json:
        first = edges[0]
        wishes = self.wishes(first)
        tagged = {} if wishes.tag is None or self.bug == "tag-lost" else {"tag": wishes.tag}
        return {
            "type": "output",
            "vertex": head.id,
            "operator": head.id if self.bug == "outputs-of-the-head" else first.source.id,
            "partitioner": self.results.name_partitioner(first),
            "pattern": self.results.get_pattern(first),
            "result": self.results.get_shared_result(first, wishes, len(edges)),
            "consumers": [edge.target.id for edge in edges],
            **tagged,
        }

    def is_timed_wrongly(self, output: Json, head: Node) -> bool:
        """A blocking result is not flushed by the clock, CHAIN-27."""
        bug = self.bug
        timeout = self.program.timeouts[head.id if bug == "timeout-of-the-head-counts" else output["operator"]]
        if bug == "zero-timeout-tolerated" and timeout == 0:
            return False
        is_blocking = output["result"] in {"blocking", "blocking_persistent"}
        if bug == "persistent-may-be-timed":
            is_blocking = output["result"] == "blocking"
        if bug == "hybrid-may-not-be-timed":
            is_blocking = not output["result"].startswith("pipelined")
        return is_blocking and timeout != -1 and bug != "timeouts-tolerated"


make = JobGraph
