"""From the operators and edges of a program to vertices, their network outputs and who reads them.

CHAIN-1 … CHAIN-28: what a program leaves out is filled in, `Chaining` divides the operators, and every edge that is not
chained is written through the network.
"""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.graphs import Edge, Node, get_objects, read_node, sort_nodes
from tidegate.conformance.engines.museum.chaining import Chaining
from tidegate.conformance.engines.museum.wrong import changed, wrong

EXTENSIONS = ("dynamic",)

_PARTITIONERS = (
    "forward",
    "rebalance",
    "rescale",
    "shuffle",
    "global",
    "broadcast",
    "hash",
    "custom",
    "forward_for_consecutive_hash",
)
_OF_EXCHANGE = {
    "pipelined": "pipelined_bounded",
    "batch": "blocking",
    "hybrid_full": "hybrid_full",
    "hybrid_selective": "hybrid_selective",
}
_EXCHANGES = ("undefined", *_OF_EXCHANGE)
_OF_MODE = {
    "all_edges_pipelined": "pipelined_bounded",
    "all_edges_pipelined_approximate": "pipelined_approximate",
    "all_edges_blocking": "blocking",
    "all_edges_hybrid_full": "hybrid_full",
    "all_edges_hybrid_selective": "hybrid_selective",
}
_MODES = (*_OF_MODE, "pointwise_edges_pipelined", "forward_edges_pipelined")
#: What an operator and an edge have where nothing is said.
_OPERATOR = {
    "max_parallelism": -1,
    "slot_group": "default",
    "yielding": False,
    "has_operator": True,
    "buffer_timeout": "-1",
}
_EDGE: wire.Json = {"input": 0, "via": []}


@attrs.frozen
class Wishes:
    """What an edge carries that chaining does not ask for."""

    input: int
    tag: str | None
    dataset: str | None


@attrs.define
class Program:
    """`bare` are the nodes without an operator; `is_impossible` says that an edge cannot be what it was asked to be."""

    nodes: list[Node] = attrs.Factory(list)
    wishes: dict[Edge, Wishes] = attrs.Factory(dict)
    bare: set[int] = attrs.Factory(set)
    timeouts: dict[int, int] = attrs.Factory(dict)
    is_impossible: bool = False
    #: The edges that are forward only as long as they are chained: nobody asked for anything.
    unasked: set[Edge] = attrs.Factory(set)


