"""What operator chaining does: where it starts, and what each event leads to."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.chaining import chains
from tidegate.reference.chaining.chains import Kind, Link, Node, Plan, Strategy, check_max_parallelism
from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import Count, Length, MaxParallelism, at_least
from tidegate.reference.model import Outcome
from tidegate.reference.partitioning.partitioner import Partitioner

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """What the job allows."""

    chaining: Annotated[bool, "Whether operators are chained at all."]
    chain_different_max_parallelism: Annotated[bool, "Whether operators of unequal max parallelism may chain."]


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """Nothing is remembered from one graph to the next."""

    config: Config


# --- events ---------------------------------------------------------------------------------------------------


class Exchange(StrEnum):
    UNDEFINED = "undefined"
    PIPELINED = "pipelined"
    BATCH = "batch"


@attrs.frozen
class Operator:
    """An operator of the graph."""

    id: Annotated[int, "Unique in the graph."]
    name: Annotated[str, "Shown in the name of its vertex."]
    kind: Annotated[
        Kind,
        "A `source` has a split enumerator, a `legacy_source` runs a loop. Sources have no incoming edges and do "
        "not yield.",
    ]
    strategy: Annotated[Strategy, "Whether it chains to the operator before it."]
    parallelism: Count = attrs.field(validator=at_least(1))
    max_parallelism: Annotated[MaxParallelism, "-1 where it is not set."] = attrs.field(validator=check_max_parallelism)
    slot_group: Annotated[str, "The slot sharing group."]
    yielding: Annotated[bool, "Whether the operator yields to the mailbox."]


@attrs.frozen
class Edge:
    """An edge of the graph."""

    source: Annotated[int, "The id of an operator."]
    target: Annotated[int, "The id of an operator."]
    partitioner: Annotated[
        Partitioner,
        "How records are spread. A `forward` edge between unequal parallelism does not chain.",
    ]
    exchange: Annotated[Exchange, "How data is handed over: while it is produced, or when it is complete."]


@attrs.frozen
class Graph:
    """A graph of operators, to be divided into vertices."""

    type: ClassVar[str] = "graph"
    operators: Annotated[tuple[Operator, ...], "The operators of the graph."]
    edges: Annotated[tuple[Edge, ...], "Its edges, in the order in which they were made."]

    def __attrs_post_init__(self) -> None:
        # Everything that makes a graph no graph is found when its plan is made.
        make_plan(Config(chaining=True, chain_different_max_parallelism=True), self)


Event = Graph

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Vertex:
    """A chain of operators. Ordered by the id of the head."""

    type: ClassVar[str] = "vertex"
    head: Annotated[
        int,
        "The id of the operator that heads the chain. A source chained into a `head_with_sources` operator does not.",
    ]
    operators: Annotated[tuple[int, ...], "The ids of all operators in the chain, ascending.", Length(1)]
    name: Annotated[str, "The names of all operators of the chain (CHAIN-20)."]


Observation = Vertex

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    return (on_graph(state, event),)


def on_graph(state: State, graph: Graph) -> Outcome[State, Observation]:
    plan = make_plan(state.config, graph)
    vertices = tuple(make_vertex(plan, head) for head in chains.compute_heads(plan))
    # With one input for each operator, to share an input is to have several edges.
    rules = ("CHAIN-1" if rule == "CHAIN-12" else rule for rule in chains.compute_rules(plan))
    return Outcome(state, vertices, tuple(dict.fromkeys(rules)))


def make_plan(config: Config, graph: Graph) -> Plan:
    nodes = tuple(Node(**attrs.asdict(operator)) for operator in graph.operators)
    links = tuple(
        Link(edge.source, edge.target, chains.Partitioner(edge.partitioner), chains.Exchange(edge.exchange))
        for edge in graph.edges
    )
    return Plan(nodes, links, config.chaining, config.chain_different_max_parallelism)


def make_vertex(plan: Plan, head: int) -> Vertex:
    return Vertex(head, tuple(sorted(chains.compute_indices(plan, head))), chains.compute_name(plan, head))


# --- claims ---------------------------------------------------------------------------------------------------


def members_of(event: Event, vertex: Vertex) -> list[Operator]:
    return [operator for operator in event.operators if operator.id in vertex.operators]


@always("CHAIN-19")
def each_operator_once(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Every operator belongs to exactly one vertex."""
    seen = [member for vertex in vertices_of(outcome) for member in vertex.operators]
    return sorted(seen) == sorted(operator.id for operator in event.operators)


@always("CHAIN-1", "CHAIN-19")
def vertices_are_trees(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Below its head, a vertex holds only operators with one edge into them, which comes from the same vertex."""
    for vertex in vertices_of(outcome):
        below = {member.id for member in members_of(event, vertex) if member.kind is Kind.OPERATOR} - {vertex.head}
        for member in below:
            sources = [edge.source for edge in event.edges if edge.target == member]
            if len(sources) != 1 or sources[0] not in vertex.operators:
                return False
    return True


@always("CHAIN-3", "CHAIN-7")
def vertices_are_uniform(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The operators of a vertex have one parallelism and one slot sharing group."""
    return all(
        len({(member.parallelism, member.slot_group) for member in members_of(event, vertex)}) == 1
        for vertex in vertices_of(outcome)
    )


@always("CHAIN-8")
def off_means_apart(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Where chaining is switched off, every operator has a vertex of its own."""
    return before.config.chaining or len(outcome.observations) == len(event.operators)


@always("CHAIN-4", "CHAIN-5")
def never_is_alone(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An operator that is never chained has a vertex of its own."""
    groups = [members_of(event, vertex) for vertex in vertices_of(outcome) if len(vertex.operators) > 1]
    return not any(member.strategy is Strategy.NEVER for group in groups for member in group)


@always("CHAIN-11")
def yielding_without_legacy_source(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No vertex holds both a legacy source and a yielding operator."""
    groups = [members_of(event, vertex) for vertex in vertices_of(outcome)]
    return not any(
        any(member.yielding for member in group) and any(member.kind is Kind.LEGACY_SOURCE for member in group)
        for group in groups
    )


@always("CHAIN-18")
def edge_order_shows_in_names_only(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The order of operators and edges changes nothing but the order inside names."""
    turned = on_graph(before, Graph(event.operators[::-1], event.edges[::-1]))
    return [(v.head, v.operators) for v in vertices_of(turned)] == [(v.head, v.operators) for v in vertices_of(outcome)]


def vertices_of(outcome: Outcome[State, Observation]) -> list[Vertex]:
    return [seen for seen in outcome.observations if isinstance(seen, Vertex)]


@sometimes("CHAIN-1")
def together_and_apart(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """In one graph some operators share a vertex and others stay apart."""
    return len(outcome.observations) > 1 and any(len(vertex.operators) > 1 for vertex in vertices_of(outcome))
