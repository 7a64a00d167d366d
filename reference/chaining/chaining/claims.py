"""Laws of the chaining decision and of names, over small plans that are enumerated whole.

They start from the plainest link, which is chained, and ask what each way to differ from it does.
"""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import attrs

from tidegate.reference.chaining import chains
from tidegate.reference.chaining.chains import Exchange, Kind, Partitioner, Strategy
from tidegate.reference.claims import law

SOURCE = chains.Node(1, "1", Kind.SOURCE, Strategy.ALWAYS, 2, -1, "default", yielding=False)
FORWARD = chains.Link(1, 2, Partitioner.FORWARD, Exchange.UNDEFINED)


def make_operator(node_id: int, **changes: Any) -> chains.Node:
    return attrs.evolve(SOURCE, id=node_id, name=str(node_id), kind=Kind.OPERATOR, **changes)


def make_line(*nodes: chains.Node) -> chains.Plan:
    """The nodes one behind the other, joined by the plainest links."""
    pairs = pairwise(nodes)
    return chains.Plan(nodes, tuple(attrs.evolve(FORWARD, source=up.id, target=down.id) for up, down in pairs))


# --- conditions -----------------------------------------------------------------------------------------------

#: Each condition with what breaks it alone: changes of the upstream and downstream operator, the link, the plan.
BREAKS: tuple[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]], ...] = (
    ("CHAIN-2", {"has_operator": False}, {}, {}, {}),
    ("CHAIN-2", {}, {"has_operator": False}, {}, {}),
    ("CHAIN-3", {}, {"slot_group": "other"}, {}, {}),
    ("CHAIN-3", {"slot_group": None}, {}, {}, {}),
    ("CHAIN-4", {"strategy": Strategy.NEVER}, {}, {}, {}),
    ("CHAIN-5", {}, {"strategy": Strategy.NEVER}, {}, {}),
    ("CHAIN-5", {}, {"strategy": Strategy.HEAD}, {}, {}),
    ("CHAIN-5", {}, {"strategy": Strategy.HEAD_WITH_SOURCES}, {}, {}),
    *(("CHAIN-6", {}, {}, {"partitioner": kind}, {}) for kind in Partitioner if "forward" not in kind),
    ("CHAIN-7", {}, {"parallelism": 3}, {}, {}),
    ("CHAIN-8", {}, {}, {}, {"chaining": False}),
    ("CHAIN-9", {}, {}, {"exchange": Exchange.BATCH}, {}),
    ("CHAIN-10", {}, {"max_parallelism": 8}, {}, {"chain_different_max_parallelism": False}),
    ("", {"slot_group": None}, {"slot_group": None}, {}, {}),
    ("", {}, {}, {"exchange": Exchange.PIPELINED}, {}),
    ("", {}, {}, {"exchange": Exchange.HYBRID_FULL}, {}),
    ("", {}, {}, {"exchange": Exchange.HYBRID_SELECTIVE}, {}),
    ("", {}, {}, {"exchange": Exchange.BATCH, "partitioner": Partitioner.FORWARD_FOR_CONSECUTIVE_HASH}, {}),
    ("", {}, {"max_parallelism": 8}, {}, {}),
    ("", {"max_parallelism": 8}, {"max_parallelism": 8}, {}, {"chain_different_max_parallelism": False}),
)


@law("CHAIN-3", "CHAIN-4", "CHAIN-5", "CHAIN-6", "CHAIN-7", "CHAIN-8", "CHAIN-9", "CHAIN-10", samples=lambda: BREAKS)
def each_condition_decides_alone(
    rule: str, up: dict[str, Any], down: dict[str, Any], link: dict[str, Any], plan: dict[str, Any]
) -> bool:
    """A link that breaks one condition is refused by the rule of that condition and no other."""
    nodes = (SOURCE, make_operator(2, **up), make_operator(3, **down))
    links = (FORWARD, attrs.evolve(FORWARD, source=2, target=3, **link))
    return chains.compute_refusals(chains.Plan(nodes, links, **plan), links[1]) == ((rule,) if rule else ())


# --- strategies -----------------------------------------------------------------------------------------------

OPEN = frozenset({Strategy.ALWAYS, Strategy.HEAD, Strategy.HEAD_WITH_SOURCES})
#: By the downstream strategy: the strategies that an upstream source, and any other upstream operator, may have.
MATCHES: dict[Strategy, tuple[frozenset[Strategy], frozenset[Strategy]]] = {
    Strategy.ALWAYS: (OPEN, OPEN),
    Strategy.HEAD: (frozenset(), frozenset()),
    Strategy.NEVER: (frozenset(), frozenset()),
    Strategy.HEAD_WITH_SOURCES: (OPEN, frozenset()),
}


@law("CHAIN-4", "CHAIN-5", samples=lambda: product(Kind, Strategy, Strategy))
def strategies_as_by_table(kind: Kind, up: Strategy, down: Strategy) -> bool:
    """Of the strategies of two operators, the table says which go together."""
    plan = make_line(SOURCE, make_operator(2, strategy=up), make_operator(3, strategy=down))
    if kind is not Kind.OPERATOR:
        plan = make_line(attrs.evolve(SOURCE, kind=kind, strategy=up), make_operator(3, strategy=down))
    from_source, from_operator = MATCHES[down]
    accepted = from_source if kind is Kind.SOURCE else from_operator
    return (not chains.compute_refusals(plan, plan.links[-1])) == (up in accepted)


# --- yielding -------------------------------------------------------------------------------------------------


def lines() -> Iterator[tuple[Kind, int, tuple[bool, ...]]]:
    for kind, length in product((Kind.SOURCE, Kind.LEGACY_SOURCE), range(5)):
        for yielding in product((False, True), repeat=length):
            yield kind, length, yielding


@law("CHAIN-11", samples=lines)
def yielding_is_cut_off_once(kind: Kind, length: int, yielding: tuple[bool, ...]) -> bool:
    """A line behind a legacy source is cut before its first yielding operator, however far away, and only there."""
    source = attrs.evolve(SOURCE, kind=kind)
    plan = make_line(source, *(make_operator(2 + place, yielding=yielding[place]) for place in range(length)))
    cuts = [2 + place for place in range(length) if yielding[place]][:1] if kind is Kind.LEGACY_SOURCE else []
    return chains.compute_heads(plan) == (1, *cuts)


# --- names ----------------------------------------------------------------------------------------------------


def make_tree(parents: tuple[int, ...]) -> chains.Plan:
    """A source and one operator for each of `parents`, chained to the node with that id."""
    nodes = (SOURCE, *(make_operator(2 + place) for place in range(len(parents))))
    links = tuple(attrs.evolve(FORWARD, source=up, target=2 + place) for place, up in enumerate(parents))
    return chains.Plan(nodes, links)


def pairs_of_trees() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    small = [parents for (parents,) in trees() if len(parents) <= 3]
    return product(small, small)


@law("CHAIN-20", samples=pairs_of_trees)
def names_tell_trees_apart(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Chains of different shape have different names."""
    return (chains.compute_name(make_tree(one), 1) == chains.compute_name(make_tree(other), 1)) == (one == other)


def trees() -> Iterator[tuple[tuple[int, ...]]]:
    """All trees of up to five nodes in which every node has a higher id than the one above it."""
    for size in range(5):
        for parents in product(*(range(1, 2 + place) for place in range(size))):
            yield (parents,)
