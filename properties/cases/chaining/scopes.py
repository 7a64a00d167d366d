"""Scopes of chaining. It has no state, so a scope is a list of graphs; each is given to a fresh engine.

Each condition of an edge is met or not, in all combinations; then the shapes in which edges meet.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product

from tidegate.properties.cases.chaining.draw import is_undecided
from tidegate.properties.cases.scope import Scope
from tidegate.reference.chaining.chaining.step import Config, Edge, Exchange, Graph, Operator
from tidegate.reference.chaining.chains import Kind, Strategy
from tidegate.reference.partitioning.partitioner import Partitioner

SOURCES = (Kind.SOURCE, Kind.LEGACY_SOURCE)
FORWARD, REBALANCE = Partitioner.FORWARD, Partitioner.REBALANCE
TOGETHER = (FORWARD, REBALANCE)
YES_AND_NO = (False, True)

#: An operator and an edge that keep nobody from chaining.
make_operator = partial(
    Operator,
    kind=Kind.OPERATOR,
    strategy=Strategy.ALWAYS,
    parallelism=2,
    max_parallelism=-1,
    slot_group="default",
    yielding=False,
)
make_edge = partial(Edge, partitioner=FORWARD, exchange=Exchange.UNDEFINED)


def single_edges() -> Iterator[Graph]:
    """A source and an operator, with every combination of conditions met or not."""
    for kind, upper, lower, partitioner, exchange, scaled, grouped, bounded, yielding in product(
        SOURCES, Strategy, Strategy, TOGETHER, Exchange, YES_AND_NO, YES_AND_NO, YES_AND_NO, YES_AND_NO
    ):
        source = make_operator(1, "source", kind=kind, strategy=upper)
        target = make_operator(
            2,
            "map",
            strategy=lower,
            parallelism=3 if scaled else 2,
            slot_group="other" if grouped else "default",
            max_parallelism=128 if bounded else -1,
            yielding=yielding,
        )
        yield Graph((source, target), (make_edge(1, 2, partitioner=partitioner, exchange=exchange),))


def network_edges() -> Iterator[Graph]:
    """Every partitioner, also where there is but one consumer and each of them does the same."""
    for partitioner, parallelism in product(Partitioner, (1, 2)):
        source = make_operator(1, "source", kind=Kind.SOURCE, parallelism=parallelism)
        target = make_operator(2, "map", parallelism=parallelism)
        yield Graph((source, target), (make_edge(1, 2, partitioner=partitioner),))


def chains_of_three() -> Iterator[Graph]:
    for kind, second, third, first_edge, second_edge, yields, yields_last in product(
        SOURCES, Strategy, Strategy, TOGETHER, TOGETHER, YES_AND_NO, YES_AND_NO
    ):
        operators = (
            make_operator(3, "source", kind=kind),
            make_operator(1, "map", strategy=second, yielding=yields),
            make_operator(2, "sink", strategy=third, yielding=yields_last),
        )
        yield Graph(operators, (make_edge(3, 1, partitioner=first_edge), make_edge(1, 2, partitioner=second_edge)))


def unions() -> Iterator[Graph]:
    """Two sources and an operator that may take them in, one that follows; and one source that enters twice."""
    for one, other, strategy, edge, scaled, last in product(
        SOURCES, SOURCES, Strategy, TOGETHER, YES_AND_NO, (Strategy.ALWAYS, Strategy.HEAD)
    ):
        operators = (
            make_operator(1, "left", kind=one),
            make_operator(2, "right", kind=other, parallelism=3 if scaled else 2),
            make_operator(3, "union", strategy=strategy),
            make_operator(4, "sink", strategy=last),
        )
        yield Graph(operators, (make_edge(1, 3), make_edge(2, 3, partitioner=edge), make_edge(3, 4)))
    for kind, strategy in product(SOURCES, Strategy):
        pair = (make_operator(1, "source", kind=kind), make_operator(2, "union", strategy=strategy))
        yield Graph(pair, (make_edge(1, 2), make_edge(1, 2)))


def branches() -> Iterator[Graph]:
    """A source with two followers; ids and edges in both orders, which shows in names."""
    for kind, left, right, first_edge, second_edge, turned, swapped in product(
        SOURCES, Strategy, Strategy, TOGETHER, TOGETHER, YES_AND_NO, YES_AND_NO
    ):
        ids = (3, 2) if swapped else (2, 3)
        operators = (
            make_operator(1, "source", kind=kind),
            make_operator(ids[0], "left", strategy=left),
            make_operator(ids[1], "right", strategy=right),
        )
        edges = (make_edge(1, ids[0], partitioner=first_edge), make_edge(1, ids[1], partitioner=second_edge))
        yield Graph(operators, edges[::-1] if turned else edges)


def diamonds() -> Iterator[Graph]:
    """Two ways from one source to one operator, and one that follows it."""
    for left, last, first_edge, second_edge in product(Strategy, Strategy, TOGETHER, TOGETHER):
        operators = (
            make_operator(1, "source", kind=Kind.SOURCE),
            make_operator(2, "left", strategy=left),
            make_operator(3, "right"),
            make_operator(4, "join", strategy=last),
            make_operator(5, "sink"),
        )
        edges = (
            make_edge(1, 2),
            make_edge(1, 3, partitioner=first_edge),
            make_edge(2, 4, partitioner=second_edge),
            make_edge(3, 4),
            make_edge(4, 5),
        )
        yield Graph(operators, edges)


def bounded_chains() -> Iterator[Graph]:
    """Maximum parallelism set or not, along a chain: where it may not differ, each edge is asked, not the chain."""
    for first, second, third in product((-1, 128, 256), repeat=3):
        operators = (
            make_operator(1, "source", kind=Kind.SOURCE, max_parallelism=first),
            make_operator(2, "map", max_parallelism=second),
            make_operator(3, "sink", max_parallelism=third),
        )
        yield Graph(operators, (make_edge(1, 2), make_edge(2, 3)))


def long_chains() -> Iterator[Graph]:
    """The last operator yields or not: all the way back, the first one is a legacy source or not."""
    for kind, length, yields in product(SOURCES, range(4, 13), YES_AND_NO):
        operators = (
            make_operator(1, "source", kind=kind),
            *(make_operator(place, f"map-{place}") for place in range(2, length)),
            make_operator(length, "sink", yielding=yields),
        )
        yield Graph(operators, tuple(make_edge(place, place + 1) for place in range(1, length)))


SHAPES: tuple[Callable[[], Iterator[Graph]], ...] = (
    network_edges,
    chains_of_three,
    long_chains,
    unions,
    branches,
    diamonds,
    bounded_chains,
)


@cache
def all_graphs() -> tuple[Graph, ...]:
    return tuple(graph for shape in (single_edges, *SHAPES) for graph in shape())


def make_scope(name: str, configs: tuple[Config, ...], graphs: Callable[[], tuple[Graph, ...]], covers: str) -> Scope:
    return Scope(
        name=name,
        component="chaining",
        configs=configs,
        alphabet=lambda _config, _state: tuple(graph for graph in graphs() if not is_undecided(graph)),
        covers=covers,
    )


CHAINED = Config(chaining=True, chain_different_max_parallelism=True)
BOUNDED = Config(chaining=True, chain_different_max_parallelism=False)
SHAPES_IN_WORDS = (
    "every partitioner, chains of three and of up to twelve, unions, an edge twice, branches, diamonds, each with "
    "strategies, forward or not, and yielding operators where it matters"
)


def small() -> Iterator[Scope]:
    yield make_scope(
        "edges-and-shapes",
        (CHAINED,),
        all_graphs,
        "chaining switched on; a source and an operator with every combination of kind, both strategies, forward or "
        "not, exchange, equal parallelism or not, equal slot group or not, equal maximum parallelism or not, yielding "
        f"or not; {SHAPES_IN_WORDS}",
    )
    yield make_scope(
        "maximum-parallelism",
        (BOUNDED,),
        bounded_graphs,
        "a differing maximum parallelism keeps apart; chains of three with every combination of two values and none, "
        "and a source and an operator with one value or none and each strategy",
    )
    yield make_scope(
        "switched-off",
        (Config(chaining=False, chain_different_max_parallelism=True),),
        lambda: (*unions(), *chains_of_three()),
        "chaining switched off; unions and chains of three, each with strategies, forward or not",
    )


def bounded_graphs() -> tuple[Graph, ...]:
    edges = (graph for graph in single_edges() if graph.operators[1].max_parallelism != -1)
    alike = (
        graph
        for graph in edges
        if (graph.operators[1].parallelism, graph.operators[1].slot_group) == (2, "default")
        and graph.edges[0].partitioner is FORWARD
    )
    return (*bounded_chains(), *alike)


def thorough() -> Iterator[Scope]:
    yield make_scope(
        "edges-and-shapes",
        tuple(
            Config(chaining=chaining, chain_different_max_parallelism=value)
            for chaining, value in product(YES_AND_NO, repeat=2)
        ),
        all_graphs,
        "chaining switched on or off, a differing maximum parallelism allowed or not; a source and an operator with "
        "every combination of kind, both strategies, forward or not, exchange, equal parallelism or not, equal slot "
        f"group or not, equal maximum parallelism or not, yielding or not; {SHAPES_IN_WORDS}",
    )
