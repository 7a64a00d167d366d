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
        for node in nodes:
            for edge in node.outputs:
                self.is_chained(edge)
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
            self.gather(head, members, pending, depth=1)
            sources_first = [edge.source for edge in head.inputs if chained.get(edge.source.id) is head]
            name = self.make_name(head, sources_first)
            vertex_head = head.id
            vertices.append({"type": "vertex", "head": vertex_head, "operators": sorted(members), "name": name})
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
        return False

    def make_name(self, node: Node, sources: list[Node], depth: int = 1) -> str:
        children = [edge.target for edge in node.outputs if self.is_chained(edge)]
        if self.is_too_deep(depth):
            children = []
        name = node.name
        if sources:
            name = f"{name} [{', '.join(source.name for source in sources)}]"
        names = [self.make_name(child, [], depth + 1) for child in children]
        if not names:
            return name
        if len(names) == 1:
            return f"{name} -> {names[0]}"
        return f"{name} -> ({', '.join(names)})"

    def find_host(self, source: Node) -> Node | None:
        """The operator that takes a source in as a chained input, CHAIN-17."""
        if not source.outputs:
            return None
        if source.kind != "source":
            return None
        if len(source.outputs) != 1:
            return None
        edge = source.outputs[0]
        if edge.target.strategy != "head_with_sources":
            return None
        if len(edge.target.inputs) != 1:
            return None
        return edge.target if self.is_chainable_input(edge, to_host=True) else None

    def is_chained(self, edge: Edge) -> bool:
        """Whether an edge passes CHAIN-1 … CHAIN-11."""
        if edge.chained is None:
            edge.chained = self.count_inputs(edge.target) == 1 and self.is_chainable_input(edge)
        return edge.chained

    def count_inputs(self, node: Node) -> int:
        return len(node.inputs)

    def is_chainable_input(self, edge: Edge, *, to_host: bool = False) -> bool:
        if not self.enabled:
            return False
        up, down = (edge.source, edge.target)
        return (
            self.share_slot(up, down)
            and self.allows_downstream(up, to_host=to_host)
            and self.allows_upstream(down, up)
            and self.is_forward(edge)
            and (up.parallelism == down.parallelism)
            and self.agree_on_max_parallelism(up, down)
            and (not self.yields_to_legacy(up, down))
        )

    def share_slot(self, up: Node, down: Node) -> bool:
        return up.slot_group == down.slot_group

    def allows_downstream(self, up: Node, *, to_host: bool) -> bool:
        if up.strategy == "never":
            return False
        if up.strategy == "head_with_sources":
            return True
        return True

    def allows_upstream(self, down: Node, up: Node) -> bool:
        if down.strategy == "always":
            return True
        if down.strategy == "head":
            return False
        if down.strategy == "never":
            return False
        return up.kind == "source"

    def is_forward(self, edge: Edge) -> bool:
        if edge.exchange == "batch":
            return False
        return edge.partitioner == "forward"

    def agree_on_max_parallelism(self, up: Node, down: Node) -> bool:
        checked = not self.different_max_parallelism
        return not checked or up.max_parallelism == down.max_parallelism

    def yields_to_legacy(self, up: Node, down: Node) -> bool:
        """A yielding operator must not share a chain with the legacy source at its head, CHAIN-11."""
        if not down.yielding:
            return False
        head = self.find_head(up)
        return head.kind == "legacy_source"

    def find_head(self, node: Node) -> Node:
        hops = 0
        while len(node.inputs) == 1 and self.is_chained(node.inputs[0]):
            node = node.inputs[0].source
            hops += 1
        return node


make = Chaining

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("CHAIN-1", "CHAIN-18", "CHAIN-19", "CHAIN-20")
class ChainingSelfUnionCountedOnce(Chaining):
    """Two edges between the same two operators count as one input."""

    def count_inputs(self, node: Node) -> int:
        return len({edge.source.id for edge in node.inputs})


@wrong("CHAIN-1", "CHAIN-18", "CHAIN-19", "CHAIN-20")
class ChainingForwardInputsCountedOnly(Chaining):
    """Only forward edges count as inputs, so an operator with another input besides joins a chain."""

    def count_inputs(self, node: Node) -> int:
        return sum(edge.partitioner == "forward" for edge in node.inputs)