class Reading:
    """The program, read, checked and filled in: strategies, partitioners, exchanges, tags."""

    is_dynamic: bool

    def read_program(self, event: wire.Json) -> Program:
        program = Program()
        nodes: dict[int, Node] = {}
        for said in get_objects(event, "operators"):
            operator = {"strategy": self.get_default_strategy(said), **_OPERATOR, **said}
            node = read_node(operator)
            if node.id in nodes:
                raise wire.BadRequestError(f"two operators have the id {node.id}")
            nodes[node.id] = node
            program.timeouts[node.id] = wire.get_long(operator, "buffer_timeout")
            if program.timeouts[node.id] < -1:
                raise wire.BadRequestError("buffer_timeout must be at least -1")
            if not wire.get_boolean(operator, "has_operator"):
                program.bare.add(node.id)
        for given in ({**_EDGE, **said} for said in get_objects(event, "edges")):
            source, target = nodes.get(wire.get_integer(given, "source")), nodes.get(wire.get_integer(given, "target"))
            if source is None or target is None:
                raise wire.BadRequestError("an edge joins operators that are not there")
            if target.is_source():
                raise wire.BadRequestError(f"an edge enters source {target.id}")
            self.read_edge(program, given, source, target)
        program.nodes = sort_nodes(nodes)
        return program

    def get_default_strategy(self, operator: wire.Json) -> str:
        """CHAIN-14: nobody has said anything."""
        return "head" if operator.get("kind") == "legacy_source" else "always"

    def read_edge(self, program: Program, given: wire.Json, source: Node, target: Node) -> None:
        partitioner, exchange, tag = self.follow_virtual_nodes(get_objects(given, "via"))
        is_equal = source.parallelism == target.parallelism
        if partitioner == "forward" and not is_equal:
            program.is_impossible = True
        nobody_asked = partitioner is None and is_equal
        if partitioner is None:
            partitioner = "forward" if is_equal else "rebalance"
        if partitioner == "forward_for_consecutive_hash" and not is_equal:
            partitioner = "hash"
        edge = Edge(source, target, partitioner, exchange)
        if self.is_dynamic and nobody_asked:
            program.unasked.add(edge)
        source.outputs.append(edge)
        target.inputs.append(edge)
        dataset = wire.get_string(given, "dataset") if "dataset" in given else None
        program.wishes[edge] = Wishes(wire.get_at_least(given, "input", 0), tag, dataset)

    def follow_virtual_nodes(self, via: list[wire.Json]) -> tuple[str | None, str, str | None]:
        """CHAIN-16: from the producer to the consumer, so what is met later counts; but for the exchange."""
        partitioner: str | None = None
        exchange: str | None = None
        tag: str | None = None
        for node in via:
            if wire.get_choice(node, "type", ("partition", "side_output")) == "side_output":
                tag = wire.get_string(node, "tag")
                continue
            partitioner = wire.get_choice(node, "partitioner", _PARTITIONERS)
            handed = wire.get_choice(node, "exchange", _EXCHANGES)
            exchange = exchange or handed
        return partitioner, exchange or "undefined", tag


class Results:
    """Which results the network edges of a job make, and which of them share one: CHAIN-23, CHAIN-24, CHAIN-25."""

    mode: str
    program: Program

    def name_partitioner(self, edge: Edge) -> str:
        """On the network there is no hash that is in place already."""
        if edge.partitioner == "forward_for_consecutive_hash":
            return "hash"
        return "rescale" if edge in self.program.unasked else edge.partitioner

    def get_pattern(self, edge: Edge) -> str:
        return "pointwise" if self.name_partitioner(edge) in {"forward", "rescale"} else "all_to_all"

    def get_result(self, edge: Edge) -> str:
        result = self.get_result_of_mode(edge) if edge.exchange == "undefined" else _OF_EXCHANGE[edge.exchange]
        if result == "blocking" and self.program.wishes[edge].dataset is not None:
            return "blocking_persistent"
        if result == "hybrid_selective" and edge.partitioner == "broadcast":
            return "hybrid_full"
        return result

    def get_result_of_mode(self, edge: Edge) -> str:
        if self.mode in _OF_MODE:
            return _OF_MODE[self.mode]
        pipelined = {"forward"} if self.mode == "forward_edges_pipelined" else {"forward", "rescale"}
        partitioner = "rescale" if edge in self.program.unasked else edge.partitioner
        return "pipelined_bounded" if partitioner in pipelined else "blocking"

    def get_group(self, edge: Edge) -> object:
        """Edges of one operator with the same group share an output; none: with nobody."""
        result = self.get_result(edge)
        if result.startswith("pipelined"):
            return None
        family = "hybrid" if result.startswith("hybrid") else result
        target, wishes = edge.target, self.program.wishes[edge]
        sent = (self.name_partitioner(edge), target.parallelism, target.max_parallelism)
        return family, *sent, wishes.dataset, wishes.tag

    def get_shared_result(self, edge: Edge, readers: int) -> str:
        result = self.get_result(edge)
        return "hybrid_full" if result == "hybrid_selective" and readers > 1 else result


