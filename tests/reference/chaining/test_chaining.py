"""Operator chaining: what is no graph, and claims. The directed traces say who is chained to whom."""

import attrs
import pytest

from tests.reference.chaining.words import read_operator
from tests.reference.walking import claim, walk
from tidegate.reference.chaining.chaining import step as chaining
from tidegate.reference.chaining.chaining.claims import FORWARD, SOURCE, make_operator
from tidegate.reference.chaining.chaining.step import Config, Edge, Exchange, Graph, Operator, State, Vertex
from tidegate.reference.chaining.chains import Kind, Link, Plan, Strategy
from tidegate.reference.chaining.job_graph import claims as job_graph_claims
from tidegate.reference.model import InvalidInputError, Outcome, Rejected
from tidegate.reference.partitioning.partitioner import Partitioner

ON = Config(chaining=True, chain_different_max_parallelism=True)


def operator(text):
    """`3 never wide`: operator 3 with what the words say, and otherwise as plain as can be."""
    plain = (Kind.OPERATOR, Strategy.ALWAYS, 2, -1, "default")
    return read_operator(text, lambda number, name: Operator(number, name, *plain, yielding=False))


def edge(text):
    source, target = map(int, text.split(">"))
    return Edge(source, target, Partitioner.FORWARD, Exchange.UNDEFINED)


def graph(operators, edges=""):
    return Graph(tuple(map(operator, operators.split(", "))), tuple(map(edge, edges.split(", "))) if edges else ())


@pytest.mark.rule("CHAIN-11")
def test_chain_11_a_long_line_of_yielding_operators_is_decided_quickly():
    operators = ", ".join(["1 legacy", *(f"{number} yielding" for number in range(2, 60))])
    edges = ", ".join(f"{number}>{number + 1}" for number in range(1, 59))
    (outcome,) = walk("chaining", ON, (graph(operators, edges),))
    assert [vertex.head for vertex in outcome.observations] == [1, 2]


def test_an_empty_graph_has_no_vertices():
    (outcome,) = walk("chaining", ON, (Graph((), ()),))
    assert outcome.observations == ()


# --- what is no graph -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operators", "edges", "message"),
    [
        ("1 source, 1", "1>1", "same id"),
        ("1 source, 2", "1>2, 2>3", "not there"),
        ("1 source, 2", "3>2", "not there"),
        ("1 source, 2 source", "1>2", "enters the source"),
        ("1 source, 2 legacy", "1>2", "enters the source"),
        ("1 source, 2", "", "not reached"),
        ("1 source, 2, 3", "2>3", "not reached"),
        ("1", "", "not reached"),
        ("1 source, 2", "1>2, 2>2", "cycle"),
        ("1 source, 2, 3", "1>2, 2>3, 3>2", "cycle"),
        ("1 source, 2, 3", "2>3, 3>2", "cycle"),
        ("1 source yielding, 2", "1>2", "yielding"),
        ("1 legacy yielding, 2", "1>2", "yielding"),
    ],
)
def test_what_is_no_graph_is_no_input(operators, edges, message):
    with pytest.raises(InvalidInputError, match=message):
        graph(operators, edges)


# --- claims, told of what is wrong ----------------------------------------------------------------------------

STATE = State(Config(chaining=True, chain_different_max_parallelism=True))


def holds(name, graph, *groups):
    vertices = tuple(Vertex(group[0], group, "") for group in groups)
    return claim("chaining", name)(STATE, graph, Outcome(STATE, vertices, ()))


def test_what_is_refused_has_no_vertices():
    assert chaining.vertices_of(Outcome(STATE, (Rejected(), Vertex(1, (1,), "")), ())) == [Vertex(1, (1,), "")]


@pytest.mark.parametrize(("most", "is_right"), [(-2, False), (-1, True), (0, False), (1, True), (2, True)])
def test_a_max_parallelism_is_one_or_more_or_none(most, is_right):
    if is_right:
        assert make_operator(2, max_parallelism=most).max_parallelism == most
    else:
        with pytest.raises(InvalidInputError):
            make_operator(2, max_parallelism=most)


def test_a_node_runs_once_at_least():
    assert attrs.evolve(SOURCE, parallelism=1).parallelism == 1
    with pytest.raises(InvalidInputError):
        attrs.evolve(SOURCE, parallelism=0)


def test_inputs_are_counted_from_0():
    assert Link(1, 2, FORWARD.partitioner, FORWARD.exchange).input == 0
    with pytest.raises(InvalidInputError):
        attrs.evolve(FORWARD, input=-1)


def test_a_link_that_1_5_would_not_have_chained_is_refused(monkeypatch):
    nodes = (SOURCE, make_operator(2), make_operator(3, slot_group="other"))
    plan = Plan(nodes, (FORWARD, attrs.evolve(FORWARD, source=2, target=3)))
    assert job_graph_claims.as_in_1_5.holds(plan)
    monkeypatch.setattr(job_graph_claims, "compute_refusals", lambda _plan, _link: ())
    assert not job_graph_claims.as_in_1_5.holds(plan)
