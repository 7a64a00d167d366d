"""Scopes of the job graph. It has no state, so a scope is a list of graphs; each is given to a fresh engine.

What chaining alone decides is closed over in the scopes of `chaining`. Here is what a program says in passing or leaves
out, what goes through the network, and who shares it.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import permutations, product

from tidegate.properties.cases.scope import Scope
from tidegate.reference.chaining.chains import Exchange, Kind, Partitioner, Strategy
from tidegate.reference.chaining.job_graph.edges import PartitionNode, SideOutputNode, VirtualNode
from tidegate.reference.chaining.job_graph.outputs import Mode
from tidegate.reference.chaining.job_graph.step import Config, JobEdge, JobGraph, JobOperator
from tidegate.reference.elements import Long

SOURCES = (Kind.SOURCE, Kind.LEGACY_SOURCE)
STRATEGIES = (None, *Strategy)
YES_AND_NO = (False, True)
NETWORK = PartitionNode(Partitioner.REBALANCE, Exchange.UNDEFINED)

#: An operator that keeps nobody from chaining, and one that has no input.
make_operator = partial(JobOperator, kind=Kind.OPERATOR, parallelism=2)
make_source = partial(JobOperator, kind=Kind.SOURCE, parallelism=2)


def wished(partitioners: tuple[Partitioner, ...], exchanges: tuple[Exchange, ...]) -> Iterator[tuple[VirtualNode, ...]]:
    """Nothing asked for, or one partitioner with one exchange."""
    yield ()
    yield from ((PartitionNode(*wish),) for wish in product(partitioners, exchanges))


def pair(via: tuple[VirtualNode, ...], *, is_equal: bool, dataset: str | None, timeout: int) -> JobGraph:
    operators = (
        make_source(1, "source", buffer_timeout=Long(timeout)),
        make_operator(2, "map", parallelism=2 if is_equal else 3),
    )
    return JobGraph(operators, (JobEdge(1, 2, via=via, dataset=dataset),))


def single_edges() -> Iterator[JobGraph]:
    """A source and an operator, and every wish about the edge between them."""
    for via, is_equal, dataset in product(wished(tuple(Partitioner), tuple(Exchange)), YES_AND_NO, (None, "d")):
        yield pair(via, is_equal=is_equal, dataset=dataset, timeout=-1)


def timed_edges() -> Iterator[JobGraph]:
    """The exchange is left to the job, and the producer may have a buffer timeout."""
    wishes = wished(tuple(Partitioner), (Exchange.UNDEFINED,))
    for via, is_equal, dataset, timeout in product(wishes, YES_AND_NO, (None, "d"), (-1, 0)):
        yield pair(via, is_equal=is_equal, dataset=dataset, timeout=timeout)


def decided_edges() -> Iterator[JobGraph]:
    """Between operators that are not chained: every exchange for a hash, and a hash that is not needed after all."""
    ends = (make_source(1, "source"), make_operator(2, "map", strategy=Strategy.HEAD))
    unneeded = PartitionNode(Partitioner.FORWARD_FOR_CONSECUTIVE_HASH, Exchange.UNDEFINED)
    for via in (unneeded, *(PartitionNode(Partitioner.HASH, exchange) for exchange in Exchange)):
        yield JobGraph(ends, (JobEdge(1, 2, via=(via,)),))


def single_nodes() -> Iterator[JobGraph]:
    """Strategies that are given or not, and nodes without an operator."""
    for kind, upper, lower, bare in product(SOURCES, STRATEGIES, STRATEGIES, (0, 1, 2)):
        operators = (
            JobOperator(1, "source", kind, 2, strategy=upper, has_operator=bare != 1),
            make_operator(2, "map", strategy=lower, has_operator=bare != 2),
        )
        yield JobGraph(operators, (JobEdge(1, 2),))


def paths() -> Iterator[JobGraph]:
    """Every way past two or three virtual nodes, of five."""
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
            make_operator(3, "join", strategy=strategy),
            *((make_operator(4, "other"),) if split else ()),
        )
        edges = (
            JobEdge(1, 3, numbers[0], (NETWORK,) if apart else ()),
            JobEdge(2, 3, numbers[1]),
            *((JobEdge(2, 4),) if split else ()),
        )
        yield JobGraph(operators, edges[::-1] if turned else edges)


def shared_outputs() -> Iterator[JobGraph]:
    """Two consumers of one operator, with wishes that let them share a result or not."""
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
            make_operator(2, "left"),
            make_operator(3, "right", parallelism=numbers[0], max_parallelism=numbers[1]),
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
            make_operator(left, "left", max_parallelism=bound),
            make_operator(right, "right"),
            make_operator(low, "low", max_parallelism=bound),
            make_operator(last, "last"),
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
            make_operator(2, "map", buffer_timeout=Long(second)),
            make_operator(3, "sink"),
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
