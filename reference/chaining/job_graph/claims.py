"""Laws of job graphs: chaining as it was in Flink 1.5, and the index of an operator in its chain."""

from collections.abc import Iterator
from itertools import product

import attrs

from tidegate.reference.chaining.chaining.claims import FORWARD, SOURCE, make_operator, make_tree, trees
from tidegate.reference.chaining.chains import Link, Partitioner, Plan, Strategy, compute_indices, compute_refusals
from tidegate.reference.claims import law


def is_chainable_in_1_5(plan: Plan, link: Link) -> bool:
    """The predicate as it stood before exchange modes, yielding operators and sources with a strategy of their own."""
    up, down = plan.node(link.source), plan.node(link.target)
    return (
        len(plan.into(down.id)) == 1
        and up.has_operator
        and down.has_operator
        and up.slot_group == down.slot_group
        and down.strategy is Strategy.ALWAYS
        and up.strategy in (Strategy.HEAD, Strategy.ALWAYS)
        and link.partitioner is Partitioner.FORWARD
        and up.parallelism == down.parallelism
        and plan.chaining
    )


def plans_of_1_5() -> Iterator[tuple[Plan]]:
    strategies = (Strategy.ALWAYS, Strategy.HEAD, Strategy.NEVER)
    ends = [{"strategy": strategy, "has_operator": there} for strategy in strategies for there in (True, False)]
    targets = [{**end, "parallelism": p, "slot_group": g} for end in ends for p in (2, 3) for g in ("default", "other")]
    kinds = (Partitioner.FORWARD, Partitioner.RESCALE)
    for up, down, kind, count, chaining in product(ends, targets, kinds, (1, 2), (True, False)):
        nodes = (SOURCE, make_operator(2, **up), make_operator(3, **down))
        link = attrs.evolve(FORWARD, source=2, target=3, partitioner=kind)
        yield (Plan(nodes, (FORWARD, *(link,) * count), chaining=chaining),)


@law("CHAIN-13", samples=plans_of_1_5)
def as_in_1_5(plan: Plan) -> bool:
    """Where nothing is used that came later, a link is chained exactly if it meets the conditions of Flink 1.5."""
    link = plan.links[-1]
    return is_chainable_in_1_5(plan, link) == (not compute_refusals(plan, link))


@law("CHAIN-21", samples=trees)
def index_is_depth(parents: tuple[int, ...]) -> bool:
    """The index of an operator in its chain is its distance from the head, which has 1."""
    depth = {1: 1}
    for place, up in enumerate(parents):
        depth[2 + place] = depth[up] + 1
    return compute_indices(make_tree(parents), 1) == depth
