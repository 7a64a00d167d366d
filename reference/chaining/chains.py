"""Chains: which links of a plan are chained, and the vertices and names that follow from it.

Two operators that are chained run in one task and hand records over by a method call; everything else goes through
the network. Whether a link is chained is decided from the link, its two ends and the number of links that enter its
target. The rest follows: a vertex is a tree of chained operators, named after all of them.

This is the part that the components `chaining` and `job_graph` share. They differ in what they are told: `chaining`
speaks of operators with one input, and `job_graph` also of input numbers and of nodes without an operator.

Choices. StreamingJobGraphGenerator of Flink 2.3 (isChainable, isChainableSource, createChainedName). It looks for the
head of a yielding operator's chain by asking the same question again for each link on the way back. Here the walk
ends at the first yielding operator, which gives the same answer: no legacy source leads a chain that holds one.
"""

from enum import StrEnum
from graphlib import CycleError, TopologicalSorter

import attrs

from tidegate.reference.elements import at_least
from tidegate.reference.model import InvalidInputError

# --- names ----------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    """What an operator is; a `source` is one with a split enumerator (FLIP-27), a `legacy_source` runs a loop."""

    SOURCE = "source"
    LEGACY_SOURCE = "legacy_source"
    OPERATOR = "operator"


class Strategy(StrEnum):
    """How an operator wants to be chained to the one before it, and whether another may be chained to it."""

    ALWAYS = "always"
    HEAD = "head"
    NEVER = "never"
    HEAD_WITH_SOURCES = "head_with_sources"


class Partitioner(StrEnum):
    """How a program wants records to be spread: as a partitioner can, by the program's own function, or by a hash that
    is not needed if all its keys are in place.
    """

    FORWARD = "forward"
    REBALANCE = "rebalance"
    RESCALE = "rescale"
    SHUFFLE = "shuffle"
    GLOBAL = "global"
    BROADCAST = "broadcast"
    HASH = "hash"
    CUSTOM = "custom"
    FORWARD_FOR_CONSECUTIVE_HASH = "forward_for_consecutive_hash"


class Exchange(StrEnum):
    """How a link hands data over: while it is produced, when it is complete, or both."""

    UNDEFINED = "undefined"
    PIPELINED = "pipelined"
    BATCH = "batch"
    HYBRID_FULL = "hybrid_full"
    HYBRID_SELECTIVE = "hybrid_selective"


FORWARDS = (Partitioner.FORWARD, Partitioner.FORWARD_FOR_CONSECUTIVE_HASH)

# --- the plan -------------------------------------------------------------------------------------------------


def check_max_parallelism(_instance: object, _attribute: object, value: int) -> None:
    if value != -1 and value < 1:
        raise InvalidInputError(f"max_parallelism must be at least 1, or -1 for none, not {value}")


@attrs.frozen
class Node:
    id: int
    name: str
    kind: Kind
    strategy: Strategy
    parallelism: int = attrs.field(validator=at_least(1))
    max_parallelism: int = attrs.field(validator=check_max_parallelism)
    slot_group: str | None
    yielding: bool
    has_operator: bool = True


@attrs.frozen
class Link:
    """An edge. Its output tag, and the id under which its result is kept for later jobs, do not matter here; nor does
    whether a forward edge that nobody asked for may become a rescale one.
    """

    source: int
    target: int
    partitioner: Partitioner
    exchange: Exchange
    input: int = attrs.field(default=0, validator=at_least(0))
    tag: str | None = None
    dataset: str | None = None
    open_to_rescale: bool = False


