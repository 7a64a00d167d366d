"""The claims about statuses, told of what is refused."""

from reference.statuses import COMPONENT, Config, Record, records_pass_while_idle, start, step


def test_a_record_of_no_channel_need_not_pass():
    (state,) = start(Config(channels=2, operators=1, outputs=1))
    for channel in (-1, 2):
        event = Record(channel)
        (outcome,) = step(state, event)
        assert records_pass_while_idle(state, event, outcome)


def test_it_is_no_part_of_the_protocol():
    assert not COMPONENT.in_protocol
