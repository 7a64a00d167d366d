"""What the job graph does: where it starts, and what each event leads to."""

from itertools import pairwise
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.chaining import chains
from tidegate.reference.chaining.chains import Exchange, Kind, Partitioner, Strategy
from tidegate.reference.chaining.job_graph.edges import (
    SideOutputNode,
    VirtualNode,
    compute_partitioner,
    compute_route,
    compute_strategy,
    is_impossible,
)
from tidegate.reference.chaining.job_graph.outputs import (
    BLOCKING,
    HYBRID,
    PIPELINED,
    STREAMING,
    Mode,
    NetworkOutput,
    compute_completion,
    compute_outputs,
)
from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import Count, Length, Long, MaxParallelism, Position, at_least, check_long, one_of
from tidegate.reference.model import Outcome, Rejected, rejected

# --- config ---------------------------------------------------------------------------------------------------


DYNAMIC = "dynamic"
EXTENSIONS = (DYNAMIC,)


@attrs.frozen
class Config:
    """A job that pipelines all edges streams, the others are batch jobs. With the extension `dynamic` the graph is
    dynamic: the parallelism of vertices may still be decided while the job runs.
    """

    chaining: Annotated[bool, "Whether operators are chained at all."]
    chain_different_max_parallelism: Annotated[bool, "Whether operators of unequal max parallelism may chain."]
    mode: Annotated[
        Mode,
        "How edges are treated whose exchange is undefined. A job that pipelines all edges streams; the others are "
        "batch jobs.",
    ]
    extension: Annotated[
        str | None,
        "With `dynamic` the graph is dynamic: a forward edge that nobody asked for becomes rescale if it is not "
        "chained. Only for engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))


DEFAULT_GROUP = "default"

# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """Nothing is remembered from one graph to the next."""

    config: Config


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class JobOperator:
    """A node of the program. Without a strategy it has the default one; a buffer timeout of -1 means none."""

    id: Annotated[int, "Unique in the graph."]
    name: Annotated[str, "Shown in the name of its vertex."]
    kind: Annotated[
        Kind,
        "A `source` has a split enumerator, a `legacy_source` runs a loop. Sources have no incoming edges and do "
        "not yield.",
    ]
    parallelism: Count = attrs.field(validator=at_least(1))
    max_parallelism: Annotated[MaxParallelism, "-1 where it is not set."] = attrs.field(
        default=-1, validator=chains.check_max_parallelism
    )
    slot_group: Annotated[str, "The slot sharing group."] = DEFAULT_GROUP
    yielding: Annotated[bool, "Whether the operator yields to the mailbox."] = False
    has_operator: Annotated[
        bool,
        "Whether it has an operator that can be called directly; without, it is not chained.",
    ] = True
    buffer_timeout: Annotated[Long, "In milliseconds; -1 where none is set."] = attrs.field(
        default=Long(-1), validator=[check_long, at_least(-1)]
    )
    strategy: Annotated[
        Strategy | None,
        "Whether it chains to the operator before it. Absent: `head` for a `legacy_source`, `always` for others.",
    ] = None


@attrs.frozen
class JobEdge:
    """An edge of the program, with the virtual nodes that it passes on the way from its source to its target."""

    source: Annotated[int, "The id of an operator."]
    target: Annotated[int, "The id of an operator."]
    input: Annotated[
        Position,
        "Which input of the target it enters. Several edges into one input are a union.",
    ] = attrs.field(default=0, validator=at_least(0))
    via: Annotated[tuple[VirtualNode, ...], "The virtual nodes between source and target, from the source on."] = ()
    dataset: Annotated[
        str | None,
        "The id under which a blocking result is kept for later jobs; absent if it is not kept.",
    ] = None


@attrs.frozen
class JobGraph:
    """A program, to be made into a job. Rejected where a `forward` edge that was asked for joins unequal parallelism,
    and where an operator with a buffer timeout writes a blocking result.
    """

    type: ClassVar[str] = "graph"
    operators: Annotated[tuple[JobOperator, ...], "The operators of the program."]
    edges: Annotated[tuple[JobEdge, ...], "Its edges, in the order in which they were made."]

    def __attrs_post_init__(self) -> None:
        # Everything that makes a graph no graph is found when a plan is made of it.
        forward = (
            chains.Link(edge.source, edge.target, Partitioner.FORWARD, Exchange.UNDEFINED) for edge in self.edges
        )
        chains.Plan(tuple(make_node(operator) for operator in self.operators), tuple(forward))


Event = JobGraph

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Member:
    """An operator of a vertex."""

    operator: Annotated[int, "Its id."]
    index: Annotated[
        Position,
        "Its depth in the chain: 1 for the head, one more for each edge below it, 0 for a chained source.",
    ]


@attrs.frozen
class JobVertex:
    """A chain, with its operators by id and the index of each."""

    type: ClassVar[str] = "vertex"
    head: Annotated[int, "The id of the operator that heads the chain."]
    name: Annotated[str, "The names of all operators of the chain."]
    parallelism: Annotated[Count, "That of the head."]
    max_parallelism: Annotated[MaxParallelism, "That of the head."]
    members: Annotated[tuple[Member, ...], "The operators of the chain, by ascending id.", Length(1)]


Observation = JobVertex | NetworkOutput

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    nodes = {operator.id: make_node(operator) for operator in event.operators}
    for edge in event.edges:
        if is_impossible(compute_route(edge.via).partitioner, nodes[edge.source], nodes[edge.target]):
            return rejected(state, "CHAIN-15")
    is_dynamic = state.config.extension == DYNAMIC
    links = tuple(make_link(edge, nodes, is_dynamic=is_dynamic) for edge in event.edges)
    plan = chains.Plan(
        tuple(nodes.values()), links, state.config.chaining, state.config.chain_different_max_parallelism
    )
    timeouts = {operator.id: operator.buffer_timeout for operator in event.operators}
    observations: list[Observation] = []
    for head in compute_completion(plan):
        outputs = compute_outputs(plan, state.config.mode, head)
        if any(output.result in BLOCKING and timeouts[output.operator] != -1 for output in outputs):
            return rejected(state, "CHAIN-27")
        observations += (make_vertex(plan, head), *outputs)
    hybrid = any(isinstance(seen, NetworkOutput) and seen.result in HYBRID for seen in observations)
    if hybrid and (state.config.mode in STREAMING or any(node.slot_group != DEFAULT_GROUP for node in nodes.values())):
        return rejected(state, "CHAIN-38")
    return (Outcome(state, tuple(observations), compute_rules(plan, event, observations)),)


def make_node(operator: JobOperator) -> chains.Node:
    fields = attrs.asdict(operator, filter=lambda field, _value: field.name not in ("buffer_timeout", "strategy"))
    return chains.Node(**fields, strategy=operator.strategy or compute_strategy(operator.kind))


def make_link(edge: JobEdge, nodes: dict[int, chains.Node], *, is_dynamic: bool) -> chains.Link:
    route = compute_route(edge.via)
    partitioner = compute_partitioner(route.partitioner, nodes[edge.source], nodes[edge.target])
    open_to_rescale = is_dynamic and route.partitioner is None and partitioner is Partitioner.FORWARD
    return chains.Link(
        edge.source, edge.target, partitioner, route.exchange, edge.input, route.tag, edge.dataset, open_to_rescale
    )


def make_vertex(plan: chains.Plan, head: int) -> JobVertex:
    """CHAIN-26: the numbers of a vertex are those of its head."""
    node = plan.node(head)
    members = tuple(Member(*member) for member in sorted(chains.compute_indices(plan, head).items()))
    return JobVertex(head, chains.compute_name(plan, head), node.parallelism, node.max_parallelism, members)


def compute_rules(plan: chains.Plan, event: Event, observations: list[Observation]) -> tuple[str, ...]:
    """The rules of chaining at work, then what was filled in, then what the job is made of."""
    outputs = [seen for seen in observations if isinstance(seen, NetworkOutput)]
    at_work = {
        "CHAIN-28": any(link.tag is not None for link in plan.links),
        "CHAIN-25": any(output.result not in PIPELINED for output in outputs),
        "CHAIN-22": len(outputs) > 1,
        "CHAIN-16": any(len(edge.via) > 1 for edge in event.edges),
        "CHAIN-15": any(compute_route(edge.via).partitioner is None for edge in event.edges),
        "CHAIN-14": any(operator.strategy is None for operator in event.operators),
        "CHAIN-23": bool(outputs),
        "CHAIN-24": bool(outputs),
        "CHAIN-38": any(output.result in HYBRID for output in outputs),
        "CHAIN-21": True,
        "CHAIN-26": True,
    }
    return (*chains.compute_rules(plan), *(rule for rule, is_at_work in at_work.items() if is_at_work))


# --- claims ---------------------------------------------------------------------------------------------------


def vertices_of(outcome: Outcome[State, Observation]) -> list[JobVertex]:
    return [seen for seen in outcome.observations if isinstance(seen, JobVertex)]


def outputs_of(outcome: Outcome[State, Observation]) -> list[NetworkOutput]:
    return [seen for seen in outcome.observations if isinstance(seen, NetworkOutput)]


@always("CHAIN-18", "CHAIN-19")
def each_operator_once(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Every operator belongs to exactly one vertex."""
    seen = [member.operator for vertex in vertices_of(outcome) for member in vertex.members]
    return Rejected() in outcome.observations or sorted(seen) == sorted(operator.id for operator in event.operators)


@always("CHAIN-18")
def consumers_are_completed_first(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A vertex is completed after every vertex that reads from it."""
    order = [vertex.head for vertex in vertices_of(outcome)]
    return all(
        order.index(consumer) < order.index(output.vertex)
        for output in outputs_of(outcome)
        for consumer in output.consumers
    )


@always("CHAIN-22", "CHAIN-25")
def each_edge_between_vertices_once(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Every edge between two vertices reads exactly one network output, and no other edge does."""
    home = {member.operator: vertex.head for vertex in vertices_of(outcome) for member in vertex.members}
    between = [(e.source, e.target) for e in event.edges if home.get(e.source) != home.get(e.target)]
    sent = [(output.operator, consumer) for output in outputs_of(outcome) for consumer in output.consumers]
    return sorted(sent) == sorted(between)


@always("CHAIN-22")
def outputs_of_the_head_last(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Among the outputs of a vertex, those of its head are the last."""
    return not any(
        one.vertex == one.operator == following.vertex != following.operator
        for one, following in pairwise(outputs_of(outcome))
    )


@always("CHAIN-25")
def pipelined_is_read_once(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A pipelined result has a single reader."""
    return all(len(output.consumers) == 1 for output in outputs_of(outcome) if output.result in PIPELINED)


@always("CHAIN-26")
def numbers_of_the_head(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A vertex has the parallelism and the max parallelism of its head."""
    numbers = {operator.id: (operator.parallelism, operator.max_parallelism) for operator in event.operators}
    return all(numbers[one.head] == (one.parallelism, one.max_parallelism) for one in vertices_of(outcome))


@always("CHAIN-28")
def tags_do_not_chain(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Without its output tags a graph has the same vertices."""
    edges = tuple(
        attrs.evolve(edge, via=tuple(node for node in edge.via if not isinstance(node, SideOutputNode)))
        for edge in event.edges
    )
    (untagged,) = step(before, JobGraph(event.operators, edges))
    return vertices_of(untagged) == vertices_of(outcome)


@sometimes("CHAIN-25")
def several_edges_share_an_output(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A network output has more than one reader."""
    return any(len(output.consumers) > 1 for output in outputs_of(outcome))
