"""The claims about the job graph refuse what they are there to refuse."""

import pytest

from tidegate.reference.chaining.chains import Exchange, Kind, Partitioner, Strategy
from tidegate.reference.chaining.job_graph import COMPONENT
from tidegate.reference.chaining.job_graph import edges as job_edges
from tidegate.reference.chaining.job_graph import step as job_graph
from tidegate.reference.chaining.job_graph.edges import PartitionNode, Request, Route, SideOutputNode
from tidegate.reference.chaining.job_graph.outputs import Mode, NetworkOutput, Result
from tidegate.reference.chaining.job_graph.step import Config, JobEdge, JobGraph, JobOperator, JobVertex, Member
from tidegate.reference.model import InvalidInputError, Outcome
from tidegate.reference.partitioning.wiring import Pattern

CLAIMS = {claim.name: claim for claim in COMPONENT.claims}
CONFIG = Config(chaining=True, chain_different_max_parallelism=True, mode=Mode.ALL_EDGES_PIPELINED)
OPERATORS = (JobOperator(1, "1", Kind.SOURCE, 1), JobOperator(2, "2", Kind.OPERATOR, 1))


def make_state():
    (state,) = job_graph.start(CONFIG)
    return state


def make_vertex(*ids):
    return JobVertex(ids[0], "", 1, -1, tuple(Member(one, 1) for one in ids))


def test_inputs_are_counted_from_0():
    assert JobEdge(1, 2).input == 0
    with pytest.raises(InvalidInputError):
        JobEdge(1, 2, input=-1)


@pytest.mark.parametrize(("vertex", "consumer", "is_right"), [(1, 2, True), (2, 1, False), (1, 1, False)])
def test_a_vertex_is_complete_after_those_that_read_from_it(vertex, consumer, is_right):
    output = NetworkOutput(vertex, vertex, Partitioner.HASH, Pattern.ALL_TO_ALL, Result.PIPELINED_BOUNDED, (consumer,))
    outcome = Outcome(make_state(), (make_vertex(2), make_vertex(1), output), ())
    graph = JobGraph(OPERATORS, (JobEdge(1, 2),))
    assert CLAIMS["consumers-are-completed-first"].holds(make_state(), graph, outcome) == is_right


def test_a_graph_that_is_cut_by_its_tags_is_refused(monkeypatch):
    tagged = JobGraph(OPERATORS, (JobEdge(1, 2, via=(SideOutputNode("late"),)),))
    right = job_graph.step
    (outcome,) = right(make_state(), tagged)
    assert CLAIMS["tags-do-not-chain"].holds(make_state(), tagged, outcome)

    def cut_tagged(state, graph):
        if any(edge.via for edge in graph.edges):
            return (Outcome(state, (make_vertex(2), make_vertex(1)), ()),)
        return right(state, graph)

    monkeypatch.setattr(job_graph, "step", cut_tagged)
    (outcome,) = cut_tagged(make_state(), tagged)
    assert not CLAIMS["tags-do-not-chain"].holds(make_state(), tagged, outcome)


def test_a_source_that_nobody_configured_can_be_chained_to(monkeypatch):
    right = job_edges.compute_strategy
    never = {Kind.SOURCE: Strategy.NEVER}
    monkeypatch.setattr(
        job_edges, "compute_strategy", lambda kind, *more, **named: never.get(kind) or right(kind, *more, **named)
    )
    assert not CLAIMS["chaining-is-the-default"].holds("2.3", Request.NOTHING, "function", (1,))


# --- virtual nodes --------------------------------------------------------------------------------------------

HASH, REBALANCE = (
    PartitionNode(Partitioner.HASH, Exchange.PIPELINED),
    PartitionNode(Partitioner.REBALANCE, Exchange.BATCH),
)
LATE, ODD = SideOutputNode("late"), SideOutputNode("odd")
RIGHT = job_edges.compute_route


def change_route(**change):
    def compute(via):
        route = RIGHT(via)
        return Route(**{"partitioner": route.partitioner, "exchange": route.exchange, "tag": route.tag, **change})

    return compute


def from_the_other_end(*names):
    """Some of a route as if the edge was walked from its producer to its consumer."""

    def compute(via):
        route, turned = RIGHT(via), RIGHT(via[::-1])
        turned = {
            name: getattr(turned if name in names else route, name) for name in ("partitioner", "exchange", "tag")
        }
        return Route(**turned)

    return compute


def drop_partitioner_at_tag(via):
    """A wrong walk that forgets the partitioner where it meets a tag."""
    route = RIGHT(via)
    return Route(None, route.exchange, route.tag) if LATE in via else route


@pytest.mark.parametrize(
    ("wrong", "via", "node"),
    [
        (change_route(tag=None), (), LATE),
        (change_route(tag="odd"), (), LATE),
        (from_the_other_end("tag"), (ODD,), LATE),
        (from_the_other_end("partitioner"), (HASH,), REBALANCE),
        (from_the_other_end("exchange"), (HASH,), REBALANCE),
        (from_the_other_end("partitioner", "exchange"), (HASH,), REBALANCE),
        (drop_partitioner_at_tag, (HASH,), LATE),
        (change_route(partitioner=Partitioner.SHUFFLE), (HASH,), REBALANCE),
    ],
    ids=["no tag", "another tag", "last tag", "last partitioner", "first exchange", "both", "forgets", "another"],
)
def test_a_route_that_is_walked_otherwise_is_refused(monkeypatch, wrong, via, node):
    holds = CLAIMS["virtual-nodes-count-from-both-ends"].holds
    assert holds(via, node)
    monkeypatch.setattr(job_edges, "compute_route", wrong)
    assert not holds(via, node)


def forget_the_tag_behind_a_partitioner(via):
    route = RIGHT(via)
    return Route(route.partitioner, route.exchange, None) if via and via[0] == HASH else route


def test_a_partitioner_at_the_producers_end_does_not_take_the_tag_away(monkeypatch):
    monkeypatch.setattr(job_edges, "compute_route", forget_the_tag_behind_a_partitioner)
    assert not CLAIMS["virtual-nodes-count-from-both-ends"].holds((LATE,), HASH)


# --- the rules that a graph names -------------------------------------------------------------------------------


def compute_rules(*more, edges):
    (outcome,) = job_graph.step(make_state(), JobGraph((*OPERATORS, *more), edges))
    return set(outcome.rules)


def test_a_rule_is_named_as_soon_as_one_edge_or_operator_makes_use_of_it():
    more = JobOperator(3, "3", Kind.OPERATOR, 2), JobOperator(4, "4", Kind.OPERATOR, 1, strategy=Strategy.HEAD)
    edges = JobEdge(1, 2, via=(REBALANCE, LATE)), JobEdge(1, 3), JobEdge(2, 4)
    used = {"CHAIN-14", "CHAIN-15", "CHAIN-16", "CHAIN-22", "CHAIN-25", "CHAIN-28"}
    assert used <= compute_rules(*more, edges=edges)
    two = compute_rules(more[0], edges=edges[:2])
    assert used <= two


def test_rules_that_nothing_makes_use_of_are_not_named():
    rules = compute_rules(edges=(JobEdge(1, 2, via=(HASH,)),))
    assert not rules & {"CHAIN-15", "CHAIN-16", "CHAIN-22", "CHAIN-25", "CHAIN-28"}
    assert rules >= {"CHAIN-14", "CHAIN-23", "CHAIN-24"}
