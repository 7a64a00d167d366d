"""Cases for chaining: graphs in which everything would be chained, except for a few broken conditions.

Two broken conditions on one edge hide each other, so most edges have none and some have one. A condition concerns an
edge: its partitioner or exchange, or a setting of one of its ends, often together with all operators behind it.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import pairwise, product
from random import Random
from typing import Any

from tidegate.properties.drawing.dice import Source, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import FAR_APART, swarm
from tidegate.properties.drawing.walk import Walk, stay
from tidegate.reference.chaining.chaining.step import Config, Edge, Event, Exchange, Graph, Operator
from tidegate.reference.chaining.chains import Kind, Strategy
from tidegate.reference.partitioning.partitioner import Partitioner

NAMES = ("map", "flat-map", "key_by", "window", "join", "sink", "Süd", "数", "a b", "x -> y", "(p, q)", "[r]", "")
NETWORK = [kind for kind in Partitioner if kind is not Partitioner.FORWARD]
SIZES = (1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12)
LONG_SIZES = (20, 33, 40)
VALUES: dict[str, tuple[int | str, ...]] = {
    "parallelism": (1, 2, 3, 5),
    "max_parallelism": (-1, 8, 16, 128),
    "slot_group": ("x", "Default", ""),
}

LINE, FAN, UNION = "line", "fan", "union"

#: The fields of an operator or edge under construction.
Draft = dict[str, Any]


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    walk = Walk[Config, Event](random, (config,), stay, length=random.choice((1, 1, 2, 2, 3, 4)))
    for _ in walk.rounds():
        walk.play_one(draw_decided_graph(random))
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(
        chaining=stream(random, "chaining").random() < 0.92,
        chain_different_max_parallelism=stream(random, "chain_different_max_parallelism").random() < 0.6,
    )


def draw_decided_graph(random: Random) -> Graph:
    while is_undecided(graph := draw_graph(random)):
        pass
    return graph


def is_undecided(graph: Graph) -> bool:
    """Whether a source meets other edges at an operator that takes sources in.

    Edges of the protocol carry no input number, so it does not say whether these are one input, which takes no source
    in, or several. No engine may be accused for its reading.
    """
    operators = {operator.id: operator for operator in graph.operators}
    entering = Counter(edge.target for edge in graph.edges)
    return any(
        operators[edge.source].kind is Kind.SOURCE
        and operators[edge.target].strategy is Strategy.HEAD_WITH_SOURCES
        and entering[edge.target] > 1
        for edge in graph.edges
    )


def draw_graph(random: Random) -> Graph:
    is_line = random.random() < 0.25
    operators = draw_line(random) if is_line else draw_operators(random, random.choice(SIZES))
    edges: list[Draft] = [
        {"source": source, "target": target, "partitioner": Partitioner.FORWARD, "exchange": Exchange.UNDEFINED}
        for source, target in (join_line(operators) if is_line else draw_pairs(random, operators))
    ]
    for kind in draw_breaks(random):
        if edges:
            break_edge(random, kind, draw_edge(random, edges, operators), operators)
    if isinstance(random, Source):
        operators, edges = prune(random, operators, edges)
    # The order of a graph's elements only affects names.
    if random.random() < 0.7:
        random.shuffle(operators)
    if random.random() < 0.5:
        random.shuffle(edges)
    return Graph(tuple(Operator(**operator) for operator in operators), tuple(Edge(**edge) for edge in edges))


def draw_large_graph(size: int, shape: str, random: Random) -> Graph:
    """Many operators in a line, or behind one source, or behind one source and united in the last.

    Some ids and parallelisms are the same in a byte or two.
    """
    operators = draw_operators(random, size, sources=1)
    apart, parallelism = random.choice((1, *FAR_APART)), random.choice((1, 127, 255))
    for operator in operators:
        operator |= {"id": apart * operator["id"], "parallelism": parallelism}
    for operator in operators[1:]:
        operator |= {"strategy": Strategy.ALWAYS, "yielding": False}
    for place in random.sample(range(shape != LINE, size), random.choice((0, 1, 2))):
        operators[place]["parallelism"] += random.choice(FAR_APART)
    ends = [operators[0]["id"], operators[-1]["id"]]
    pairs = join_line(operators)
    if shape == FAN:
        pairs = [(ends[0], operator["id"]) for operator in operators[1:]]
    elif shape == UNION:
        between = [operator["id"] for operator in operators[1:-1]]
        pairs = [*((ends[0], one) for one in between), *((one, ends[1]) for one in between)]
    edges = [Edge(one, other, Partitioner.FORWARD, Exchange.UNDEFINED) for one, other in pairs]
    return Graph(tuple(Operator(**operator) for operator in operators), tuple(edges))


def draw_large(size: int, shape: str, random: Random) -> tuple[Config, tuple[Event, ...]]:
    return Config(True, random.random() < 0.6), (draw_large_graph(size, shape, random),)  # noqa: FBT003


def draw_many_sources(count: int, random: Random) -> tuple[Config, tuple[Event, ...]]:
    """Many sources, each with its own operator that may take it in, the sources first or last."""
    numbers = list(range(1, 2 * count + 1))
    if random.random() < 0.5:
        numbers.reverse()
    operators = draw_operators(random, 2 * count, sources=count)
    for operator, number in zip(operators, numbers, strict=True):
        is_source = operator["kind"] is not Kind.OPERATOR
        operator |= {"id": number, "kind": Kind.SOURCE if is_source else Kind.OPERATOR}
        operator["strategy"] = Strategy.ALWAYS if is_source else Strategy.HEAD_WITH_SOURCES
    for operator in random.sample(operators, 2):
        operator["strategy"] = Strategy.NEVER
    if random.random() < 0.5:
        operators.reverse()
    pairs = zip(numbers[:count], numbers[count:], strict=True)
    edges = [Edge(one, other, Partitioner.FORWARD, Exchange.UNDEFINED) for one, other in pairs]
    config = Config(chaining=True, chain_different_max_parallelism=True)
    return config, (Graph(tuple(Operator(**operator) for operator in operators), tuple(edges)),)


#: Engines may recurse along a line, so lines are shorter than other graphs are wide.
LARGE = {LINE: (3, 9, 17, 33, 65, 129, 257), FAN: (9, 17, 33, 65, 129, 257, 258, 514), UNION: (19, 259, 515)}
ONCE = (
    *(partial(draw_large, size, shape) for shape, sizes in LARGE.items() for size in sizes),
    *(partial(draw_many_sources, count) for count in (3, 9, 17, 33, 65, 129, 257, 513)),
)


def prune(source: Source, operators: list[Draft], edges: list[Draft]) -> tuple[list[Draft], list[Draft]]:
    """Leave out what the source of randomness drops, and then all operators without inputs."""
    edges = [edge for edge in edges if source.keeps()]
    left: dict[int, Draft] = {operators[0]["id"]: operators[0]}
    for operator in operators[1:]:
        is_fed = any(edge["target"] == operator["id"] and edge["source"] in left for edge in edges)
        if (is_fed or operator["kind"] is not Kind.OPERATOR) and source.keeps():
            left[operator["id"]] = operator
    return list(left.values()), [edge for edge in edges if edge["source"] in left and edge["target"] in left]


# --- operators and edges --------------------------------------------------------------------------------------


def draw_operators(random: Random, size: int, sources: int = 0) -> list[Draft]:
    """Operators that can all be chained, sources first, with ids in any order."""
    sources = min(size, sources or random.choice((1, 1, 1, 2, 2, 3, 4)))
    ids = random.sample(range(1, 3 * size + 1), size) if random.random() < 0.6 else list(range(1, size + 1))
    legacy, yielding, with_sources = (random.choice(rates) for rates in ((0, 0, 0.5, 1), (0, 0.15, 0.5), (0, 0.4, 0.8)))
    parallelism = random.choice((1, 2, 4))
    namesakes = random.random() < 0.2
    operators = []
    for place, operator_id in enumerate(ids):
        kind = Kind.OPERATOR
        if place < sources:
            kind = Kind.LEGACY_SOURCE if random.random() < legacy else Kind.SOURCE
        is_operator = kind is Kind.OPERATOR
        takes_sources = is_operator and random.random() < with_sources
        name = random.choice(NAMES) if is_operator else "src"
        operators.append(
            {
                "id": operator_id,
                "name": name if namesakes else f"{name}-{operator_id}",
                "kind": kind,
                "strategy": Strategy.HEAD_WITH_SOURCES if takes_sources else Strategy.ALWAYS,
                "parallelism": parallelism,
                "max_parallelism": -1,
                "slot_group": "default",
                "yielding": is_operator and random.random() < yielding,
            }
        )
    return operators


def draw_line(random: Random) -> list[Draft]:
    """One operator behind the other, and one of them yields: what matters is the head of its chain, however far."""
    size = random.choice(LONG_SIZES) if random.random() < 0.02 else random.randint(3, 9)
    operators = draw_operators(random, size, sources=1)
    for operator in operators[1:]:
        operator |= {"strategy": Strategy.ALWAYS, "yielding": False}
    operators[random.randrange(1, size)]["yielding"] = random.random() < 0.8
    return operators


def join_line(operators: list[Draft]) -> list[tuple[int, int]]:
    return list(pairwise(operator["id"] for operator in operators))


def draw_pairs(random: Random, operators: list[Draft]) -> list[tuple[int, int]]:
    """The edges: lines, branches, unions, diamonds; never against the order of the list."""
    unused = [operator["id"] for operator in operators if operator["kind"] is not Kind.OPERATOR]
    line, union = random.choice((0.2, 0.6, 0.9)), random.choice((0, 0, 0.1, 0.3))
    pairs: list[tuple[int, int]] = []
    for place, operator in enumerate(operators):
        if operator["kind"] is not Kind.OPERATOR:
            continue
        earlier = [other["id"] for other in operators[:place]]
        takes_sources = operator["strategy"] is Strategy.HEAD_WITH_SOURCES
        if unused and (takes_sources or random.random() < 0.3):
            sources = [unused.pop()]
        else:
            sources = [earlier[-1] if random.random() < line else random.choice(earlier)]
        while random.random() < union:
            # Often the same again: a union of an operator with itself.
            sources.append(random.choice((sources[0], unused.pop() if unused else earlier[-1], random.choice(earlier))))
        pairs += [(source, operator["id"]) for source in sources]
    return pairs


# --- broken conditions ----------------------------------------------------------------------------------------


def draw_breaks(random: Random) -> list[str]:
    """The conditions to break in this graph: mostly none to three, of a few kinds; at times many."""
    kinds = swarm(
        random,
        network=2, batch=1, pipelined=1, parallelism=1.5, max_parallelism=2, slot_group=1.5,
        never=1, head=1, head_with_sources=1,
    )  # fmt: skip
    count = random.choice((0, 1, 1, 1, 2, 2, 3, 3, random.randint(4, 12)))
    return random.choices(list(kinds), list(kinds.values()), k=count)


def draw_edge(random: Random, edges: list[Draft], operators: list[Draft]) -> Draft:
    """Any edge; at times one between a source and an operator that takes sources, for which the rules are others."""
    if random.random() < 0.3:
        takers = {one["id"] for one in operators if one["strategy"] is Strategy.HEAD_WITH_SOURCES}
        sources = {one["id"] for one in operators if one["kind"] is not Kind.OPERATOR}
        special = [edge for edge in edges if edge["target"] in takers and edge["source"] in sources]
        if special:
            return random.choice(special)
    return random.choice(edges)


def break_edge(random: Random, kind: str, edge: Draft, operators: list[Draft]) -> None:
    if kind == "network":
        edge["partitioner"] = random.choice(NETWORK)
        return
    if kind in ("batch", "pipelined"):
        edge["exchange"] = Exchange(kind)
        return
    end = edge[random.choice(("source", "target"))]
    place = next(place for place, operator in enumerate(operators) if operator["id"] == end)
    if kind not in VALUES:
        operators[place]["strategy"] = Strategy(kind)
        return
    value = random.choice(VALUES[kind])
    # One operator, or also all behind it, which leaves the edges between them whole.
    for operator in operators[place : None if random.random() < 0.5 else place + 1]:
        operator[kind] = value


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE, in_runs=False)


# --- scopes ---------------------------------------------------------------------------------------------------


SOURCES = (Kind.SOURCE, Kind.LEGACY_SOURCE)
FORWARD, REBALANCE = Partitioner.FORWARD, Partitioner.REBALANCE
TOGETHER = (FORWARD, REBALANCE)
YES_AND_NO = (False, True)

#: An operator and an edge that allow all chaining.
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
    """Every partitioner, also with a single consumer, where all of them do the same."""
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
