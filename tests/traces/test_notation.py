"""Observations in short notation are read back as they are written."""

import pytest

from tidegate.conformance.judging.golden import read_golden
from tidegate.reference.chaining.vertex_settings import Vertex
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import Rejected
from tidegate.traces.codec import DecodeError
from tidegate.traces.notation.text import read_observations, write_observations


@pytest.mark.parametrize("component", COMPONENTS)
def test_observations_are_read_back_as_they_are_written(component):
    shown = {step for case in read_golden(component) for step in case.expect or ()}
    assert all(read_observations(component, write_observations(one)) == one for one in shown)
    assert len(shown) > 1


@pytest.mark.parametrize(
    "text", ["", "a", "3", "a, b", 'a "b"', '"a"', "(a)", "a) or nothing", "a | b", "null", "a\n", "é"]
)
def test_whatever_a_text_holds_it_is_read_back(text):
    written = write_observations(
        (
            Vertex(text, parallelism=1, configured=True, max_parallelism=1, concurrent=False, coordinators=0),
            Rejected(text),
            Rejected(),
        )
    )
    assert " or " not in written
    assert " | " not in written
    vertex, refused, _without = read_observations("vertex_settings", written)
    assert (vertex.description, refused.reason) == (text, text)


@pytest.mark.parametrize(
    "text", ["", "vertex", "vertex(", "nothing, nothing", "rejected, ", "rejected rejected", "rejected(why [)"]
)
def test_what_is_no_observation_is_refused(text):
    with pytest.raises(DecodeError):
        read_observations("vertex_settings", text)
