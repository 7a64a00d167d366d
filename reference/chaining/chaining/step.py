"""What operator chaining does: where it starts, and what each event leads to."""

from enum import StrEnum
from typing import ClassVar

import attrs

from tidegate.reference.chaining import chains
from tidegate.reference.chaining.chains import Kind, Link, Node, Plan, Strategy, check_max_parallelism
from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import at_least
from tidegate.reference.model import Outcome
from tidegate.reference.partitioning.partitioner import Partitioner

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    chaining: bool
    chain_different_max_parallelism: bool


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
    id: int
    name: str
    kind: Kind
    strategy: Strategy
    parallelism: int = attrs.field(validator=at_least(1))
    max_parallelism: int = attrs.field(validator=check_max_parallelism)
    slot_group: str
    yielding: bool


@attrs.frozen
class Edge:
    source: int
    target: int
    partitioner: Partitioner
    exchange: Exchange


@attrs.frozen
class Graph:
    """A graph of operators, to be divided into vertices."""

    type: ClassVar[str] = "graph"
    operators: tuple[Operator, ...]
    edges: tuple[Edge, ...]

    def __attrs_post_init__(self) -> None:
        # Everything that makes a graph no graph is found when its plan is made.
        make_plan(Config(chaining=True, chain_different_max_parallelism=True), self)


Event = Graph

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Vertex:
    """A chain: its head, all of its operators by id, and its name."""

    type: ClassVar[str] = "vertex"
    head: int
    operators: tuple[int, ...]
    name: str


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
