"""The closed loop of credit, explored whole; and the parts without which it would break."""

import attrs
import pytest

from tidegate.properties.explorer.exploring import explore
from tidegate.reference.credit import backpressure, buffers, readers, subpartitions
from tidegate.reference.credit.buffers import Change
from tidegate.reference.credit.credit_loop import (
    COMPONENT,
    Action,
    Choice,
    Config,
    Consumed,
    enabled,
    is_done,
    is_stuck,
    start,
    step,
)
from tidegate.reference.credit.readers import Kind
from tidegate.reference.model import InvalidInputError, Rejected

WHOLE = [(2, exclusive, floating, 2, 0, 2) for exclusive in (0, 1, 2) for floating in (1, 2)] + [
    (2, exclusive, floating, 1, 1, 1) for exclusive in (0, 1, 2) for floating in (1, 2)
]


def closure(config):
    return explore(COMPONENT, Config(*config), enabled)


@pytest.mark.rule("CREDIT-17", "CREDIT-18", "CREDIT-4", "CREDIT-9", "CREDIT-14", "CREDIT-24")
@pytest.mark.parametrize("config", [*WHOLE, (1, 0, 1, 4, 1, 4), (1, 2, 1, 4, 1, 3), (2, 0, 1, 2, 1, 2)], ids=str)
def test_nothing_is_lost_and_nobody_waits_for_ever(config):
    found = closure(config)
    assert found.complete
    assert found.broken == ()
    assert found.states > 50


@pytest.mark.parametrize("config", [(2, 0, 1, 3, 1, 2), (3, 1, 1, 2, 1, 1), (2, 2, 2, 4, 0, 4)], ids=str)
def test_any_schedule_ends_with_everything_read(config):
    (state,) = start(Config(*config))
    seen = []
    while choices := enabled(state):
        (outcome,) = step(state, choices[len(seen) % len(choices)])
        seen += outcome.observations
        state = outcome.state
    assert is_done(state)
    for channel in range(config[0]):
        kinds = [one.kind for one in seen if one.channel == channel]
        assert (kinds.count(Kind.DATA), kinds.count(Kind.EVENT)) == (config[3], config[4])


# --- what it would be without ---------------------------------------------------------------------------------


def forget_to_wait(monkeypatch):
    """FLINK-23466 in its effect: who lacks a buffer is not remembered."""
    request = buffers.request_floating

    def broken_request(gate, index):
        after, gained = request(gate, index)
        return attrs.evolve(after, waiting=gate.waiting), gained

    monkeypatch.setattr(buffers, "request_floating", broken_request)


def keep_buffers_while_blocked(monkeypatch):
    """FLINK-16404."""
    monkeypatch.setattr(buffers, "block", lambda gate, _index: Change(gate))


def announce_nothing(monkeypatch):
    monkeypatch.setattr(readers, "compute_announcement", lambda _reader: 0)


def keep_credit_on_resume(monkeypatch):
    def on_resume(reader):
        after = attrs.evolve(reader, subpartition=subpartitions.resume(reader.subpartition))
        return readers.Change(after, woken=True, rules=())

    monkeypatch.setattr(readers, "on_resume", on_resume)


def send_without_credit(monkeypatch):
    monkeypatch.setattr(readers, "is_sendable", lambda reader: bool(reader.subpartition.queue))


@pytest.mark.parametrize(
    ("spoil", "config", "names"),
    [
        (forget_to_wait, (2, 0, 1, 2, 0, 2), {"never-stuck"}),
        (keep_buffers_while_blocked, (2, 0, 1, 2, 1, 2), {"never-stuck", "credit-is-conserved"}),
        (announce_nothing, (1, 0, 1, 1, 0, 1), {"never-stuck"}),
        (keep_credit_on_resume, (2, 0, 1, 2, 1, 2), {"credit-is-conserved", "data-finds-a-buffer"}),
        (send_without_credit, (1, 1, 1, 3, 0, 3), {"credit-is-conserved", "data-finds-a-buffer"}),
    ],
)
def test_each_part_is_needed(monkeypatch, spoil, config, names):
    spoil(monkeypatch)
    assert {one.name for one in closure(config).broken} == names


