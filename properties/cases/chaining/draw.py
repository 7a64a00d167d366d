"""Cases for chaining: graphs in which everything would be chained, but for a few conditions broken on purpose.

Two broken conditions on one edge hide each other, so most edges have none and some have one. What is broken is an
edge: its partitioner or exchange, or what one of its ends has, often together with all that lies behind.
"""

from collections import Counter
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from tidegate.properties.cases.values import FAR_APART, swarm
from tidegate.properties.cases.walk import Source, Walk, stay
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

#: The fields of an operator or an edge that is still to be made.
Draft = dict[str, Any]


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    walk = Walk[Config, Event](random, (config,), stay, length=random.choice((1, 1, 2, 2, 3, 4)))
    for _ in walk.rounds():
        walk.play_one(draw_decided_graph(random))
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(chaining=random.random() < 0.92, chain_different_max_parallelism=random.random() < 0.6)


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
    # The order in which a graph is told shows in names only.
    if random.random() < 0.7:
        random.shuffle(operators)
    if random.random() < 0.5:
        random.shuffle(edges)
    return Graph(tuple(Operator(**operator) for operator in operators), tuple(Edge(**edge) for edge in edges))


def draw_large_graph(size: int, shape: str, random: Random) -> Graph:
    """So many operators in a line, or of one source, or of one source and united in the last.

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
    """So many sources, each with an operator of its own that takes it in or not, the sources first or last."""
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


#: Engines may follow a line by calling themselves, so these are not as long as others are wide.
LARGE = {LINE: (3, 9, 17, 33, 65, 129, 257), FAN: (9, 17, 33, 65, 129, 257, 258, 514), UNION: (19, 259, 515)}
ONCE = (
    *(partial(draw_large, size, shape) for shape, sizes in LARGE.items() for size in sizes),
    *(partial(draw_many_sources, count) for count in (3, 9, 17, 33, 65, 129, 257, 513)),
)


def prune(source: Source, operators: list[Draft], edges: list[Draft]) -> tuple[list[Draft], list[Draft]]:
    """Leave out what the source leaves out, and then all that has nothing to read from any more."""
    edges = [edge for edge in edges if source.keeps()]
    left: dict[int, Draft] = {operators[0]["id"]: operators[0]}
    for operator in operators[1:]:
        is_fed = any(edge["target"] == operator["id"] and edge["source"] in left for edge in edges)
        if (is_fed or operator["kind"] is not Kind.OPERATOR) and source.keeps():
            left[operator["id"]] = operator
    return list(left.values()), [edge for edge in edges if edge["source"] in left and edge["target"] in left]


# --- operators and edges --------------------------------------------------------------------------------------


def draw_operators(random: Random, size: int, sources: int = 0) -> list[Draft]:
    """Operators that would all be chained, sources first, with ids in any order."""
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
    """Which operators are joined: lines, branches, unions, diamonds; never against the order of the list."""
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


# --- what is broken -------------------------------------------------------------------------------------------


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
