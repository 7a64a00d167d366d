"""The default action of the mailbox in corners; and its claim refuses what it is there to refuse."""

import pytest

from tidegate.reference.input.network_input.values import InputStatus
from tidegate.reference.mailbox import default_action
from tidegate.reference.mailbox.default_action import Decision, compute_decision

LAW = default_action.waits_for_what_is_missing
MORE, NOTHING = InputStatus.MORE_AVAILABLE, InputStatus.NOTHING_AVAILABLE


@pytest.mark.rule("MBOX-13")
def test_an_input_that_says_it_has_more_is_not_asked_again_whether_it_has():
    assert compute_decision(MORE, output=True, more_input=False, changelog=True) is Decision.AGAIN
    assert compute_decision(NOTHING, output=True, more_input=False, changelog=True) is Decision.WAIT_FOR_INPUT


@pytest.mark.rule("MBOX-13")
@pytest.mark.parametrize("status", [MORE, NOTHING])
def test_without_a_changelog_nobody_waits_for_it(status):
    assert compute_decision(status, output=True, more_input=True) is Decision.AGAIN


@pytest.mark.parametrize(
    ("status", "there", "decision", "is_right"),
    [
        (InputStatus.STOPPED, (True, True, True), Decision.FINISH_WITHOUT_DRAIN, True),
        (InputStatus.STOPPED, (True, True, True), Decision.AGAIN, False),
        (InputStatus.STOPPED, (False, True, True), Decision.WAIT_FOR_OUTPUT, False),
        (InputStatus.END_OF_DATA, (True, False, True), Decision.WAIT_FOR_INPUT, False),
        (InputStatus.END_OF_INPUT, (True, True, False), Decision.WAIT_FOR_CHANGELOG, False),
        (MORE, (True, False, True), Decision.AGAIN, True),
        (NOTHING, (True, True, True), Decision.AGAIN, True),
        (NOTHING, (True, False, True), Decision.AGAIN, False),
        (MORE, (False, True, True), Decision.AGAIN, False),
        (MORE, (True, True, False), Decision.AGAIN, False),
        (NOTHING, (True, False, True), Decision.WAIT_FOR_INPUT, True),
        (NOTHING, (True, False, True), Decision.WAIT_FOR_OUTPUT, False),
        (NOTHING, (False, False, True), Decision.WAIT_FOR_INPUT, False),
        (NOTHING, (True, True, True), Decision.WAIT_FOR_INPUT, False),
    ],
)
def test_what_is_there_is_not_waited_for_and_the_end_waits_for_nothing(monkeypatch, status, there, decision, is_right):
    monkeypatch.setattr(default_action, "compute_decision", lambda _status, **_there: decision)
    assert LAW.holds(status, *there) == is_right
