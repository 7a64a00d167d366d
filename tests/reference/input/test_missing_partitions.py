"""Partitions that were not found, rule by rule."""

import pytest

from tests.reference.walking import seen

ASKED = "0missing 0is:{}"


@pytest.mark.rule("PROD-2")
@pytest.mark.parametrize("producer", ["scheduled", "deploying", "initializing", "running", "finished", "timeout"])
def test_prod_2_a_producer_that_may_be_there_is_asked_again(producer):
    assert seen("missing_partitions", {"channels": 1}, ASKED.format(producer))[-1] == "retry(channel 0)"


@pytest.mark.rule("PROD-3")
@pytest.mark.parametrize("producer", ["canceling", "canceled", "failed", "disposed"])
def test_prod_3_a_producer_that_is_gone_cancels(producer):
    assert seen("missing_partitions", {"channels": 1}, ASKED.format(producer))[-1] == "cancel"


@pytest.mark.rule("PROD-5")
@pytest.mark.parametrize("producer", ["created", "reconciling", "error"])
def test_prod_5_anything_else_fails(producer):
    assert seen("missing_partitions", {"channels": 1}, ASKED.format(producer))[-1] == "fail"


@pytest.mark.rule("PROD-4")
@pytest.mark.parametrize("state", ["created", "scheduled", "finished", "canceling", "canceled", "failed"])
def test_prod_4_who_does_not_read_does_not_care(state):
    assert seen("missing_partitions", {"channels": 1}, f"task:{state} 0missing 0is:failed")[-1] == "nothing"


@pytest.mark.rule("PROD-1")
def test_prod_1_asked_once_and_answered_once():
    trace = "0missing 0missing 0is:running 0is:running 1missing"
    expected = ["ask(channel 0)", "rejected", "retry(channel 0)", "rejected", "rejected"]
    assert seen("missing_partitions", {"channels": 1}, trace) == expected