class JobGraph(Reading, Results, Chaining):
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.is_dynamic = wire.get_extension(config, EXTENSIONS) is not None
        self.mode = wire.get_choice(config, "mode", _MODES)
        self.program = Program()
        #: The sources that run in the task of their consumer, by id, and that consumer.
        self.hosts: dict[int, Node] = {}

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") != "graph":
            raise wire.unknown_type(event)
        self.program = self.read_program(event)
        if self.program.is_impossible:
            return wire.rejected()
        nodes = self.program.nodes
        self.decide(nodes)
        found = {node.id: self.find_host(node) for node in nodes if node.is_source()}
        self.hosts = {source: target for source, target in found.items() if target is not None}
        out: wire.Observations = []
        for head in self.order_vertices():
            outputs = self.make_outputs(head, head)
            if any(self.is_timed_wrongly(output) for output in outputs):
                return wire.rejected()
            out += [self.make_vertex(head), *outputs]
        return wire.rejected() if self.is_hybrid_in_vain(out) else out

    def is_hybrid_in_vain(self, out: wire.Observations) -> bool:
        """A job that streams or has slot sharing groups of its own has no hybrid results, CHAIN-38."""
        if not any(one["type"] == "output" and one["result"].startswith("hybrid") for one in out):
            return False
        streams = self.mode.startswith("all_edges_pipelined")
        return streams or any(node.slot_group != "default" for node in self.program.nodes)

    # --- what is chained --------------------------------------------------------------------------------------

    def is_chainable_input(self, edge: Edge) -> bool:
        if not self.program.bare.isdisjoint({edge.source.id, edge.target.id}):
            return False
        return super().is_chainable_input(edge)

    def is_forward(self, edge: Edge) -> bool:
        return edge.partitioner == "forward_for_consecutive_hash" or super().is_forward(edge)

    def find_host(self, source: Node) -> Node | None:
        if source.kind != "source" or not source.outputs:
            return None
        if len(source.outputs) > 1:
            return None
        edge = source.outputs[0]
        target = edge.target
        if target.strategy != "head_with_sources" or not self.is_chainable_input(edge):
            return None
        number = self.program.wishes[edge].input
        entering = sum(self.program.wishes[other].input == number for other in target.inputs)
        return target if entering == 1 else None

    def is_hosted(self, edge: Edge) -> bool:
        return self.hosts.get(edge.source.id) is edge.target

    def get_children(self, node: Node) -> list[Node]:
        return [edge.target for edge in node.outputs if self.is_chained(edge) and not self.is_hosted(edge)]

    def get_network_edges(self, node: Node) -> list[Edge]:
        return [edge for edge in node.outputs if not self.is_chained(edge) and not self.is_hosted(edge)]

    # --- vertices ---------------------------------------------------------------------------------------------

    def order_vertices(self) -> list[Node]:
        entries = {node.id: node for node in self.program.nodes if node.is_source() and node.id not in self.hosts}
        entries |= {target.id: target for target in self.hosts.values()}
        done: dict[int, Node] = {}
        for entry in sorted(entries):
            self.complete(entries[entry], done)
        return list(done.values())

    def complete(self, head: Node, done: dict[int, Node]) -> None:
        if head.id not in done:
            self.complete_below(head, done)
            done[head.id] = head

    def complete_below(self, node: Node, done: dict[int, Node]) -> None:
        for child in self.get_children(node):
            self.complete_below(child, done)
        for edge in self.get_network_edges(node):
            self.complete(edge.target, done)

    def make_vertex(self, head: Node) -> wire.Json:
        sources = [edge.source for edge in head.inputs if self.is_hosted(edge)]
        indices = dict.fromkeys((source.id for source in sources), 0)
        self.number(head, 1, indices)
        return {
            "type": "vertex",
            "head": head.id,
            "name": self.make_name(head, sources),
            "parallelism": head.parallelism,
            "max_parallelism": head.max_parallelism,
            "members": [{"operator": operator, "index": index} for operator, index in sorted(indices.items())],
        }

    def number(self, node: Node, index: int, indices: dict[int, int]) -> None:
        indices[node.id] = index
        for child in self.get_children(node):
            self.number(child, index + 1, indices)

    # --- outputs ----------------------------------------------------------------------------------------------

    def make_outputs(self, head: Node, node: Node) -> list[wire.Json]:
        """Those of the operators chained to this one, then its own, CHAIN-22."""
        below: list[wire.Json] = []
        for child in self.get_children(node):
            below += self.make_outputs(head, child)
        groups: dict[object, list[Edge]] = {}
        for place, edge in enumerate(self.get_network_edges(node)):
            groups.setdefault(self.get_group(edge) or place, []).append(edge)
        own = [self.make_output(head, group) for group in groups.values()]
        return below + own

    def make_output(self, head: Node, edges: list[Edge]) -> wire.Json:
        first = edges[0]
        tag = self.program.wishes[first].tag
        return {
            "type": "output",
            "vertex": head.id,
            "operator": first.source.id,
            "partitioner": self.name_partitioner(first),
            "pattern": self.get_pattern(first),
            "result": self.get_shared_result(first, len(edges)),
            "consumers": [edge.target.id for edge in edges],
            **({} if tag is None else {"tag": tag}),
        }

    def is_timed_wrongly(self, output: wire.Json) -> bool:
        """A blocking result is not flushed by the clock, CHAIN-27."""
        timeout = self.program.timeouts[output["operator"]]
        return output["result"] in {"blocking", "blocking_persistent"} and timeout != -1


