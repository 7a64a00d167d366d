"""Which operators share a task, CHAIN-1 … CHAIN-11 and CHAIN-17 … CHAIN-20."""

from tidegate.conformance.engines.graphs import Edge, Node, read_graph
from tidegate.conformance.engines.museum.wrong import changed, wrong
from tidegate.conformance.engines.wire import Host, Json, Observations, get_boolean, unknown_type


class Chaining:
    def __init__(self, config: Json, host: Host) -> None:
        self.enabled = get_boolean(config, "chaining")
        self.different_max_parallelism = get_boolean(config, "chain_different_max_parallelism")

    def step(self, event: Json) -> Observations:
        if event.get("type") != "graph":
            raise unknown_type(event)
        return self.on_graph(read_graph(event))

    def on_graph(self, nodes: list[Node]) -> Observations:
        self.decide(nodes)
        sources = sorted((node for node in nodes if node.is_source()), key=lambda node: node.id)
        chained: dict[int, Node] = {}
        for source in sources:
            target = self.find_host(source)
            if target is not None:
                chained[source.id] = target
        hosts = {target.id: target for target in chained.values()}
        pending = [source for source in sources if source.id not in chained] + list(hosts.values())
        vertices: list[Json] = []
        started: set[int] = set()
        while pending:
            head = pending.pop(0)
            if head.id in started:
                continue
            started.add(head.id)
            members = [node.id for node in nodes if chained.get(node.id) is head]
            self.gather(head, members, pending)
            sources_first = [edge.source for edge in head.inputs if chained.get(edge.source.id) is head]
            name = self.make_name(head, sources_first)
            vertices.append({"type": "vertex", "head": head.id, "operators": sorted(members), "name": name})
        vertices.sort(key=lambda vertex: int(vertex["head"]))
        return vertices

    def decide(self, nodes: list[Node]) -> None:
        """From the sources on: each edge keeps its decision, and no walk back to the head of a chain is long."""
        for node in nodes:
            for edge in node.outputs:
                self.is_chained(edge)

    def gather(self, node: Node, members: list[int], pending: list[Node]) -> None:
        """Follow the chain edges of a node first; the others start chains of their own."""
        members.append(node.id)
        others: list[Node] = []
        for edge in node.outputs:
            if self.is_chained(edge):
                self.gather(edge.target, members, pending)
            else:
                others.append(edge.target)
        pending += others

    def make_name(self, node: Node, sources: list[Node]) -> str:
        name = node.name
        if sources:
            name = f"{name} [{', '.join(source.name for source in sources)}]"
        names = [self.make_name(edge.target, []) for edge in node.outputs if self.is_chained(edge)]
        if not names:
            return name
        if len(names) == 1:
            return f"{name} -> {names[0]}"
        return f"{name} -> ({', '.join(names)})"

    def find_host(self, source: Node) -> Node | None:
        """The operator that takes a source in as a chained input, CHAIN-17."""
        if source.kind != "source" or not source.outputs:
            return None
        if len(source.outputs) != 1:
            return None
        edge = source.outputs[0]
        if edge.target.strategy != "head_with_sources":
            return None
        # Edges carry no input numbers: all that enter an operator are one union, and no source is the whole of it.
        if len(edge.target.inputs) != 1:
            return None
        return edge.target if self.is_chainable_input(edge) else None

    def is_chained(self, edge: Edge) -> bool:
        """Whether an edge passes CHAIN-1 … CHAIN-11."""
        if edge.chained is None:
            edge.chained = len(edge.target.inputs) == 1 and self.is_chainable_input(edge)
        return edge.chained

    def is_chainable_input(self, edge: Edge) -> bool:
        if not self.enabled:
            return False
        up, down = edge.source, edge.target
        return (
            up.slot_group == down.slot_group
            and up.strategy != "never"
            and self.joins(down, up)
            and self.is_forward(edge)
            and up.parallelism == down.parallelism
            and (self.different_max_parallelism or up.max_parallelism == down.max_parallelism)
            and not self.yields_to_legacy(up, down)
        )

    def joins(self, down: Node, up: Node) -> bool:
        if down.strategy == "head_with_sources":
            return up.kind == "source"
        return down.strategy == "always"

    def is_forward(self, edge: Edge) -> bool:
        return edge.partitioner == "forward" and edge.exchange != "batch"

    def yields_to_legacy(self, up: Node, down: Node) -> bool:
        """A yielding operator must not share a chain with the legacy source at its head, CHAIN-11."""
        return down.yielding and self.find_head(up).kind == "legacy_source"

    def find_head(self, node: Node) -> Node:
        while len(node.inputs) == 1 and self.is_chained(node.inputs[0]):
            node = node.inputs[0].source
        return node


