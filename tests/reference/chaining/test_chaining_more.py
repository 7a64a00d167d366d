"""The claims about chaining refuse what they are there to refuse; and what is no graph."""

import attrs
import pytest

from tidegate.reference.chaining.chaining import COMPONENT
from tidegate.reference.chaining.chaining import step as chaining
from tidegate.reference.chaining.chaining.claims import FORWARD, SOURCE, make_operator
from tidegate.reference.chaining.chaining.step import (
    Config,
    Edge,
    Exchange,
    Graph,
    Operator,
    State,
    Vertex,
)
from tidegate.reference.chaining.chains import Kind, Link, Plan, Strategy
from tidegate.reference.chaining.job_graph import claims as job_graph_claims
from tidegate.reference.model import InvalidInputError, Outcome, Rejected
from tidegate.reference.partitioning.partitioner import Partitioner

CLAIMS = {claim.name: claim for claim in COMPONENT.claims}
STATE = State(Config(chaining=True, chain_different_max_parallelism=True))


def make_graph(*changes):
    """A source and operators in a line, each with its changes."""
    plain = Operator(1, "1", Kind.SOURCE, Strategy.ALWAYS, 2, -1, "default", yielding=False)
    operators = tuple(
        attrs.evolve(plain, **{"id": number, "kind": Kind.OPERATOR if number > 1 else Kind.SOURCE, **change})
        for number, change in enumerate(changes, 1)
    )
    edges = tuple(
        Edge(number, number + 1, Partitioner.FORWARD, Exchange.UNDEFINED) for number in range(1, len(changes))
    )
    return Graph(operators, edges)


def holds(name, graph, *groups):
    vertices = tuple(Vertex(group[0], group, "") for group in groups)
    return CLAIMS[name].holds(STATE, graph, Outcome(STATE, vertices, ()))


@pytest.mark.parametrize("changed", [{"parallelism": 3}, {"slot_group": "other"}])
def test_one_vertex_that_is_not_uniform_is_refused(changed):
    graph = make_graph({}, changed, changed)
    assert holds("vertices-are-uniform", graph, (1,), (2, 3))
    assert not holds("vertices-are-uniform", graph, (1, 2), (3,))


def test_one_yielding_operator_behind_a_legacy_source_is_refused():
    graph = make_graph({"kind": Kind.LEGACY_SOURCE}, {"yielding": True}, {})
    assert holds("yielding-without-legacy-source", graph, (1,), (2, 3))
    assert not holds("yielding-without-legacy-source", graph, (1, 2), (3,))


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
