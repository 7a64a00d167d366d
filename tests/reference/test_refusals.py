"""What is refused is what is known to be refused: by rules events, by claims wrong transitions, by laws faults."""

import pytest

from tests.reference import sabotage
from tests.reference.refusing import claims_of, file_of, find_refused, find_rejected, read_file, read_table
from tidegate.reference.components import COMPONENTS

CLAIMS = [(component, name) for component in COMPONENTS for name in claims_of(component)]
LAWS = [(component, law) for component, model in COMPONENTS.items() for law in model.laws]
#: Laws that no change of one answer breaks, and why that is right.
NOT_BROKEN = {
    "ten-attempts-at-a-file": "the answer is that there is no directory, of which nothing can be changed",
    "both-kinds-write-the-same-bytes": "both are written by one function, and changed alike",
    "types-agree": "it is about a table; no function is called",
}


@pytest.mark.parametrize("component", COMPONENTS)
def test_events_are_refused_by_the_rules_that_are_known(component):
    """If a rule was changed on purpose, `make refusals` writes this and all that follows anew."""
    assert find_rejected(component) == read_table(component).get("rejected", {})


@pytest.mark.parametrize(("component", "name"), CLAIMS)
def test_claims_refuse_the_kinds_of_wrong_transitions_that_are_known(component, name):
    assert find_refused(component, claims_of(component)[name]) == read_table(component)["claims"][name]


@pytest.mark.parametrize(("component", "law"), LAWS, ids=[f"{component}-{law.name}" for component, law in LAWS])
def test_laws_refuse_faults_of_the_functions_that_are_known(component, law):
    assert " ".join(sabotage.find_refused(law)) == read_table(component)["laws"][law.name]


def test_every_claim_refuses_something_wrong():
    """A claim that holds of every wrong transition says nothing."""
    assert not [pair for pair in CLAIMS if read_table(pair[0])["claims"][pair[1]] in ("", "right")]


def test_every_law_refuses_a_fault():
    """A law that holds whatever its functions answer says nothing."""
    assert {law.name for component, law in LAWS if not read_table(component)["laws"][law.name]} == {*NOT_BROKEN}


def test_nothing_is_known_of_what_is_not_there():
    tables = {component: table for file in map(file_of, COMPONENTS) for component, table in read_file(file).items()}
    known = [(component, name) for component, table in tables.items() for name in table.get("claims", ())]
    assert sorted(known) == sorted(CLAIMS)
    known = [(component, name) for component, table in tables.items() for name in table.get("laws", ())]
    assert sorted(known) == sorted((component, law.name) for component, law in LAWS)