make = JobGraph

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("CHAIN-1")
class JobGraphUnionsCountedByInput(JobGraph):
    """Only edges into the same input are counted, and an operator with two inputs is chained to one of them."""

    is_chained = changed(
        Chaining.is_chained,
        "len(edge.target.inputs) == 1",
        "len(edge.target.inputs) == len({self.program.wishes[one].input for one in edge.target.inputs})",
    )


@wrong("CHAIN-2")
class JobGraphBareNodeChained(JobGraph):
    """A node without an operator is chained: there is nothing to call in it."""

    is_chainable_input = Chaining.is_chainable_input


@wrong("CHAIN-9")
class JobGraphHybridExchangeKeptApart(JobGraph):
    """An edge with a hybrid exchange is not chained."""

    def is_forward(self, edge: Edge) -> bool:
        is_cut = edge.partitioner == "forward" and edge.exchange.startswith("hybrid")
        return not is_cut and super().is_forward(edge)


@wrong("CHAIN-9")
class JobGraphConsecutiveHashCutByBatch(JobGraph):
    """A hash over keys already in place is not chained where the exchange is batch."""

    def is_forward(self, edge: Edge) -> bool:
        return edge.exchange != "batch" and super().is_forward(edge)


@wrong("CHAIN-12", "CHAIN-17")
class JobGraphUnionTakesSourcesIn(JobGraph):
    """A source is chained into an input that another edge enters too, and the union is lost."""

    find_host = changed(JobGraph.find_host, " if entering == 1 else None", "")


@wrong("CHAIN-12", "CHAIN-17")
class JobGraphSecondInputShutsSourcesOut(JobGraph):
    """An operator with several inputs takes no source in, as if all of them were one union."""

    find_host = changed(JobGraph.find_host, "entering == 1", "len(target.inputs) == 1")


@wrong("CHAIN-17", "CHAIN-19", "CHAIN-22")
class JobGraphSourceOfTwoTakenIn(JobGraph):
    """A source with two outgoing edges is chained into the target of the first; nobody writes for the second."""

    find_host = changed(JobGraph.find_host, "len(source.outputs) > 1", "False")


@wrong("CHAIN-14", origin="Flink 1.5")
class JobGraphUnconfiguredBeginsAChain(JobGraph):
    """An operator that nobody configured begins a chain, as those without a user function did in 1.5."""

    def get_default_strategy(self, operator: wire.Json) -> str:
        return "head"


