"""Every claim refuses something, and exactly the wrong transitions that it is known to refuse."""

import pytest

from tests.reference.refusing import FOLDER, claims_of, count_refused, read_stored
from tidegate.reference.components import COMPONENTS

CLAIMS = [(component, name) for component in COMPONENTS for name in claims_of(component)]


@pytest.mark.parametrize(("component", "name"), CLAIMS)
def test_claims_refuse_what_they_are_known_to_refuse(component, name):
    """If a claim was changed on purpose, `python -m tests.reference.refusing` counts anew."""
    assert count_refused(component, claims_of(component)[name]) == read_stored(component)["refused"][name]


def test_no_claim_is_stored_that_is_none():
    stored = [(file.stem, name) for file in FOLDER.glob("*.json") for name in read_stored(file.stem)["refused"]]
    assert sorted(stored) == sorted(CLAIMS)


@pytest.mark.parametrize(("component", "name"), CLAIMS)
def test_every_claim_refuses_something_wrong(component, name):
    """A claim that holds of every wrong transition says nothing."""
    refused = read_stored(component)["refused"][name]
    assert sum(count for kind, count in refused.items() if kind != "right") > 0