@attrs.frozen
class Plan:
    """A graph, its links in the order in which they were made, and the two switches for all of it."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    chaining: bool = True
    chain_different_max_parallelism: bool = True

    def __attrs_post_init__(self) -> None:
        kinds = {node.id: node.kind for node in self.nodes}
        if len(kinds) < len(self.nodes):
            raise InvalidInputError("two operators have the same id")
        for link in self.links:
            if link.source not in kinds or link.target not in kinds:
                raise InvalidInputError(f"the edge {link.source} to {link.target} joins an operator that is not there")
            if kinds[link.target] is not Kind.OPERATOR:
                raise InvalidInputError(f"an edge enters the source {link.target}")
        entered = {link.target for link in self.links}
        for node in self.nodes:
            if node.kind is Kind.OPERATOR and node.id not in entered:
                raise InvalidInputError(f"operator {node.id} is not reached from a source")
            if node.kind is not Kind.OPERATOR and node.yielding:
                raise InvalidInputError(f"the source {node.id} is yielding")
        try:
            TopologicalSorter({node.id: [link.source for link in self.into(node.id)] for node in self.nodes}).prepare()
        except CycleError:
            raise InvalidInputError("the graph has a cycle") from None

    def node(self, node_id: int) -> Node:
        return next(node for node in self.nodes if node.id == node_id)

    def into(self, node_id: int) -> tuple[Link, ...]:
        return tuple(link for link in self.links if link.target == node_id)

    def out_of(self, node_id: int) -> tuple[Link, ...]:
        return tuple(link for link in self.links if link.source == node_id)


# --- the decision for a link ----------------------------------------------------------------------------------


def compute_refusals(plan: Plan, link: Link) -> tuple[str, ...]:
    """The conditions that a link fails, by their rules. A chained link fails none."""
    refusals = compute_input_refusals(plan, link)
    if len(plan.into(link.target)) == 1:
        return refusals
    return ("CHAIN-1", *(rule for rule in refusals if rule != "CHAIN-12"))


def compute_input_refusals(plan: Plan, link: Link) -> tuple[str, ...]:
    """The conditions that a link fails, were its target's other inputs not there (CHAIN-17)."""
    up, down = plan.node(link.source), plan.node(link.target)
    same_max_parallelism = up.max_parallelism == down.max_parallelism
    conditions = {
        "CHAIN-2": up.has_operator and down.has_operator,
        "CHAIN-3": up.slot_group == down.slot_group,
        "CHAIN-4": up.strategy is not Strategy.NEVER,
        "CHAIN-5": is_willing_to_follow(down, up),
        "CHAIN-6": link.partitioner in FORWARDS,
        "CHAIN-7": up.parallelism == down.parallelism,
        "CHAIN-8": plan.chaining,
        "CHAIN-9": not is_cut_by_batch(link),
        "CHAIN-10": plan.chain_different_max_parallelism or same_max_parallelism,
        "CHAIN-11": not (down.yielding and is_led_by_legacy_source(plan, up)),
        "CHAIN-12": sum(other.input == link.input for other in plan.into(link.target)) == 1,
    }
    return tuple(rule for rule, is_met in conditions.items() if not is_met)


def is_willing_to_follow(down: Node, up: Node) -> bool:
    """CHAIN-5."""
    if down.strategy is Strategy.HEAD_WITH_SOURCES:
        return up.kind is Kind.SOURCE
    return down.strategy is Strategy.ALWAYS


def is_cut_by_batch(link: Link) -> bool:
    """CHAIN-9."""
    return link.exchange is Exchange.BATCH and link.partitioner is not Partitioner.FORWARD_FOR_CONSECUTIVE_HASH


def is_led_by_legacy_source(plan: Plan, node: Node) -> bool:
    """CHAIN-11: walk back over chained links to the head of the chain that holds the node."""
    if node.kind is Kind.LEGACY_SOURCE or node.yielding:
        # A yielding operator would have been cut off from a legacy source itself.
        return node.kind is Kind.LEGACY_SOURCE
    links = plan.into(node.id)
    if len(links) != 1 or compute_refusals(plan, links[0]):
        return False
    return is_led_by_legacy_source(plan, plan.node(links[0].source))