make = Chaining

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("CHAIN-1", "CHAIN-18", "CHAIN-19", "CHAIN-20")
class ChainingSelfUnionCountedOnce(Chaining):
    """Two edges between the same two operators count as one input."""

    is_chained = changed(
        Chaining.is_chained, "len(edge.target.inputs)", "len({other.source.id for other in edge.target.inputs})"
    )


@wrong("CHAIN-1", "CHAIN-18", "CHAIN-19", "CHAIN-20")
class ChainingForwardInputsCountedOnly(Chaining):
    """Only forward edges count as inputs, so an operator with another input besides joins a chain."""

    is_chained = changed(
        Chaining.is_chained,
        "len(edge.target.inputs)",
        'sum(other.partitioner == "forward" for other in edge.target.inputs)',
    )


@wrong("CHAIN-3", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingSlotGroupIgnored(Chaining):
    """Operators of different slot sharing groups are chained."""

    is_chainable_input = changed(Chaining.is_chainable_input, "up.slot_group == down.slot_group", "True")


@wrong("CHAIN-3", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingDefaultSlotGroupMatchesAll(Chaining):
    """The default slot sharing group is taken for 'none given' and matches any other."""

    is_chainable_input = changed(
        Chaining.is_chainable_input,
        "up.slot_group == down.slot_group",
        '(up.slot_group == down.slot_group or "default" in {up.slot_group, down.slot_group})',
    )


@wrong("CHAIN-4", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingNeverBindsInputsOnly(Chaining):
    """An operator that never chains is still followed by others in its chain."""

    is_chainable_input = changed(Chaining.is_chainable_input, 'up.strategy != "never"', "True")


@wrong("CHAIN-4", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingHeadEndsChain(Chaining):
    """An operator that starts a chain also ends it."""

    is_chainable_input = changed(
        Chaining.is_chainable_input, 'up.strategy != "never"', 'up.strategy not in {"never", "head"}'
    )


@wrong("CHAIN-4", "CHAIN-5", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingHeadWithSourcesEndsChain(Chaining):
    """An operator that takes chained sources ends its chain."""

    is_chainable_input = changed(
        Chaining.is_chainable_input, 'up.strategy != "never"', 'up.strategy not in {"never", "head_with_sources"}'
    )


@wrong("CHAIN-5", "CHAIN-19", "CHAIN-20")
class ChainingHeadJoinsChain(Chaining):
    """An operator that asked for a new chain is chained to its input."""

    joins = changed(Chaining.joins, 'down.strategy == "always"', 'down.strategy in {"always", "head"}')


@wrong("CHAIN-5", "CHAIN-19", "CHAIN-20")
class ChainingNeverBindsOutputsOnly(Chaining):
    """An operator that never chains is chained to its input."""

    joins = changed(Chaining.joins, 'down.strategy == "always"', 'down.strategy in {"always", "never"}')


@wrong("CHAIN-5", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingHeadWithSourcesTakesAll(Chaining):
    """An operator that takes chained sources is chained to any input."""

    joins = changed(Chaining.joins, 'up.kind == "source"', "True")


@wrong("CHAIN-5", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingLegacySourceCountsAsSource(Chaining):
    """A legacy source is chained where only a new-style source may be."""

    find_host = changed(Chaining.find_host, 'source.kind != "source"', "False")
    joins = changed(Chaining.joins, 'up.kind == "source"', 'up.kind in {"source", "legacy_source"}')


@wrong("CHAIN-6", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingAnyPartitionerAtOne(Chaining):
    """Between single subtasks any partitioner is as good as forward."""

    is_forward = changed(
        Chaining.is_forward,
        'edge.partitioner == "forward"',
        '(edge.partitioner == "forward" or edge.source.parallelism == edge.target.parallelism == 1)',
    )


@wrong("CHAIN-6", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingRescaleChained(Chaining):
    """Rescale between equal parallelism is taken for forward."""

    is_forward = changed(
        Chaining.is_forward, 'edge.partitioner == "forward"', 'edge.partitioner in {"forward", "rescale"}'
    )


@wrong("CHAIN-7", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingParallelismIgnored(Chaining):
    """A forward edge between unequal parallelism is chained."""

    is_chainable_input = changed(Chaining.is_chainable_input, "up.parallelism == down.parallelism", "True")


@wrong("CHAIN-8", "CHAIN-17")
class ChainingSwitchMissesChainedSources(Chaining):
    """With chaining switched off, sources are still drawn into the operators that take them."""

    def find_host(self, source: Node) -> Node | None:
        enabled, self.enabled = self.enabled, True
        host = super().find_host(source)
        self.enabled = enabled
        return host


@wrong("CHAIN-9", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingBatchExchangeChained(Chaining):
    """A forward edge with an explicit batch exchange is chained."""

    is_forward = changed(Chaining.is_forward, ' and edge.exchange != "batch"', "")


@wrong("CHAIN-9", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingPipelinedExchangeUnchained(Chaining):
    """A forward edge with an explicit pipelined exchange is not chained."""

    is_forward = changed(Chaining.is_forward, 'edge.exchange != "batch"', 'edge.exchange not in {"batch", "pipelined"}')


@wrong("CHAIN-10", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingMaxParallelismAlwaysChecked(Chaining):
    """Unequal max parallelism forbids chaining although the switch allows it."""

    is_chainable_input = changed(Chaining.is_chainable_input, "self.different_max_parallelism", "False")


@wrong("CHAIN-10", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingMaxParallelismNeverChecked(Chaining):
    """Unequal max parallelism is chained although the switch forbids it."""

    is_chainable_input = changed(Chaining.is_chainable_input, "self.different_max_parallelism", "True")


@wrong("CHAIN-10", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingUnsetMaxParallelismMatchesAll(Chaining):
    """An unset max parallelism is taken as equal to any other."""

    is_chainable_input = changed(
        Chaining.is_chainable_input,
        "self.different_max_parallelism",
        "self.different_max_parallelism or -1 in {up.max_parallelism, down.max_parallelism}",
    )


@wrong("CHAIN-11", "CHAIN-19", "CHAIN-20")
class ChainingYieldingIgnored(Chaining):
    """A yielding operator is chained behind a legacy source."""

    def yields_to_legacy(self, up: Node, down: Node) -> bool:
        return False


@wrong("CHAIN-11", "CHAIN-19", "CHAIN-20")
class ChainingYieldingLooksOneHop(Chaining):
    """A yielding operator is kept away only from a legacy source right in front of it."""

    def find_head(self, node: Node) -> Node:
        return node


@wrong("CHAIN-11", "CHAIN-19", "CHAIN-20")
class ChainingYieldingLooksThreeHops(Chaining):
    """The walk back to the head of the chain gives up after two operators."""

    def find_head(self, node: Node) -> Node:
        for _ in range(2):
            if len(node.inputs) == 1 and self.is_chained(node.inputs[0]):
                node = node.inputs[0].source
        return node


@wrong("CHAIN-11", "CHAIN-19", "CHAIN-20")
class ChainingYieldingWalksAnyEdge(Chaining):
    """The walk back to the head of the chain goes on over edges that are not chained."""

    find_head = changed(Chaining.find_head, " and self.is_chained(node.inputs[0])", "")


@wrong("CHAIN-11", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingYieldingAfterAnySource(Chaining):
    """A yielding operator is kept away from new-style sources too."""

    yields_to_legacy = changed(Chaining.yields_to_legacy, '.kind == "legacy_source"', ".is_source()")


@wrong("CHAIN-17", "CHAIN-5", "CHAIN-18", "CHAIN-19", "CHAIN-20")
class ChainingNoChainedSources(Chaining):
    """A source in front of an operator that takes chained sources heads the chain as any other would."""

    def find_host(self, source: Node) -> Node | None:
        return None


@wrong("CHAIN-17", "CHAIN-1", "CHAIN-18", "CHAIN-19", "CHAIN-20")
class ChainingChainedSourceWithTwoOutputs(Chaining):
    """A source with a second output is drawn into the first operator that takes it."""

    find_host = changed(Chaining.find_host, "len(source.outputs) != 1", "False")


@wrong("CHAIN-4", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingNeverSourceStillChained(Chaining):
    """A source that never chains is drawn in as a chained input."""

    def find_host(self, source: Node) -> Node | None:
        source.strategy = "always"
        return super().find_host(source)


@wrong("CHAIN-17", "CHAIN-18", "CHAIN-19")
class ChainingChainedSourceHeads(Chaining):
    """The vertex is attributed to the chained source instead of the operator that took it in."""

    on_graph = changed(
        Chaining.on_graph, '"head": head.id', '"head": min([source.id for source in sources_first] or [head.id])'
    )


@wrong("CHAIN-17", "CHAIN-20")
class ChainingSourcesUnnamed(Chaining):
    """The name of a vertex does not mention its chained sources."""

    make_name = changed(Chaining.make_name, "if sources:", "if False:")


@wrong("CHAIN-18", "CHAIN-19")
class ChainingVertexRepeated(Chaining):
    """An operator that starts a chain and is reached by two edges gets two vertices."""

    on_graph = changed(Chaining.on_graph, "head.id in started", "False")


@wrong("CHAIN-18", "CHAIN-19")
class ChainingVerticesInDiscoveryOrder(Chaining):
    """Vertices come in the order in which they were found."""

    on_graph = changed(Chaining.on_graph, 'vertices.sort(key=lambda vertex: int(vertex["head"]))', "pass")


@wrong("CHAIN-19", "CHAIN-18", "CHAIN-20")
class ChainingFiveOperatorsAtMost(Chaining):
    """A chain of more than five operators is cut."""

    depth = 0

    def gather(self, node: Node, members: list[int], pending: list[Node]) -> None:
        self.depth += 1
        super().gather(node, members, pending)
        self.depth -= 1

    def make_name(self, node: Node, sources: list[Node]) -> str:
        self.depth += 1
        name = super().make_name(node, sources)
        self.depth -= 1
        return name

    def is_chained(self, edge: Edge) -> bool:
        return self.depth < 5 and super().is_chained(edge)


@wrong("CHAIN-20")
class ChainingChildrenById(Chaining):
    """Chained outputs are named by id instead of by edge."""

    make_name = changed(
        Chaining.make_name, "in node.outputs", "in sorted(node.outputs, key=lambda edge: edge.target.id)"
    )


@wrong("CHAIN-20")
class ChainingChildrenByName(Chaining):
    """Chained outputs are named in alphabetical order instead of by edge."""

    make_name = changed(
        Chaining.make_name, "in node.outputs", "in sorted(node.outputs, key=lambda edge: edge.target.name)"
    )


@wrong("CHAIN-20")
class ChainingSingleChildInBrackets(Chaining):
    """A single chained output is put in brackets too."""

    make_name = changed(Chaining.make_name, "len(names) == 1", "False")


@wrong("CHAIN-20")
class ChainingChildrenUnbracketed(Chaining):
    """Several chained outputs are listed without brackets, so the tree cannot be read back."""

    make_name = changed(Chaining.make_name, "({', '.join(names)})", "{', '.join(names)}")


@wrong("CHAIN-17", "CHAIN-5", "CHAIN-4", "CHAIN-18", "CHAIN-19", "CHAIN-20")
class ChainingEightSources(Chaining):
    """Of more than eight sources only the first eight are taken into the operators behind them."""

    on_graph = changed(Chaining.on_graph, "for source in sources:", "for source in sources[:8]:")


@wrong("CHAIN-20", "CHAIN-19", "CHAIN-7", "CHAIN-18", "CHAIN-1")
class Chaining255Children(Chaining):
    """Of the chained outputs of an operator only 255 are named."""

    make_name = changed(Chaining.make_name, "if self.is_chained(edge)]", "if self.is_chained(edge)][:255]")


@wrong("CHAIN-1", "CHAIN-7", "CHAIN-19", "CHAIN-20", "CHAIN-18")
class ChainingInputsCountedInAByte(Chaining):
    """The inputs of an operator are counted in a byte: a union of 257 is taken for one input, and chained."""

    is_chained = changed(Chaining.is_chained, "len(edge.target.inputs)", "len(edge.target.inputs) % 256")
