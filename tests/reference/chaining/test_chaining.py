"""Operator chaining: each condition alone, chained sources, the walk back from yielding operators, names."""

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
STRICT = Config(chaining=True, chain_different_max_parallelism=False)
OFF = Config(chaining=False, chain_different_max_parallelism=True)
FORMED = ("CHAIN-19", "CHAIN-20", "CHAIN-18")


def operator(text):
    """`3 never wide`: operator 3 with what the words say, and otherwise as plain as can be."""
    plain = (Kind.OPERATOR, Strategy.ALWAYS, 2, -1, "default")
    return read_operator(text, lambda number, name: Operator(number, name, *plain, yielding=False))


def edge(text):
    """`1>2 rebalance batch`: an edge, forward and undefined unless told otherwise."""
    ends, *words = text.split()
    source, target = map(int, ends.split(">"))
    partitioner, exchange = Partitioner.FORWARD, Exchange.UNDEFINED
    for word in words:
        if word in set(Exchange):
            exchange = Exchange(word)
        else:
            partitioner = Partitioner(word)
    return Edge(source, target, partitioner, exchange)


def graph(operators, edges=""):
    return Graph(tuple(map(operator, operators.split(", "))), tuple(map(edge, edges.split(", "))) if edges else ())


def run(config, operators, edges=""):
    (outcome,) = walk("chaining", config, (graph(operators, edges),))
    return outcome


def names(config, operators, edges=""):
    return [vertex.name for vertex in run(config, operators, edges).observations]


# --- conditions -----------------------------------------------------------------------------------------------

SOURCE_MAP = "1 source, 2"
BROKEN = [
    ("CHAIN-3", ON, "1 source, 2 other_group", "1>2"),
    ("CHAIN-4", ON, "1 source never, 2", "1>2"),
    ("CHAIN-5", ON, "1 source, 2 never", "1>2"),
    ("CHAIN-5", ON, "1 source, 2 head", "1>2"),
    ("CHAIN-5", ON, "1 legacy, 2 with_sources", "1>2"),
    *(("CHAIN-6", ON, SOURCE_MAP, f"1>2 {kind}") for kind in Partitioner if kind is not Partitioner.FORWARD),
    ("CHAIN-7", ON, "1 source, 2 wide", "1>2"),
    ("CHAIN-8", OFF, SOURCE_MAP, "1>2"),
    ("CHAIN-9", ON, SOURCE_MAP, "1>2 batch"),
    ("CHAIN-10", STRICT, "1 source, 2 max", "1>2"),
    ("CHAIN-11", ON, "1 legacy, 2 yielding", "1>2"),
    ("CHAIN-1", ON, SOURCE_MAP, "1>2, 1>2"),
    ("CHAIN-1", ON, "1 source, 2 with_sources", "1>2, 1>2"),
]


@pytest.mark.rule(*dict.fromkeys(rule for rule, *_ in BROKEN))
@pytest.mark.parametrize(("rule", "config", "operators", "edges"), BROKEN)
def test_a_single_broken_condition_separates_and_is_named_first(rule, config, operators, edges):
    outcome = run(config, operators, edges)
    assert outcome.observations == (Vertex(1, (1,), "n1"), Vertex(2, (2,), "n2"))
    assert outcome.rules == (rule, *FORMED)


PASSED = [
    ((), ON, SOURCE_MAP, "1>2"),
    (("CHAIN-4",), ON, "1 source head, 2", "1>2"),
    (("CHAIN-4",), ON, "1 source with_sources, 2", "1>2"),
    (("CHAIN-9",), ON, SOURCE_MAP, "1>2 pipelined"),
    (("CHAIN-10",), ON, "1 source, 2 max", "1>2"),
    (("CHAIN-11",), ON, "1 source, 2 yielding", "1>2"),
]


@pytest.mark.rule("CHAIN-4", "CHAIN-9", "CHAIN-10", "CHAIN-11", "CHAIN-19")
@pytest.mark.parametrize(("rules", "config", "operators", "edges"), PASSED)
def test_a_difference_that_is_tolerated_is_named(rules, config, operators, edges):
    outcome = run(config, operators, edges)
    assert outcome.observations == (Vertex(1, (1, 2), "n1 -> n2"),)
    assert outcome.rules == (*rules, *FORMED)


@pytest.mark.rule("CHAIN-10")
def test_chain_10_equal_max_parallelism_is_chained_when_it_counts():
    assert names(STRICT, "1 source max, 2 max", "1>2") == ["n1 -> n2"]


@pytest.mark.rule("CHAIN-1")
def test_chain_1_no_edge_of_a_union_is_chained():
    assert names(ON, "1 source, 2 source, 3, 4", "1>3, 2>3, 3>4") == ["n1", "n2", "n3 -> n4"]


def test_conditions_broken_together_come_after_those_broken_alone():
    outcome = run(ON, "1 source, 2 other_group wide, 3 head other_group wide", "1>2 batch, 2>3")
    assert outcome.rules == ("CHAIN-5", "CHAIN-3", "CHAIN-7", "CHAIN-9", *FORMED)


# --- yielding operators ---------------------------------------------------------------------------------------


