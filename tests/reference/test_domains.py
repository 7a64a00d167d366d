"""The borders of what configs and events may say are where they are known to be."""

import pytest

from tests.reference.domains import find_domains, read_stored
from tidegate.reference.components import COMPONENTS


@pytest.mark.parametrize("component", COMPONENTS)
def test_numbers_are_taken_and_refused_as_they_are_known_to_be(component):
    """If a domain was changed on purpose, `python -m tests.reference.domains` writes what is taken now."""
    assert find_domains(component) == read_stored()[component]


def test_every_component_with_a_semantics_has_its_first_as_default():
    dated = {name: one.semantics[0] for name, one in COMPONENTS.items() if one.semantics}
    assert {name: read_stored()[name]["semantics"] for name in dated} == dated


def test_nothing_is_stored_of_what_is_no_component():
    assert set(read_stored()) == set(COMPONENTS)