@pytest.mark.rule("CREDIT-9")
def test_a_gate_without_a_floating_buffer_would_be_stuck():
    (state,) = start(Config(1, 0, 1, 1))
    bare = attrs.evolve(state.receiver, gate=attrs.evolve(state.receiver.gate, free=0))
    state = attrs.evolve(state, receiver=bare)
    while choices := enabled(state):
        (outcome,) = step(state, choices[0])
        state = outcome.state
    assert is_stuck(state)


# --- single choices -------------------------------------------------------------------------------------------


def walk(config, *choices):
    (state,) = start(Config(*config))
    for channel, action in choices:
        (outcome,) = step(state, Choice(channel, Action(action)))
        state = outcome.state
    return outcome


@pytest.mark.rule("CREDIT-18", "CREDIT-2", "CREDIT-7")
def test_credit_18_data_is_delivered_and_read():
    delivered = walk((1, 1, 1, 1), (0, "write"), (0, "deliver"))
    assert (delivered.observations, delivered.rules[0]) == ((), "CREDIT-18")
    read = walk((1, 1, 1, 1), (0, "write"), (0, "deliver"), (0, "consume"))
    assert read.observations == (Consumed(0, Kind.DATA),)


@pytest.mark.rule("CREDIT-14", "CREDIT-15", "CREDIT-26")
def test_credit_15_all_channels_resume_when_the_last_has_aligned():
    one = [(0, "barrier"), (0, "deliver"), (0, "consume")]
    assert walk((2, 0, 1, 0, 1), *one).rules == ("CREDIT-14",)
    both = walk((2, 0, 1, 0, 1), *one, (1, "barrier"), (1, "deliver"), (1, "consume"))
    assert both.rules == ("CREDIT-15",)
    assert [len(link.up) for link in both.state.links] == [1, 1]


@pytest.mark.rule("CREDIT-30")
def test_credit_30_a_producer_without_free_buffers_cannot_write():
    outcome = walk((1, 1, 1, 4, 0, 2), *[(0, "write")] * 4)
    assert (outcome.observations, outcome.rules) == ((Rejected(),), ("CREDIT-30",))
    assert outcome.state.links[0].data == 1


@pytest.mark.parametrize("choice", [(-1, "write"), (1, "consume"), (0, "deliver"), (0, "announce"), (0, "flush")])
def test_what_cannot_happen_is_refused(choice):
    (state,) = start(Config(1, 1, 1, 1))
    outcome = walk((1, 1, 1, 1), choice)
    assert (outcome.observations, outcome.state) == ((Rejected(),), state)


@pytest.mark.parametrize("config", [(0, 0, 1, 1), (1, -1, 1, 1), (1, 0, 0, 1), (1, 0, 1, -1), (1, 0, 1, 1, 0, 0)])
def test_config_is_checked(config):
    with pytest.raises(InvalidInputError):
        Config(*config)


@pytest.mark.rule("CREDIT-30")
@pytest.mark.parametrize(
    "wrong",
    [lambda free, _queued, _limit: free == 0, lambda _free, queued, limit: any(count >= limit for count in queued)],
    ids=["pool alone", "share alone"],
)
def test_credit_30_both_the_pool_and_the_share_of_a_channel_stop_the_writer(monkeypatch, wrong):
    law = backpressure.credit_keeps_the_writer_going
    samples = list(law.samples())
    assert all(law.holds(*sample) for sample in samples)

    def bounded(free, queued, limit):
        return free < 0 or max(queued) > 20 or wrong(free, queued, limit)

    monkeypatch.setattr(backpressure, "is_writer_blocked", bounded)
    assert not all(law.holds(*sample) for sample in samples)


def test_the_loop_is_made_of_the_two_machines():
    (state,) = start(Config(2, 2, 3, 1))
    assert [link.sender.reader.credit for link in state.links] == [2, 2]
    assert state.receiver.gate.free == 3