@wrong("CHAIN-3", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingSlotGroupIgnored(Chaining):
    """Operators of different slot sharing groups are chained."""

    def share_slot(self, up: Node, down: Node) -> bool:
        return True


@wrong("CHAIN-3", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingDefaultSlotGroupMatchesAll(Chaining):
    """The default slot sharing group is taken for 'none given' and matches any other."""

    share_slot = changed(
        Chaining.share_slot,
        "return up.slot_group == down.slot_group",
        'if "default" in {up.slot_group, down.slot_group}:\n    return True\nreturn up.slot_group == down.slot_group',
    )


@wrong("CHAIN-4", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingNeverBindsInputsOnly(Chaining):
    """An operator that never chains is still followed by others in its chain."""

    allows_downstream = changed(Chaining.allows_downstream, "return False", "return True")


@wrong("CHAIN-4", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingHeadEndsChain(Chaining):
    """An operator that starts a chain also ends it."""

    def allows_downstream(self, up: Node, *, to_host: bool) -> bool:
        if up.strategy == "never":
            return False
        if up.strategy == "head_with_sources":
            return True
        return up.strategy != "head"


@wrong("CHAIN-4", "CHAIN-5", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingHeadWithSourcesEndsChain(Chaining):
    """An operator that takes chained sources ends its chain."""

    def allows_downstream(self, up: Node, *, to_host: bool) -> bool:
        if up.strategy == "never":
            return False
        return up.strategy != "head_with_sources"


@wrong("CHAIN-5", "CHAIN-19", "CHAIN-20")
class ChainingHeadJoinsChain(Chaining):
    """An operator that asked for a new chain is chained to its input."""

    def allows_upstream(self, down: Node, up: Node) -> bool:
        if down.strategy == "always":
            return True
        if down.strategy == "head":
            return True
        if down.strategy == "never":
            return False
        return up.kind == "source"


@wrong("CHAIN-5", "CHAIN-19", "CHAIN-20")
class ChainingNeverBindsOutputsOnly(Chaining):
    """An operator that never chains is chained to its input."""

    def allows_upstream(self, down: Node, up: Node) -> bool:
        if down.strategy == "always":
            return True
        if down.strategy == "head":
            return False
        if down.strategy == "never":
            return True
        return up.kind == "source"


@wrong("CHAIN-5", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingHeadWithSourcesTakesAll(Chaining):
    """An operator that takes chained sources is chained to any input."""

    allows_upstream = changed(Chaining.allows_upstream, 'up.kind == "source"', "True")


@wrong("CHAIN-5", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingLegacySourceCountsAsSource(Chaining):
    """A legacy source is chained where only a new-style source may be."""

    find_host = changed(Chaining.find_host, 'source.kind != "source"', "False")
    allows_upstream = changed(
        Chaining.allows_upstream, 'up.kind == "source"', 'up.kind == "source" or up.kind == "legacy_source"'
    )


@wrong("CHAIN-6", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingAnyPartitionerAtOne(Chaining):
    """Between single subtasks any partitioner is as good as forward."""

    is_forward = changed(
        Chaining.is_forward,
        'edge.partitioner == "forward"',
        'edge.partitioner == "forward" or edge.source.parallelism == edge.target.parallelism == 1',
    )


@wrong("CHAIN-6", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingRescaleChained(Chaining):
    """Rescale between equal parallelism is taken for forward."""

    is_forward = changed(
        Chaining.is_forward,
        'return edge.partitioner == "forward"',
        'if edge.partitioner == "rescale":\n    return True\nreturn edge.partitioner == "forward"',
    )


@wrong("CHAIN-7", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingParallelismIgnored(Chaining):
    """A forward edge between unequal parallelism is chained."""

    is_chainable_input = changed(
        Chaining.is_chainable_input,
        "self.share_slot(up, down)\n"
        "            and self.allows_downstream(up, to_host=to_host)\n"
        "            and self.allows_upstream(down, up)\n"
        "            and self.is_forward(edge)\n"
        "            and (up.parallelism == down.parallelism)\n"
        "            and self.agree_on_max_parallelism(up, down)\n"
        "            and (not self.yields_to_legacy(up, down))",
        "self.share_slot(up, down) and self.allows_downstream(up, to_host=to_host) and self.allows_upstream(down, up) and self.is_forward(edge) and self.agree_on_max_parallelism(up, down) and (not self.yields_to_legacy(up, down))",
    )


@wrong("CHAIN-8", "CHAIN-17")
class ChainingSwitchMissesChainedSources(Chaining):
    """With chaining switched off, sources are still drawn into the operators that take them."""

    is_chainable_input = changed(Chaining.is_chainable_input, "not self.enabled", "not self.enabled and (not to_host)")


@wrong("CHAIN-9", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingBatchExchangeChained(Chaining):
    """A forward edge with an explicit batch exchange is chained."""

    def is_forward(self, edge: Edge) -> bool:
        return edge.partitioner == "forward"


@wrong("CHAIN-9", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingPipelinedExchangeUnchained(Chaining):
    """A forward edge with an explicit pipelined exchange is not chained."""

    is_forward = changed(
        Chaining.is_forward,
        'return edge.partitioner == "forward"',
        'if edge.exchange == "pipelined":\n    return False\nreturn edge.partitioner == "forward"',
    )


@wrong("CHAIN-10", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingMaxParallelismAlwaysChecked(Chaining):
    """Unequal max parallelism forbids chaining although the switch allows it."""

    agree_on_max_parallelism = changed(Chaining.agree_on_max_parallelism, "not self.different_max_parallelism", "True")


@wrong("CHAIN-10", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingMaxParallelismNeverChecked(Chaining):
    """Unequal max parallelism is chained although the switch forbids it."""

    agree_on_max_parallelism = changed(Chaining.agree_on_max_parallelism, "not self.different_max_parallelism", "False")


@wrong("CHAIN-10", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingUnsetMaxParallelismMatchesAll(Chaining):
    """An unset max parallelism is taken as equal to any other."""

    agree_on_max_parallelism = changed(
        Chaining.agree_on_max_parallelism,
        "return not checked or up.max_parallelism == down.max_parallelism",
        "if -1 in {up.max_parallelism, down.max_parallelism}:\n"
        "    return True\n"
        "return not checked or up.max_parallelism == down.max_parallelism",
    )


@wrong("CHAIN-11", "CHAIN-19", "CHAIN-20")
class ChainingYieldingIgnored(Chaining):
    """A yielding operator is chained behind a legacy source."""

    def yields_to_legacy(self, up: Node, down: Node) -> bool:
        """A yielding operator must not share a chain with the legacy source at its head, CHAIN-11."""
        return False


@wrong("CHAIN-11", "CHAIN-19", "CHAIN-20")
class ChainingYieldingLooksOneHop(Chaining):
    """A yielding operator is kept away only from a legacy source right in front of it."""

    find_head = changed(Chaining.find_head, "node = node.inputs[0].source\n            hops += 1", "break")


@wrong("CHAIN-11", "CHAIN-19", "CHAIN-20")
class ChainingYieldingLooksThreeHops(Chaining):
    """The walk back to the head of the chain gives up after two operators."""

    find_head = changed(
        Chaining.find_head, "node = node.inputs[0].source", "if hops == 2:\n    break\nnode = node.inputs[0].source"
    )


@wrong("CHAIN-11", "CHAIN-19", "CHAIN-20")
class ChainingYieldingWalksAnyEdge(Chaining):
    """The walk back to the head of the chain goes on over edges that are not chained."""

    find_head = changed(
        Chaining.find_head, "len(node.inputs) == 1 and self.is_chained(node.inputs[0])", "len(node.inputs) == 1"
    )


@wrong("CHAIN-11", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingYieldingAfterAnySource(Chaining):
    """A yielding operator is kept away from new-style sources too."""

    yields_to_legacy = changed(Chaining.yields_to_legacy, 'head.kind == "legacy_source"', "head.is_source()")


@wrong("CHAIN-17", "CHAIN-5", "CHAIN-18", "CHAIN-19", "CHAIN-20")
class ChainingNoChainedSources(Chaining):
    """A source in front of an operator that takes chained sources heads the chain as any other would."""

    def find_host(self, source: Node) -> Node | None:
        """The operator that takes a source in as a chained input, CHAIN-17."""
        return None


@wrong("CHAIN-17", "CHAIN-1", "CHAIN-18", "CHAIN-19", "CHAIN-20")
class ChainingChainedSourceWithTwoOutputs(Chaining):
    """A source with a second output is drawn into the first operator that takes it."""

    find_host = changed(Chaining.find_host, "len(source.outputs) != 1", "False")


@wrong("CHAIN-4", "CHAIN-17", "CHAIN-19", "CHAIN-20")
class ChainingNeverSourceStillChained(Chaining):
    """A source that never chains is drawn in as a chained input."""

    allows_downstream = changed(Chaining.allows_downstream, "return False", "return to_host")


@wrong("CHAIN-17", "CHAIN-18", "CHAIN-19")
class ChainingChainedSourceHeads(Chaining):
    """The vertex is attributed to the chained source instead of the operator that took it in."""

    on_graph = changed(
        Chaining.on_graph,
        'vertices.append({"type": "vertex", "head": vertex_head, "operators": sorted(members), "name": name})',
        "if sources_first:\n"
        "    vertex_head = min((source.id for source in sources_first))\n"
        'vertices.append({"type": "vertex", "head": vertex_head, "operators": sorted(members), "name": name})',
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

    def is_too_deep(self, depth: int) -> bool:
        return depth >= 5


@wrong("CHAIN-20")
class ChainingChildrenById(Chaining):
    """Chained outputs are named by id instead of by edge."""

    make_name = changed(
        Chaining.make_name, "name = node.name", "children.sort(key=lambda child: child.id)\nname = node.name"
    )


@wrong("CHAIN-20")
class ChainingChildrenByName(Chaining):
    """Chained outputs are named in alphabetical order instead of by edge."""

    make_name = changed(
        Chaining.make_name, "name = node.name", "children.sort(key=lambda child: child.name)\nname = node.name"
    )


@wrong("CHAIN-20")
class ChainingSingleChildInBrackets(Chaining):
    """A single chained output is put in brackets too."""

    make_name = changed(Chaining.make_name, "len(names) == 1", "False")


@wrong("CHAIN-20")
class ChainingChildrenUnbracketed(Chaining):
    """Several chained outputs are listed without brackets, so the tree cannot be read back."""

    make_name = changed(Chaining.make_name, "f\"{name} -> ({', '.join(names)})\"", "f\"{name} -> {', '.join(names)}\"")


@wrong("CHAIN-17", "CHAIN-5", "CHAIN-4", "CHAIN-18", "CHAIN-19", "CHAIN-20")
class ChainingEightSources(Chaining):
    """Of more than eight sources only the first eight are taken into the operators behind them."""

    def on_graph(self, nodes: list[Node]) -> Observations:
        for node in nodes:
            for edge in node.outputs:
                self.is_chained(edge)
        sources = sorted((node for node in nodes if node.is_source()), key=lambda node: node.id)
        chained: dict[int, Node] = {}
        for source in sources[:8]:
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
            self.gather(head, members, pending, depth=1)
            sources_first = [edge.source for edge in head.inputs if chained.get(edge.source.id) is head]
            name = self.make_name(head, sources_first)
            vertex_head = head.id
            vertices.append({"type": "vertex", "head": vertex_head, "operators": sorted(members), "name": name})
        vertices.sort(key=lambda vertex: int(vertex["head"]))
        return vertices


@wrong("CHAIN-20", "CHAIN-19", "CHAIN-7", "CHAIN-18", "CHAIN-1")
class Chaining255Children(Chaining):
    """Of the chained outputs of an operator only 255 are named."""

    make_name = changed(Chaining.make_name, "name = node.name", "children = children[:255]\nname = node.name")


@wrong("CHAIN-1", "CHAIN-7", "CHAIN-19", "CHAIN-20", "CHAIN-18")
class ChainingInputsCountedInAByte(Chaining):
    """The inputs of an operator are counted in a byte: a union of 257 is taken for one input, and chained."""

    def count_inputs(self, node: Node) -> int:
        return len(node.inputs) % 256
