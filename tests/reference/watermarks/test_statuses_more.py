"""Statuses in corners that no trace comes to, and a claim about them told of what is refused."""

from tidegate.reference.elements import Status
from tidegate.reference.watermarks.statuses import Config, Record, records_pass_while_idle, start, step
from tidegate.reference.watermarks.valve import ChannelStatus


def test_a_record_of_no_channel_need_not_pass():
    (state,) = start(Config(channels=2, operators=1, outputs=1))
    for channel in (-1, 2):
        event = Record(channel)
        (outcome,) = step(state, event)
        assert records_pass_while_idle.holds(state, event, outcome)


def test_the_usual_semantics_is_that_of_today():
    assert Config(channels=1, operators=1, outputs=1).semantics == "flink-18934"


def test_a_record_that_passes_while_the_input_is_idle_is_what_the_status_does_not_say():
    (state,) = start(Config(channels=1, operators=1, outputs=1))
    assert step(state, Record(0))[0].rules == ("STAT-2",)
    (idle,) = step(state, ChannelStatus(0, Status.IDLE))
    assert step(idle.state, Record(0))[0].rules == ("STAT-2", "STAT-1")
