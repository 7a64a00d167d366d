"""Which operators share a task, CHAIN-1 … CHAIN-11 and CHAIN-17 … CHAIN-20."""

from tidegate.conformance.engines.graphs import Edge, Node, read_graph
from tidegate.conformance.engines.wire import Host, Json, Observations, get_boolean, unknown_type


class Chaining:
    def __init__(self, config: Json, host: Host) -> None:
        self.bug = host.bug
        self.enabled = get_boolean(config, "chaining")
        self.different_max_parallelism = get_boolean(config, "chain_different_max_parallelism")

    def step(self, event: Json) -> Observations:
        if event.get("type") != "graph":
            raise unknown_type(event)
        return self.on_graph(read_graph(event))

    def on_graph(self, nodes: list[Node]) -> Observations:
        bug = self.bug
        for node in nodes:
            for edge in node.outputs:
                self.is_chained(edge)
        sources = sorted((node for node in nodes if node.is_source()), key=lambda node: node.id)
        chained: dict[int, Node] = {}
        for source in sources[:8] if bug == "chaining-eight-sources" else sources:
            target = self.find_host(source)
            if target is not None:
                chained[source.id] = target
        hosts = {target.id: target for target in chained.values()}
        pending = [source for source in sources if source.id not in chained] + list(hosts.values())
        vertices: list[Json] = []
        started: set[int] = set()
        while pending:
            head = pending.pop(0)
            if head.id in started and bug != "chaining-vertex-repeated":
                continue
            started.add(head.id)
            members = [node.id for node in nodes if chained.get(node.id) is head]
            self.gather(head, members, pending, depth=1)
            sources_first = [edge.source for edge in head.inputs if chained.get(edge.source.id) is head]
            name = self.make_name(head, sources_first)
            vertex_head = head.id
            if bug == "chaining-chained-source-heads" and sources_first:
                vertex_head = min(source.id for source in sources_first)
            vertices.append({"type": "vertex", "head": vertex_head, "operators": sorted(members), "name": name})
        if bug != "chaining-vertices-in-discovery-order":
            vertices.sort(key=lambda vertex: int(vertex["head"]))
        return vertices

    def gather(self, node: Node, members: list[int], pending: list[Node], depth: int) -> None:
        """Follow the chain edges of a node first; the others start chains of their own."""
        members.append(node.id)
        others: list[Node] = []
        for edge in node.outputs:
            if self.is_chained(edge) and not self.is_too_deep(depth):
                self.gather(edge.target, members, pending, depth + 1)
            else:
                others.append(edge.target)
        pending += others

    def is_too_deep(self, depth: int) -> bool:
        return self.bug == "chaining-five-operators-at-most" and depth >= 5

    def make_name(self, node: Node, sources: list[Node], depth: int = 1) -> str:
        bug = self.bug
        children = [edge.target for edge in node.outputs if self.is_chained(edge)]
        if self.is_too_deep(depth):
            children = []
        if bug == "chaining-children-by-id":
            children.sort(key=lambda child: child.id)
        elif bug == "chaining-children-by-name":
            children.sort(key=lambda child: child.name)
        elif bug == "chaining-255-children":
            children = children[:255]
        name = node.name
        if sources and bug != "chaining-sources-unnamed":
            name = f"{name} [{', '.join(source.name for source in sources)}]"
        names = [self.make_name(child, [], depth + 1) for child in children]
        if not names:
            return name
        if len(names) == 1 and bug != "chaining-single-child-in-brackets":
            return f"{name} -> {names[0]}"
        if bug == "chaining-children-unbracketed":
            return f"{name} -> {', '.join(names)}"
        return f"{name} -> ({', '.join(names)})"

    def find_host(self, source: Node) -> Node | None:
        """The operator that takes a source in as a chained input, CHAIN-17."""
        bug = self.bug
        if bug == "chaining-no-chained-sources" or not source.outputs:
            return None
        if source.kind != "source" and bug != "chaining-legacy-source-counts-as-source":
            return None
        if len(source.outputs) != 1 and bug != "chaining-chained-source-with-two-outputs":
            return None
        edge = source.outputs[0]
        if edge.target.strategy != "head_with_sources":
            return None
        # Edges carry no input numbers: all that enter an operator are one union, and no source is the whole of it.
        if len(edge.target.inputs) != 1:
            return None
        return edge.target if self.is_chainable_input(edge, to_host=True) else None

    def is_chained(self, edge: Edge) -> bool:
        """Whether an edge passes CHAIN-1 … CHAIN-11."""
        if edge.chained is None:
            edge.chained = self.count_inputs(edge.target) == 1 and self.is_chainable_input(edge)
        return edge.chained

    def count_inputs(self, node: Node) -> int:
        bug = self.bug
        if bug == "chaining-self-union-counted-once":
            return len({edge.source.id for edge in node.inputs})
        if bug == "chaining-forward-inputs-counted-only":
            return sum(edge.partitioner == "forward" for edge in node.inputs)
        return len(node.inputs) % 256 if bug == "chaining-inputs-counted-in-a-byte" else len(node.inputs)

    def is_chainable_input(self, edge: Edge, *, to_host: bool = False) -> bool:
        bug = self.bug
        if not self.enabled and not (to_host and bug == "chaining-switch-misses-chained-sources"):
            return False
        up, down = edge.source, edge.target
        return (
            self.share_slot(up, down)
            and self.allows_downstream(up, to_host=to_host)
            and self.allows_upstream(down, up)
            and self.is_forward(edge)
            and (up.parallelism == down.parallelism or bug == "chaining-parallelism-ignored")
            and self.agree_on_max_parallelism(up, down)
            and not self.yields_to_legacy(up, down)
        )

    def share_slot(self, up: Node, down: Node) -> bool:
        if self.bug == "chaining-slot-group-ignored":
            return True
        if self.bug == "chaining-default-slot-group-matches-all" and "default" in {up.slot_group, down.slot_group}:
            return True
        return up.slot_group == down.slot_group

    def allows_downstream(self, up: Node, *, to_host: bool) -> bool:
        bug = self.bug
        if up.strategy == "never":
            return bug == "chaining-never-binds-inputs-only" or (
                to_host and bug == "chaining-never-source-still-chained"
            )
        if up.strategy == "head_with_sources":
            return bug != "chaining-head-with-sources-ends-chain"
        return up.strategy != "head" or bug != "chaining-head-ends-chain"

    def allows_upstream(self, down: Node, up: Node) -> bool:
        bug = self.bug
        if down.strategy == "always":
            return True
        if down.strategy == "head":
            return bug == "chaining-head-joins-chain"
        if down.strategy == "never":
            return bug == "chaining-never-binds-outputs-only"
        if bug == "chaining-head-with-sources-takes-all":
            return True
        return up.kind == "source" or (bug == "chaining-legacy-source-counts-as-source" and up.kind == "legacy_source")

    def is_forward(self, edge: Edge) -> bool:
        bug = self.bug
        if edge.exchange == "batch" and bug != "chaining-batch-exchange-chained":
            return False
        if edge.exchange == "pipelined" and bug == "chaining-pipelined-exchange-unchained":
            return False
        if bug == "chaining-rescale-chained" and edge.partitioner == "rescale":
            return True
        if bug == "chaining-any-partitioner-at-one":
            return edge.partitioner == "forward" or edge.source.parallelism == edge.target.parallelism == 1
        return edge.partitioner == "forward"

    def agree_on_max_parallelism(self, up: Node, down: Node) -> bool:
        bug = self.bug
        checked = not self.different_max_parallelism
        if bug == "chaining-max-parallelism-always-checked":
            checked = True
        elif bug == "chaining-max-parallelism-never-checked":
            checked = False
        elif bug == "chaining-unset-max-parallelism-matches-all" and -1 in {up.max_parallelism, down.max_parallelism}:
            return True
        return not checked or up.max_parallelism == down.max_parallelism

    def yields_to_legacy(self, up: Node, down: Node) -> bool:
        """A yielding operator must not share a chain with the legacy source at its head, CHAIN-11."""
        bug = self.bug
        if not down.yielding or bug == "chaining-yielding-ignored":
            return False
        head = self.find_head(up)
        if bug == "chaining-yielding-after-any-source":
            return head.is_source()
        return head.kind == "legacy_source"

    def find_head(self, node: Node) -> Node:
        bug = self.bug
        hops = 0
        while len(node.inputs) == 1 and (bug == "chaining-yielding-walks-any-edge" or self.is_chained(node.inputs[0])):
            if bug == "chaining-yielding-looks-one-hop" or (bug == "chaining-yielding-looks-three-hops" and hops == 2):
                break
            node = node.inputs[0].source
            hops += 1
        return node


make = Chaining
