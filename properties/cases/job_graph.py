"""Cases for job graphs: the graphs of chaining, with inputs, virtual nodes, exchanges and missing settings."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import permutations, product
from random import Random

import attrs

from tidegate.properties.cases.chaining import LARGE, draw_large_graph
from tidegate.properties.cases.chaining import draw_graph as draw_plain_graph
from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import swarm
from tidegate.properties.drawing.walk import Walk, stay
from tidegate.reference.chaining.chaining import step as chaining
from tidegate.reference.chaining.chains import Exchange, Kind, Partitioner, Strategy
from tidegate.reference.chaining.job_graph.edges import PartitionNode, SideOutputNode, VirtualNode
from tidegate.reference.chaining.job_graph.outputs import HYBRID, STREAMING, Mode
from tidegate.reference.chaining.job_graph.step import DYNAMIC, Config, Event, JobEdge, JobGraph, JobOperator
from tidegate.reference.elements import Long
from tidegate.reference.partitioning.partitioner import Partitioner as NetworkPartitioner

MODES = (*[Mode.ALL_EDGES_PIPELINED] * 4, *Mode)
TIMEOUTS = (0, 1, 100, 2**31, 2**63 - 1)
PLAINEST = (NetworkPartitioner.FORWARD, chaining.Exchange.UNDEFINED)
REPEATABLE = (Exchange.UNDEFINED, Exchange.BATCH, Exchange.BATCH, Exchange.HYBRID_FULL, Exchange.HYBRID_SELECTIVE)
PLAIN = [kind for kind in Partitioner if kind not in (Partitioner.FORWARD, Partitioner.CUSTOM)]


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    walk = Walk[Config, Event](random, (config,), stay, length=random.choice((1, 1, 1, 1, 1, 2)))
    for _ in walk.rounds():
        graph = draw_graph(random)
        # Hybrid results are refused with slot groups or in streaming jobs, so they are rare there.
        walk.play_one(graph if random.random() < 0.2 else without_vain_hybrids(config, graph))
    return config, walk.events


def draw_config(random: Random) -> Config:
    is_dynamic = stream(random, "extension").random() < 0.15
    return Config(
        chaining=stream(random, "chaining").random() < 0.95,
        chain_different_max_parallelism=stream(random, "chain_different_max_parallelism").random() < 0.6,
        mode=stream(random, "mode").choice([mode for mode in MODES if not is_dynamic or mode not in STREAMING]),
        extension=DYNAMIC if is_dynamic else None,
    )


def without_vain_hybrids(config: Config, graph: JobGraph) -> JobGraph:
    """The graph without slot groups, or in a streaming job with batch exchanges for hybrid ones."""
    if config.mode not in STREAMING:
        hybrid = config.mode.removeprefix("all_edges_") in HYBRID or has_hybrids(graph)
        same = tuple(attrs.evolve(one, slot_group="default") for one in graph.operators)
        return JobGraph(same, graph.edges) if hybrid else graph
    edges = tuple(attrs.evolve(edge, via=tuple(map(as_batch, edge.via))) for edge in graph.edges)
    return JobGraph(graph.operators, edges)


def has_hybrids(graph: JobGraph) -> bool:
    return any(as_batch(node) != node for edge in graph.edges for node in edge.via)


def as_batch(node: VirtualNode) -> VirtualNode:
    if isinstance(node, PartitionNode) and node.exchange in (Exchange.HYBRID_FULL, Exchange.HYBRID_SELECTIVE):
        return attrs.evolve(node, exchange=Exchange.BATCH)
    return node


def draw_large(size: int, shape: str, random: Random) -> tuple[Config, tuple[Event, ...]]:
    config = draw_config(random)
    return config, (without_vain_hybrids(config, draw_graph(random, draw_large_graph(size, shape, random))),)


ONCE = tuple(partial(draw_large, size, shape) for shape, sizes in LARGE.items() for size in sizes)


def draw_graph(random: Random, graph: chaining.Graph | None = None) -> JobGraph:
    graph = graph or draw_plain_graph(random)
    if random.random() < 0.3:
        graph = add_sources(random, graph)
    mix = swarm(
        random,
        partition=4, default_strategy=4, input=3, batch=1, side_output=1.5, second=1, refused_forward=0.2,
        timeout=0.6, no_operator=0.3, dataset=0.5, consecutive=0.7,
    )  # fmt: skip
    operators = tuple(make_operator(random, mix, operator) for operator in graph.operators)
    parallelism = {operator.id: operator.parallelism for operator in operators}
    edges: list[JobEdge] = []
    for edge in graph.edges:
        before = [one for one in edges if one.target == edge.target]
        is_equal = parallelism[edge.source] == parallelism[edge.target]
        edges.append(
            JobEdge(
                edge.source,
                edge.target,
                input=draw_input(random, mix, [one.input for one in before]),
                via=draw_via(random, mix, edge, is_equal=is_equal),
                dataset=random.choice("de") if is_drawn(random, mix, "dataset") else None,
            )
        )
    job = JobGraph(operators, tuple(edges))
    return add_readers(random, job) if random.random() < 0.15 else job


def add_readers(random: Random, graph: JobGraph) -> JobGraph:
    """Two or three readers of one operator with almost equal settings: they share its result, or just not."""
    source = random.choice(graph.operators)
    free = max(operator.id for operator in graph.operators) + 1
    wish = PartitionNode(random.choice((Partitioner.HASH, Partitioner.RESCALE)), random.choice(REPEATABLE))
    operators, edges = list(graph.operators), list(graph.edges)
    for reader in range(free, free + random.randint(2, 3)):
        differs = random.choice(
            (None, None, "parallelism", "max_parallelism", "partitioner", "exchange", "tag", "dataset")
        )
        operators.append(
            JobOperator(
                reader,
                f"reader-{reader}",
                Kind.OPERATOR,
                source.parallelism + (differs == "parallelism"),
                128 if differs == "max_parallelism" else -1,
            )
        )
        own = PartitionNode(
            Partitioner.BROADCAST if differs == "partitioner" else wish.partitioner,
            random.choice(REPEATABLE) if differs == "exchange" else wish.exchange,
        )
        via = (own, SideOutputNode("late")) if differs == "tag" else (own,)
        edges.append(JobEdge(source.id, reader, via=via, dataset="d" if differs == "dataset" else None))
    return JobGraph(tuple(operators), tuple(edges))


def is_taking_sources(operator: chaining.Operator) -> bool:
    return operator.kind is Kind.OPERATOR and operator.strategy is Strategy.HEAD_WITH_SOURCES


def add_sources(random: Random, graph: chaining.Graph) -> chaining.Graph:
    """More sources for an operator that takes them, so that it has several inputs."""
    targets = [one for one in graph.operators if is_taking_sources(one)]
    if not targets:
        return graph
    target = random.choice(targets)
    free = max(operator.id for operator in graph.operators) + 1
    ids = random.sample(range(free, free + 3), random.randint(1, 2))
    plain = attrs.evolve(target, kind=Kind.SOURCE, strategy=Strategy.ALWAYS, yielding=False)
    sources = [attrs.evolve(plain, id=source, name=f"src-{source}") for source in ids]
    edges = [chaining.Edge(source, target.id, *PLAINEST) for source in ids]
    return chaining.Graph((*graph.operators, *sources), (*edges, *graph.edges))


def is_drawn(random: Random, mix: dict[str, float], kind: str) -> bool:
    return random.random() < mix.get(kind, 0) / 10


def make_operator(random: Random, mix: dict[str, float], operator: chaining.Operator) -> JobOperator:
    fields = attrs.asdict(operator)
    if operator.strategy is Strategy.ALWAYS and is_drawn(random, mix, "default_strategy"):
        fields["strategy"] = None
    return JobOperator(
        **fields,
        has_operator=operator.kind is not Kind.OPERATOR or not is_drawn(random, mix, "no_operator"),
        buffer_timeout=Long(random.choice(TIMEOUTS) if is_drawn(random, mix, "timeout") else -1),
    )


def draw_input(random: Random, mix: dict[str, float], taken: list[int]) -> int:
    """Mostly a separate input per edge, which allows chained sources; or a union with the previous edge."""
    if not taken or "input" not in mix:
        return 0
    return max(taken) + 1 if random.random() < 0.7 else random.choice(taken)


def draw_via(random: Random, mix: dict[str, float], edge: chaining.Edge, *, is_equal: bool) -> tuple[VirtualNode, ...]:
    """The virtual nodes that give the edge its settings, among others that are overruled."""
    partitioner, exchange = Partitioner(edge.partitioner), Exchange(edge.exchange)
    is_silent = partitioner is Partitioner.FORWARD and exchange is Exchange.UNDEFINED
    if partitioner is Partitioner.FORWARD and not is_equal and not is_drawn(random, mix, "refused_forward"):
        is_silent = is_silent and random.random() < 0.5
        partitioner = random.choice(PLAIN)
    elif is_silent and is_equal and is_drawn(random, mix, "consecutive"):
        is_silent = False
        partitioner = Partitioner.FORWARD_FOR_CONSECUTIVE_HASH
    via: list[VirtualNode] = []
    if not is_silent or is_drawn(random, mix, "partition"):
        if is_drawn(random, mix, "batch"):
            exchange = random.choice(list(Exchange))
        via = [PartitionNode(partitioner, exchange)]
        if is_drawn(random, mix, "second"):
            # Nearer to the producer: its partitioner is overruled, its exchange is not.
            via.insert(0, PartitionNode(random.choice(list(Partitioner)), exchange))
            via[1] = PartitionNode(partitioner, random.choice(list(Exchange)))
    while is_drawn(random, mix, "side_output") and len(via) < 4:
        via.insert(random.randint(0, len(via)), SideOutputNode(random.choice(("late", "odd", ""))))
    return tuple(via)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE, in_runs=False)


# --- scopes ---------------------------------------------------------------------------------------------------


SOURCES = (Kind.SOURCE, Kind.LEGACY_SOURCE)
STRATEGIES = (None, *Strategy)
YES_AND_NO = (False, True)
NETWORK = PartitionNode(Partitioner.REBALANCE, Exchange.UNDEFINED)

#: An operator that allows all chaining, and one without input.
make_scope_operator = partial(JobOperator, kind=Kind.OPERATOR, parallelism=2)
make_source = partial(JobOperator, kind=Kind.SOURCE, parallelism=2)


def wished(partitioners: tuple[Partitioner, ...], exchanges: tuple[Exchange, ...]) -> Iterator[tuple[VirtualNode, ...]]:
    """No settings, or one partitioner with one exchange."""
    yield ()
    yield from ((PartitionNode(*wish),) for wish in product(partitioners, exchanges))


def pair(via: tuple[VirtualNode, ...], *, is_equal: bool, dataset: str | None, timeout: int) -> JobGraph:
    operators = (
        make_source(1, "source", buffer_timeout=Long(timeout)),
        make_scope_operator(2, "map", parallelism=2 if is_equal else 3),
    )
    return JobGraph(operators, (JobEdge(1, 2, via=via, dataset=dataset),))


def single_edges() -> Iterator[JobGraph]:
    """A source and an operator, with every setting of the edge between them."""
    for via, is_equal, dataset in product(wished(tuple(Partitioner), tuple(Exchange)), YES_AND_NO, (None, "d")):
        yield pair(via, is_equal=is_equal, dataset=dataset, timeout=-1)


def timed_edges() -> Iterator[JobGraph]:
    """The exchange is left to the job, and the producer may have a buffer timeout."""
    wishes = wished(tuple(Partitioner), (Exchange.UNDEFINED,))
    for via, is_equal, dataset, timeout in product(wishes, YES_AND_NO, (None, "d"), (-1, 0)):
        yield pair(via, is_equal=is_equal, dataset=dataset, timeout=timeout)


def decided_edges() -> Iterator[JobGraph]:
    """Between operators that are not chained: every exchange for a hash, and a hash that is not needed after all."""
    ends = (make_source(1, "source"), make_scope_operator(2, "map", strategy=Strategy.HEAD))
    unneeded = PartitionNode(Partitioner.FORWARD_FOR_CONSECUTIVE_HASH, Exchange.UNDEFINED)
    for via in (unneeded, *(PartitionNode(Partitioner.HASH, exchange) for exchange in Exchange)):
        yield JobGraph(ends, (JobEdge(1, 2, via=(via,)),))


def single_nodes() -> Iterator[JobGraph]:
    """Strategies that are given or not, and nodes without an operator."""
    for kind, upper, lower, bare in product(SOURCES, STRATEGIES, STRATEGIES, (0, 1, 2)):
        operators = (
            JobOperator(1, "source", kind, 2, strategy=upper, has_operator=bare != 1),
            make_scope_operator(2, "map", strategy=lower, has_operator=bare != 2),
        )
        yield JobGraph(operators, (JobEdge(1, 2),))


def paths() -> Iterator[JobGraph]:
    """Every path through two or three of five virtual nodes."""
    nodes: tuple[VirtualNode, ...] = (
        PartitionNode(Partitioner.FORWARD, Exchange.UNDEFINED),
        PartitionNode(Partitioner.HASH, Exchange.BATCH),
        PartitionNode(Partitioner.RESCALE, Exchange.HYBRID_SELECTIVE),
        SideOutputNode("a"),
        SideOutputNode("b"),
    )
    for via in (*product(nodes, repeat=2), *product(nodes, repeat=3)):
        yield pair(via, is_equal=True, dataset=None, timeout=-1)


def inputs() -> Iterator[JobGraph]:
    """Two sources and an operator that takes sources in, or any; the second source may have another consumer."""
    hosts = (Strategy.HEAD_WITH_SOURCES, Strategy.ALWAYS)
    for kind, strategy, numbers, apart, turned, split in product(
        SOURCES, hosts, ((0, 0), (0, 1), (1, 0)), YES_AND_NO, YES_AND_NO, YES_AND_NO
    ):
        operators = (
            make_source(1, "right"),
            JobOperator(2, "left", kind, 2),
            make_scope_operator(3, "join", strategy=strategy),
            *((make_scope_operator(4, "other"),) if split else ()),
        )
        edges = (
            JobEdge(1, 3, numbers[0], (NETWORK,) if apart else ()),
            JobEdge(2, 3, numbers[1]),
            *((JobEdge(2, 4),) if split else ()),
        )
        yield JobGraph(operators, edges[::-1] if turned else edges)


def shared_outputs() -> Iterator[JobGraph]:
    """Two consumers of one operator, with settings that let them share a result or not."""
    hybrid_full, selective = Exchange.HYBRID_FULL, Exchange.HYBRID_SELECTIVE
    wishes = (
        (Partitioner.HASH, Exchange.BATCH, None, None),
        (Partitioner.HASH, Exchange.BATCH, "tag", None),
        (Partitioner.HASH, Exchange.BATCH, None, "d"),
        (Partitioner.HASH, Exchange.BATCH, None, "e"),
        (Partitioner.RESCALE, Exchange.BATCH, None, None),
        (Partitioner.HASH, hybrid_full, None, None),
        (Partitioner.HASH, selective, None, None),
        (Partitioner.HASH, selective, "tag", None),
        (Partitioner.BROADCAST, selective, None, None),
        (Partitioner.HASH, Exchange.PIPELINED, None, None),
    )
    for one, other, numbers in product(wishes, wishes, ((2, -1), (3, -1), (2, 128))):
        operators = (
            make_source(1, "source"),
            make_scope_operator(2, "left"),
            make_scope_operator(3, "right", parallelism=numbers[0], max_parallelism=numbers[1]),
        )
        yield JobGraph(operators, (make_wished_edge(2, *one), make_wished_edge(3, *other)))


def make_wished_edge(
    target: int, partitioner: Partitioner, exchange: Exchange, tag: str | None, dataset: str | None
) -> JobEdge:
    tagged = () if tag is None else (SideOutputNode(tag),)
    return JobEdge(1, target, via=(PartitionNode(partitioner, exchange), *tagged), dataset=dataset)


def trees() -> Iterator[JobGraph]:
    """A source with two followers, one of which has two, chained or not, with ids in every order."""
    for apart, ids, bounded in product(product(YES_AND_NO, repeat=4), permutations((2, 3, 4, 5)), YES_AND_NO):
        if bounded and ids != (2, 3, 4, 5):
            continue
        left, right, low, last = ids
        bound = 128 if bounded else -1
        operators = (
            make_source(1, "source"),
            make_scope_operator(left, "left", max_parallelism=bound),
            make_scope_operator(right, "right"),
            make_scope_operator(low, "low", max_parallelism=bound),
            make_scope_operator(last, "last"),
        )
        ends = ((1, left), (1, right), (left, low), (left, last))
        edges = (JobEdge(*end, via=(NETWORK,) if cut else ()) for end, cut in zip(ends, apart, strict=True))
        yield JobGraph(operators, tuple(edges))


def timed_chains() -> Iterator[JobGraph]:
    """A chain that writes a result, with a buffer timeout on either operator."""
    for first, second, exchange, dataset in product(
        (-1, 0, 5), (-1, 0, 5), (Exchange.UNDEFINED, Exchange.BATCH, Exchange.HYBRID_FULL), (None, "d")
    ):
        operators = (
            make_source(1, "source", buffer_timeout=Long(first)),
            make_scope_operator(2, "map", buffer_timeout=Long(second)),
            make_scope_operator(3, "sink"),
        )
        written = JobEdge(2, 3, via=(PartitionNode(Partitioner.HASH, exchange),), dataset=dataset)
        yield JobGraph(operators, (JobEdge(1, 2), written))


SHAPES: tuple[Callable[[], Iterator[JobGraph]], ...] = (
    single_edges,
    single_nodes,
    paths,
    inputs,
    shared_outputs,
    trees,
    timed_chains,
)
SHAPES_IN_WORDS = (
    "a source and an operator with every partitioner and exchange or none, equal parallelism or not, kept for later "
    "jobs or not, and with every strategy or none, with or without an operator; ways past two or three virtual nodes "
    "of five; two sources into one operator, on one input or two; pairs of outputs that may be shared or not; trees of "
    "five, each edge chained or not, with ids in every order; chains with buffer timeouts; refused: forward edges "
    "between unequal parallelism, timeouts at blocking results"
)


@cache
def all_graphs() -> tuple[JobGraph, ...]:
    return tuple(dict.fromkeys(graph for shape in SHAPES for graph in shape()))


@cache
def timed_graphs() -> tuple[JobGraph, ...]:
    return (*timed_edges(), *decided_edges())


def make_scope(
    name: str, configs: tuple[Config, ...], graphs: Callable[[], tuple[JobGraph, ...]], covers: str
) -> Scope:
    return Scope(
        name=name,
        component="job_graph",
        configs=configs,
        alphabet=lambda _config, _state: graphs(),
        covers=covers,
    )


def make_config(mode: Mode, *, chaining: bool = True, different: bool = True) -> Config:
    return Config(chaining, different, mode)


def small() -> Iterator[Scope]:
    yield make_scope(
        "programs",
        (make_config(Mode.ALL_EDGES_PIPELINED),),
        all_graphs,
        f"chaining switched on, all edges pipelined unless they say otherwise; {SHAPES_IN_WORDS}",
    )
    yield make_scope(
        "modes",
        tuple(map(make_config, Mode)),
        timed_graphs,
        "every mode; a source and an operator with every partitioner or none and an undefined exchange, equal "
        "parallelism or not, kept for later jobs or not, with a buffer timeout of 0 or without; every exchange "
        "for a hash, and a hash over keys in place that is not chained; refused: forward edges between unequal "
        "parallelism, timeouts at blocking results",
    )


def thorough() -> Iterator[Scope]:
    yield make_scope(
        "programs",
        tuple(
            make_config(mode, chaining=chaining, different=different)
            for mode, chaining, different in product(Mode, YES_AND_NO, YES_AND_NO)
        ),
        lambda: tuple(dict.fromkeys((*all_graphs(), *timed_graphs()))),
        "chaining switched on or off, a differing maximum parallelism allowed or not, every mode; "
        f"{SHAPES_IN_WORDS}; every partitioner with an undefined exchange and a timeout of 0 or none",
    )