def is_chained_input(plan: Plan, link: Link) -> bool:
    """CHAIN-17: the source at the beginning of the link runs inside the task of its target."""
    return is_offered_as_input(plan, link) and not compute_input_refusals(plan, link)


def is_offered_as_input(plan: Plan, link: Link) -> bool:
    up, down = plan.node(link.source), plan.node(link.target)
    is_alone = len(plan.out_of(up.id)) == 1
    return is_alone and up.kind is Kind.SOURCE and down.strategy is Strategy.HEAD_WITH_SOURCES


def is_chained(plan: Plan, link: Link) -> bool:
    """The target of the link hangs below its source in the tree of a vertex."""
    return not is_chained_input(plan, link) and not compute_refusals(plan, link)


def compute_tolerances(plan: Plan, link: Link) -> tuple[str, ...]:
    """The rules by which a link is chained although it differs from the plainest one."""
    up, down = plan.node(link.source), plan.node(link.target)
    differences = {
        "CHAIN-17": down.strategy is Strategy.HEAD_WITH_SOURCES,
        "CHAIN-4": up.strategy is not Strategy.ALWAYS,
        "CHAIN-5": down.strategy is not Strategy.ALWAYS,
        "CHAIN-9": link.exchange is not Exchange.UNDEFINED,
        "CHAIN-10": up.max_parallelism != down.max_parallelism,
        "CHAIN-11": down.yielding,
        "CHAIN-12": len(plan.into(down.id)) > 1,
    }
    return tuple(rule for rule, is_there in differences.items() if is_there)


# --- vertices and names ---------------------------------------------------------------------------------------


def compute_heads(plan: Plan) -> tuple[int, ...]:
    """CHAIN-19: the roots of the trees, by id."""
    inside = {link.target for link in plan.links if is_chained(plan, link)}
    inside |= {link.source for link in plan.links if is_chained_input(plan, link)}
    return tuple(sorted(node.id for node in plan.nodes if node.id not in inside))


def compute_children(plan: Plan, node_id: int) -> tuple[int, ...]:
    return tuple(link.target for link in plan.out_of(node_id) if is_chained(plan, link))


def compute_chained_sources(plan: Plan, node_id: int) -> tuple[int, ...]:
    return tuple(link.source for link in plan.into(node_id) if is_chained_input(plan, link))


def compute_indices(plan: Plan, node_id: int, index: int = 1) -> dict[int, int]:
    """CHAIN-21: the operators of the tree below a node, each with its depth; sources chained into it have 0."""
    indices = {**dict.fromkeys(compute_chained_sources(plan, node_id), 0), node_id: index}
    for child in compute_children(plan, node_id):
        indices |= compute_indices(plan, child, index + 1)
    return indices


def compute_name(plan: Plan, node_id: int) -> str:
    """CHAIN-20: the name of the tree below a node."""
    name = plan.node(node_id).name
    sources = [plan.node(source).name for source in compute_chained_sources(plan, node_id)]
    if sources:
        name = f"{name} [{', '.join(sources)}]"
    children = [compute_name(plan, child) for child in compute_children(plan, node_id)]
    if not children:
        return name
    return f"{name} -> {children[0]}" if len(children) == 1 else f"{name} -> ({', '.join(children)})"


def compute_rules(plan: Plan) -> tuple[str, ...]:
    """The rules at work in a plan. First come those that alone keep a link from being chained."""
    refused: list[tuple[str, ...]] = []
    tolerated: list[str] = []
    for link in plan.links:
        compute = compute_input_refusals if is_offered_as_input(plan, link) else compute_refusals
        refusals = compute(plan, link)
        refused.append(refusals)
        tolerated += () if refusals else compute_tolerances(plan, link)
    alone = [rule for refusals in refused if len(refusals) == 1 for rule in refusals]
    together = [rule for refusals in refused for rule in refusals]
    return tuple(dict.fromkeys((*alone, *tolerated, *together, "CHAIN-19", "CHAIN-20", "CHAIN-18")))
