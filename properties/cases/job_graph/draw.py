"""Cases for job graphs: the graphs of chaining, with inputs, virtual nodes, exchanges and what a program leaves out."""

from functools import partial
from random import Random

import attrs

from tidegate.properties.cases.chaining.draw import LARGE, draw_large_graph
from tidegate.properties.cases.chaining.draw import draw_graph as draw_plain_graph
from tidegate.properties.cases.values import swarm
from tidegate.properties.cases.walk import Walk, stay
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
        # A hybrid result is refused where there are slot groups or the job streams: mostly it is not meant.
        walk.play_one(graph if random.random() < 0.2 else without_vain_hybrids(config, graph))
    return config, walk.events


def draw_config(random: Random) -> Config:
    is_dynamic = random.random() < 0.15
    return Config(
        chaining=random.random() < 0.95,
        chain_different_max_parallelism=random.random() < 0.6,
        mode=random.choice([mode for mode in MODES if not is_dynamic or mode not in STREAMING]),
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
    """Two or three readers of one operator with almost the same wishes: they share its result, or just not."""
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
    """Mostly an input of its own for each edge, which lets sources in; or a union with the edge before."""
    if not taken or "input" not in mix:
        return 0
    return max(taken) + 1 if random.random() < 0.7 else random.choice(taken)


def draw_via(random: Random, mix: dict[str, float], edge: chaining.Edge, *, is_equal: bool) -> tuple[VirtualNode, ...]:
    """The virtual nodes that make the edge what it is meant to be, among others that are overruled."""
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