@wrong("CHAIN-14")
class JobGraphUnconfiguredStaysAlone(JobGraph):
    """An operator that nobody configured is chained to nobody."""

    get_default_strategy = changed(JobGraph.get_default_strategy, '"always"', '"never"')


@wrong("CHAIN-15", "CHAIN-23")
class JobGraphUnaskedIsRescale(JobGraph):
    """Between operators of unequal parallelism an edge without a partitioner is a rescale."""

    read_edge = changed(JobGraph.read_edge, '"rebalance"', '"rescale"')


@wrong("CHAIN-15", "CHAIN-6")
class JobGraphUnaskedIsNeverForward(JobGraph):
    """An edge without a partitioner is a rebalance, also where parallelism is equal."""

    read_edge = changed(JobGraph.read_edge, '"forward" if is_equal else "rebalance"', '"rebalance"')


@wrong("CHAIN-15")
class JobGraphImpossibleForwardBecomesRebalance(JobGraph):
    """A forward edge between operators of unequal parallelism is not refused but rebalanced."""

    read_edge = changed(JobGraph.read_edge, "program.is_impossible = True", "partitioner = None")


@wrong("CHAIN-15", "CHAIN-7")
class JobGraphConsecutiveHashRefused(JobGraph):
    """A hash over keys already in place is refused between operators of unequal parallelism, like a forward edge."""

    read_edge = changed(
        JobGraph.read_edge, 'partitioner == "forward"', 'partitioner in {"forward", "forward_for_consecutive_hash"}'
    )


@wrong("CHAIN-15", "CHAIN-23", "CHAIN-25")
class JobGraphUnequalConsecutiveHashRebalanced(JobGraph):
    """A hash over keys already in place becomes a rebalance where parallelism differs, and the keys are scattered."""

    read_edge = changed(JobGraph.read_edge, '"hash"', '"rebalance"')


@wrong("CHAIN-16")
class JobGraphPartitionerNearestToTheProducer(JobGraph):
    """Of several partitioners on the way the first one counts."""

    follow_virtual_nodes = changed(
        JobGraph.follow_virtual_nodes, "partitioner = wire", "partitioner = partitioner or wire"
    )


@wrong("CHAIN-16")
class JobGraphExchangeNearestToTheConsumer(JobGraph):
    """Of several exchanges on the way the last one counts."""

    follow_virtual_nodes = changed(JobGraph.follow_virtual_nodes, "exchange or handed", "handed")


@wrong("CHAIN-16", "CHAIN-28")
class JobGraphTagNearestToTheProducer(JobGraph):
    """Of several output tags on the way the first one counts."""

    follow_virtual_nodes = changed(
        JobGraph.follow_virtual_nodes,
        'wire.get_string(node, "tag")',
        'wire.get_string(node, "tag") if tag is None else tag',
    )


@wrong("CHAIN-16", "CHAIN-28")
class JobGraphSideOutputForgottenBehindAPartition(JobGraph):
    """A side output that is partitioned afterwards gets the main output."""

    follow_virtual_nodes = changed(
        JobGraph.follow_virtual_nodes, "exchange = exchange or handed", "exchange, tag = exchange or handed, None"
    )


@wrong("CHAIN-18")
class JobGraphEntriesByName(JobGraph):
    """The sources are taken in the order of their names."""

    order_vertices = changed(
        JobGraph.order_vertices, "sorted(entries)", "sorted(sorted(entries), key=lambda entry: entries[entry].name)"
    )


@wrong("CHAIN-18")
class JobGraphVerticesById(JobGraph):
    """Vertices are completed in the order of their ids, some before those that they feed."""

    order_vertices = changed(
        JobGraph.order_vertices, "list(done.values())", "sorted(done.values(), key=lambda node: node.id)"
    )


@wrong("CHAIN-18")
class JobGraphProducersCompletedFirst(JobGraph):
    """Producers are completed before their consumers exist."""

    order_vertices = changed(JobGraph.order_vertices, "list(done.values())", "list(done.values())[::-1]")


