"""The settings of a vertex, rule by rule."""

import pytest

from tidegate.reference.chaining import vertex_settings as settings
from tidegate.reference.chaining.vertex_settings import ChainedSource, Operator
from tidegate.reference.model import InvalidInputError, Rejected


def make(*operators, sources=(), most=-1, dynamic=False, checkpoints=False, job=-1):
    (state,) = settings.start(settings.Config(4, job, dynamic, checkpoints))
    (outcome,) = settings.step(state, settings.MakeVertex(operators, sources, most))
    return outcome.observations[0]


@pytest.mark.rule("VERT-1")
def test_vert_1_one_member_that_was_configured_is_enough():
    assert not make(Operator("a"), Operator("b")).configured
    assert make(Operator("a"), Operator("b", configured=True)).configured
    assert make(Operator("a"), sources=(ChainedSource("s"), ChainedSource("t", configured=True))).configured


@pytest.mark.rule("VERT-2")
def test_vert_2_only_a_dynamic_graph_leaves_it_open():
    assert make(Operator("a"), dynamic=True).parallelism == -1
    assert make(Operator("a", configured=True), dynamic=True).parallelism == 4
    assert make(Operator("a")).parallelism == 4


@pytest.mark.rule("VERT-3")
@pytest.mark.parametrize(("job", "own", "most"), [(-1, -1, -1), (4, -1, 4), (4, 10, 10), (-1, 10, 10)])
def test_vert_3_max_parallelism(job, own, most):
    assert make(Operator("a"), job=job, most=own).max_parallelism == most


@pytest.mark.rule("VERT-4")
def test_vert_4_all_members_or_none():
    assert make(Operator("a"), Operator("b")).concurrent
    assert not make(Operator("a"), Operator("b", concurrent=False)).concurrent
    assert not make(Operator("a"), sources=(ChainedSource("s", concurrent=False),)).concurrent


@pytest.mark.rule("VERT-5")
def test_vert_5_one_line():
    tree = (Operator("a"), Operator("b"), Operator("c"), Operator("d", 1))
    assert make(*tree, sources=(ChainedSource("s"), ChainedSource("t"))).description == "a [s, t] -> (b -> d , c)"


@pytest.mark.rule("VERT-6")
def test_vert_6_selecting_and_checkpoints_exclude_each_other():
    assert make(Operator("a"), Operator("b", selects=True), checkpoints=True) == Rejected()
    assert make(Operator("a"), Operator("b", selects=True)) != Rejected()


@pytest.mark.rule("VERT-7")
def test_vert_7_a_coordinator_for_each_source():
    assert make(Operator("a"), Operator("b")).coordinators == 1
    assert make(Operator("a"), sources=(ChainedSource("s"), ChainedSource("t"))).coordinators == 2


def test_an_operator_follows_the_one_that_it_is_chained_to():
    with pytest.raises(InvalidInputError, match="does not precede"):
        make(Operator("a"), Operator("b", 1))


@pytest.mark.parametrize("make_nameless", [Operator, ChainedSource])
def test_everybody_has_a_description(make_nameless):
    assert make(Operator("a"), sources=(ChainedSource("s"),)).description == "a [s]"
    with pytest.raises(ValueError, match="description"):
        make_nameless("")


def test_a_head_has_as_many_sources_as_an_operator_has_inputs():
    sources = tuple(ChainedSource(f"s{number}") for number in range(64))
    assert make(Operator("a"), sources=sources[:63]).coordinators == 63
    with pytest.raises(InvalidInputError, match="at most 63"):
        make(Operator("a"), sources=sources)
