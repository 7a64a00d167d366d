"""What makes no vertex; the directed traces say what the others are set to."""

import pytest

from tidegate.reference.chaining import vertex_settings as settings
from tidegate.reference.chaining.vertex_settings import ChainedSource, Operator
from tidegate.reference.model import InvalidInputError


def make(*operators, sources=()):
    (state,) = settings.start(settings.Config(4, -1, dynamic=False, checkpoints=False))
    (outcome,) = settings.step(state, settings.MakeVertex(operators, sources))
    return outcome.observations[0]


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