@wrong("CHAIN-18")
class JobGraphNetworkEdgesFollowedFirst(JobGraph):
    """At each operator the edges through the network are followed before the chained ones."""

    def complete_below(self, node: Node, done: dict[int, Node]) -> None:
        for edge in self.get_network_edges(node):
            self.complete(edge.target, done)
        super().complete_below(node, done)


@wrong("CHAIN-20")
class JobGraphChainedSourcesById(JobGraph):
    """Chained sources are named in the order of their ids instead of their edges."""

    make_vertex = changed(
        JobGraph.make_vertex, "indices = dict", "sources.sort(key=lambda source: source.id)\nindices = dict"
    )


@wrong("CHAIN-21")
class JobGraphChainedSourceCounts(JobGraph):
    """A chained source has the index of the head."""

    make_vertex = changed(JobGraph.make_vertex, "sources), 0)", "sources), 1)")


@wrong("CHAIN-21")
class JobGraphIndicesFromZero(JobGraph):
    """The head of a chain has the index 0."""

    make_vertex = changed(JobGraph.make_vertex, "self.number(head, 1, indices)", "self.number(head, 0, indices)")


@wrong("CHAIN-21")
class JobGraphIndicesCountOperators(JobGraph):
    """Operators of a chain are numbered one after the other: siblings differ, and so do the priorities of their
    mails.
    """

    number = changed(JobGraph.number, "= index", "= sum(one > 0 for one in indices.values()) + 1")


@wrong("CHAIN-22")
class JobGraphOwnOutputsFirst(JobGraph):
    """An operator's own outputs come before those of the operators chained to it."""

    make_outputs = changed(JobGraph.make_outputs, "below + own", "own + below")


@wrong("CHAIN-22", "CHAIN-25")
class JobGraphOutputsBackwards(JobGraph):
    """The outputs of an operator are in the reverse order of its edges: writers and readers count differently."""

    make_outputs = changed(
        JobGraph.make_outputs,
        "enumerate(self.get_network_edges(node))",
        "enumerate(self.get_network_edges(node)[::-1])",
    )


@wrong("CHAIN-22", "CHAIN-23")
class JobGraphOutputsOfTheHead(JobGraph):
    """Every output of a vertex is said to be the head's."""

    make_output = changed(JobGraph.make_output, "first.source.id", "head.id")


@wrong("CHAIN-23")
class JobGraphRescaleToAll(JobGraph):
    """A rescale is connected all to all."""

    get_pattern = changed(JobGraph.get_pattern, '{"forward", "rescale"}', '{"forward"}')


@wrong("CHAIN-23")
class JobGraphForwardToAll(JobGraph):
    """A forward edge through the network is connected all to all."""

    get_pattern = changed(JobGraph.get_pattern, '{"forward", "rescale"}', '{"rescale"}')


@wrong("CHAIN-23")
class JobGraphRebalancePointwise(JobGraph):
    """A rebalance is connected pointwise, so that some consumers get nothing of some producers."""

    get_pattern = changed(JobGraph.get_pattern, '{"forward", "rescale"}', '{"forward", "rescale", "rebalance"}')


@wrong("CHAIN-23", "CHAIN-15", "CHAIN-24", "CHAIN-25")
class JobGraphConsecutiveHashGoesForward(JobGraph):
    """A hash over keys already in place that is not chained goes through the network as a forward edge."""

    name_partitioner = changed(JobGraph.name_partitioner, '"hash"', '"forward"')


@wrong("CHAIN-24")
class JobGraphJobBeatsEdge(JobGraph):
    """The mode of the job overrules the exchange that an edge asks for."""

    get_result = changed(
        JobGraph.get_result,
        'edge.exchange == "undefined"',
        'edge.exchange == "undefined" or self.mode != "all_edges_pipelined"',
    )


