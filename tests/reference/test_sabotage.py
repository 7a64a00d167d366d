"""Every law refuses faults of the functions that it is about, and exactly those that it is known to refuse."""

import pytest

from tests.reference.sabotage import count_refused, laws, read_stored

#: Laws that no change of one answer breaks, and why that is right.
NOT_BROKEN = {
    "partitioner draws-reach-every-channel": "draws that are all one higher reach every channel, too",
    "deserializer ten-attempts-at-a-file": "the answer is that there is no directory, of which nothing can be changed",
    "exchange types-agree": "it is about a table; no function is called",
    "credit_receiver no-information-changes-no-plan": "both plans are made by the same functions, and stay the same",
}


@pytest.mark.parametrize("key", laws())
def test_laws_refuse_the_faults_that_they_are_known_to_refuse(key):
    """If a law was changed on purpose, `python -m tests.reference.sabotage` counts anew."""
    assert count_refused(key) == read_stored()[key]


def test_no_law_is_stored_that_is_none():
    assert list(read_stored()) == list(laws())


def test_every_law_refuses_a_fault():
    """A law that holds whatever its functions answer says nothing."""
    assert {key for key, refused in read_stored().items() if not sum(refused.values())} == {*NOT_BROKEN}