@pytest.mark.rule("CHAIN-11")
@pytest.mark.parametrize(
    ("operators", "edges", "expected"),
    [
        # Several operators away; the cut is in front of the yielding operator.
        ("1 legacy, 2, 3, 4 yielding, 5", "1>2, 2>3, 3>4, 4>5", ["n1 -> n2 -> n3", "n4 -> n5"]),
        # Behind a cut it is no longer headed by the source.
        ("1 legacy, 2 yielding, 3 yielding", "1>2, 2>3", ["n1", "n2 -> n3"]),
        # A chain that is cut on the way for another reason begins anew.
        ("1 legacy, 2 head, 3 yielding", "1>2, 2>3", ["n1", "n2 -> n3"]),
        ("1 legacy, 2, 3 yielding", "1>2 rescale, 2>3", ["n1", "n2 -> n3"]),
        ("1 legacy, 2, 3, 4 yielding", "1>2, 1>2, 2>3, 3>4", ["n1", "n2 -> n3 -> n4"]),
        # Only the yielding branch is cut.
        ("1 legacy, 2, 3 yielding, 4", "1>2, 2>3, 2>4", ["n1 -> n2 -> n4", "n3"]),
        ("1 source, 2, 3 yielding", "1>2, 2>3", ["n1 -> n2 -> n3"]),
    ],
)
def test_chain_11_the_head_of_the_chain_decides(operators, edges, expected):
    assert names(ON, operators, edges) == expected


@pytest.mark.rule("CHAIN-11")
def test_chain_11_a_cut_upstream_lets_a_yielding_operator_join_its_predecessor():
    """So to break one edge may join others, against what one would expect."""
    assert names(ON, "1 legacy, 2, 3 yielding", "1>2, 2>3") == ["n1 -> n2", "n3"]
    assert names(ON, "1 legacy, 2 wide, 3 yielding wide", "1>2, 2>3") == ["n1", "n2 -> n3"]


@pytest.mark.rule("CHAIN-11")
def test_chain_11_a_long_line_of_yielding_operators_is_decided_quickly():
    operators = ", ".join(["1 legacy", *(f"{number} yielding" for number in range(2, 60))])
    edges = ", ".join(f"{number}>{number + 1}" for number in range(1, 59))
    assert [vertex.head for vertex in run(ON, operators, edges).observations] == [1, 2]


# --- chained sources ------------------------------------------------------------------------------------------


@pytest.mark.rule("CHAIN-17", "CHAIN-20")
@pytest.mark.parametrize(
    ("operators", "edges", "expected"),
    [
        ("1 source, 2 with_sources, 3", "1>2, 2>3", [Vertex(2, (1, 2, 3), "n2 [n1] -> n3")]),
        ("9 source, 2 with_sources yielding", "9>2 pipelined", [Vertex(2, (2, 9), "n2 [n9]")]),
        ("1 source head, 2 with_sources, 3, 4", "1>2, 2>4, 2>3", [Vertex(2, (1, 2, 3, 4), "n2 [n1] -> (n4, n3)")]),
        # A second edge out of the source, and it is chained like any other operator.
        ("1 source, 2 with_sources, 3", "1>2, 1>3", [Vertex(1, (1, 2, 3), "n1 -> (n2, n3)")]),
        ("1 source, 2 with_sources, 3 head", "1>2, 1>3", [Vertex(1, (1, 2), "n1 -> n2"), Vertex(3, (3,), "n3")]),
        # Two sources into the one input are a union.
        (
            "1 source, 2 source, 3 with_sources",
            "1>3, 2>3",
            [Vertex(1, (1,), "n1"), Vertex(2, (2,), "n2"), Vertex(3, (3,), "n3")],
        ),
        ("1 source never, 2 with_sources", "1>2", [Vertex(1, (1,), "n1"), Vertex(2, (2,), "n2")]),
        ("1 source, 2 with_sources other_group", "1>2", [Vertex(1, (1,), "n1"), Vertex(2, (2,), "n2")]),
    ],
)
def test_chain_17_sources_run_inside_a_head_that_takes_them(operators, edges, expected):
    assert list(run(ON, operators, edges).observations) == expected


@pytest.mark.rule("CHAIN-17")
def test_chain_17_is_named_for_what_it_decides():
    assert run(ON, "1 source, 2 with_sources", "1>2").rules == ("CHAIN-17", "CHAIN-5", *FORMED)
    assert run(ON, "1 source, 2 source, 3 with_sources", "1>3, 2>3").rules == ("CHAIN-1", *FORMED)


# --- vertices and names ---------------------------------------------------------------------------------------


@pytest.mark.rule("CHAIN-18", "CHAIN-20")
def test_chain_20_names_follow_the_order_of_edges_and_nest():
    operators = "1 source, 2, 3, 4, 5, 6"
    assert names(ON, operators, "1>2, 1>3, 3>4, 3>5, 5>6") == ["n1 -> (n2, n3 -> (n4, n5 -> n6))"]
    assert names(ON, operators, "5>6, 3>5, 3>4, 1>3, 1>2") == ["n1 -> (n3 -> (n5 -> n6, n4), n2)"]


@pytest.mark.rule("CHAIN-19")
def test_chain_19_vertices_are_ordered_by_head_whatever_the_order_of_the_graph():
    outcome = run(ON, "7 head, 3, 9 source, 1 never", "3>1, 9>7, 7>3")
    assert outcome.observations == (Vertex(1, (1,), "n1"), Vertex(7, (3, 7), "n7 -> n3"), Vertex(9, (9,), "n9"))


def test_a_name_is_taken_as_it_is():
    odd = (attrs.evolve(operator("1 source"), name="a -> [b], (c)"), attrs.evolve(operator("2"), name=""))
    (outcome,) = walk("chaining", ON, (Graph(odd, (edge("1>2"),)),))
    assert outcome.observations == (Vertex(1, (1, 2), "a -> [b], (c) -> "),)


def test_an_empty_graph_has_no_vertices():
    (outcome,) = walk("chaining", ON, (Graph((), ()),))
    assert outcome.observations == ()


def test_a_graph_leaves_no_trace_in_the_next():
    _first, second = walk("chaining", ON, (graph("1 source, 2", "1>2 batch"), graph("1 source, 2", "1>2")))
    assert second == run(ON, "1 source, 2", "1>2")


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