@wrong("CHAIN-24", "CHAIN-25")
class JobGraphKeptResultNotPersistent(JobGraph):
    """A blocking result that is kept for later jobs goes with the first one."""

    get_result = changed(JobGraph.get_result, 'result == "blocking"', "False")


@wrong("CHAIN-24")
class JobGraphBroadcastStaysSelective(JobGraph):
    """A broadcast is hybrid-selective, although every consumer reads all of it."""

    get_result = changed(JobGraph.get_result, 'result == "hybrid_selective"', "False")


@wrong("CHAIN-24")
class JobGraphApproximateIsBounded(JobGraph):
    """A job for approximate recovery gets ordinary pipelined results."""

    def get_result_of_mode(self, edge: Edge) -> str:
        if self.mode == "all_edges_pipelined_approximate":
            return "pipelined_bounded"
        return super().get_result_of_mode(edge)


@wrong("CHAIN-24")
class JobGraphForwardModePipelinesRescale(JobGraph):
    """Where only forward edges are to be pipelined, rescaled ones are too."""

    get_result_of_mode = changed(JobGraph.get_result_of_mode, 'self.mode == "forward_edges_pipelined"', "False")


@wrong("CHAIN-24")
class JobGraphPointwiseModeBlocksRescale(JobGraph):
    """Where pointwise edges are to be pipelined, rescaled ones are blocking."""

    get_result_of_mode = changed(JobGraph.get_result_of_mode, 'self.mode == "forward_edges_pipelined"', "True")


@wrong("CHAIN-25", "CHAIN-22")
class JobGraphPipelinedShared(JobGraph):
    """A pipelined result is shared by two consumers, and each gets a part of it."""

    get_group = changed(JobGraph.get_group, 'result.startswith("pipelined")', "False")


@wrong("CHAIN-25", "CHAIN-22")
class JobGraphBlockingNotShared(JobGraph):
    """Blocking results are never shared: the same data is written once for each consumer."""

    get_group = changed(JobGraph.get_group, 'result.startswith("pipelined")', 'not result.startswith("hybrid")')


@wrong("CHAIN-25", "CHAIN-22")
class JobGraphHybridsKeptApart(JobGraph):
    """A hybrid-full and a hybrid-selective edge share no result."""

    get_group = changed(JobGraph.get_group, '"hybrid" if result.startswith("hybrid") else result', "result")


@wrong("CHAIN-25", "CHAIN-22")
class JobGraphSharedWhateverThePartitioner(JobGraph):
    """A result is shared by edges of different partitioners."""

    get_group = changed(JobGraph.get_group, "self.name_partitioner(edge), ", "")


@wrong("CHAIN-25", "CHAIN-22")
class JobGraphSharedWhateverTheParallelism(JobGraph):
    """A result is shared by consumers of different parallelism, and has too few subpartitions for one of them."""

    get_group = changed(JobGraph.get_group, "target.parallelism, ", "")


@wrong("CHAIN-25", "CHAIN-22")
class JobGraphSharedWhateverTheMaxParallelism(JobGraph):
    """A result is shared by consumers of different max parallelism, whose key groups differ."""

    get_group = changed(JobGraph.get_group, ", target.max_parallelism", "")


@wrong("CHAIN-25", "CHAIN-22")
class JobGraphSharedWhateverTheDataset(JobGraph):
    """Results that are kept under two ids are made one."""

    get_group = changed(JobGraph.get_group, ", wishes.dataset", "")


@wrong("CHAIN-25", "CHAIN-28", "CHAIN-22")
class JobGraphSharedWhateverTheTag(JobGraph):
    """A side output shares the result of another output: its consumer reads the wrong records."""

    get_group = changed(JobGraph.get_group, ", wishes.tag", "")


@wrong("CHAIN-25")
class JobGraphSharedStaysSelective(JobGraph):
    """A shared result is hybrid-selective: what one consumer has read is gone for the other."""

    get_shared_result = changed(JobGraph.get_shared_result, "readers > 1", "False")


@wrong("CHAIN-26")
class JobGraphLargestMaxParallelismOfAll(JobGraph):
    """A vertex has the largest max parallelism of its operators."""

    make_vertex = changed(
        JobGraph.make_vertex,
        "head.max_parallelism",
        "max(node.max_parallelism for node in self.program.nodes if node.id in indices)",
    )


@wrong("CHAIN-27")
class JobGraphTimeoutsTolerated(JobGraph):
    """A buffer timeout is accepted at a blocking output."""

    def is_timed_wrongly(self, output: wire.Json) -> bool:
        return False


@wrong("CHAIN-27")
class JobGraphZeroTimeoutTolerated(JobGraph):
    """A buffer timeout of 0 is accepted at a blocking output."""

    is_timed_wrongly = changed(JobGraph.is_timed_wrongly, "timeout != -1", "timeout not in {-1, 0}")


@wrong("CHAIN-27")
class JobGraphTimeoutOfTheHeadCounts(JobGraph):
    """The buffer timeout of the head is looked at, not that of the operator that writes."""

    is_timed_wrongly = changed(JobGraph.is_timed_wrongly, '"operator"', '"vertex"')


@wrong("CHAIN-27")
class JobGraphPersistentMayBeTimed(JobGraph):
    """A buffer timeout is accepted where the blocking result is kept for later jobs."""

    is_timed_wrongly = changed(JobGraph.is_timed_wrongly, '{"blocking", "blocking_persistent"}', '{"blocking"}')


@wrong("CHAIN-27", "CHAIN-24")
class JobGraphHybridMayNotBeTimed(JobGraph):
    """A buffer timeout is refused at hybrid outputs too."""

    is_timed_wrongly = changed(
        JobGraph.is_timed_wrongly,
        'output["result"] in {"blocking", "blocking_persistent"}',
        'not output["result"].startswith("pipelined")',
    )


@wrong("CHAIN-28", "CHAIN-19")
class JobGraphSideOutputKeptApart(JobGraph):
    """A side output is never chained."""

    def is_chainable_input(self, edge: Edge) -> bool:
        return self.program.wishes[edge].tag is None and super().is_chainable_input(edge)


@wrong("CHAIN-28", "CHAIN-25", "CHAIN-16")
class JobGraphTagLost(JobGraph):
    """An output does not say which tag it is for."""

    make_output = changed(JobGraph.make_output, '{"tag": tag}', "{}")


@wrong("CHAIN-38")
class JobGraphHybridStreams(JobGraph):
    """A streaming job may have hybrid results."""

    is_hybrid_in_vain = changed(JobGraph.is_hybrid_in_vain, 'self.mode.startswith("all_edges_pipelined")', "False")


@wrong("CHAIN-38")
class JobGraphHybridInOwnSlots(JobGraph):
    """A job with hybrid results may have slot sharing groups of its own."""

    is_hybrid_in_vain = changed(JobGraph.is_hybrid_in_vain, 'node.slot_group != "default"', "False")


@wrong("CHAIN-15", "CHAIN-23", "CHAIN-24", "CHAIN-25")
class JobGraphUnaskedStaysForward(JobGraph):
    """In a dynamic graph an edge that nobody described stays forward although it is not chained: its ends cannot
    get a parallelism each.
    """

    read_edge = changed(JobGraph.read_edge, "self.is_dynamic and nobody_asked", "False")


@wrong("CHAIN-15", "CHAIN-23", "CHAIN-24", "CHAIN-25")
class JobGraphAnyForwardBecomesRescale(JobGraph):
    """In a dynamic graph also a forward edge that was asked for becomes rescale."""

    read_edge = changed(JobGraph.read_edge, "and nobody_asked", 'and partitioner == "forward"')
