"""The credit receiver, rule by rule."""

import attrs
import pytest

from tidegate.reference.credit import buffers
from tidegate.reference.credit.buffers import Buffer, Change, Channel, Gate
from tidegate.reference.credit.credit_receiver import (
    COMPONENT,
    Config,
    Credit,
    Data,
    Notify,
    ResumeMessage,
    start,
    step,
)
from tidegate.reference.model import InvalidInputError, Rejected
from tidegate.traces.notation.text import read_trace

EXCLUSIVE, FLOATING = Buffer.EXCLUSIVE, Buffer.FLOATING


def walk(config, trace):
    (state,) = start(Config(*config))
    outcomes = []
    for event in read_trace("credit_receiver", trace):
        (outcome,) = step(state, event)
        if outcome.observations == (Rejected(),):
            assert outcome.state == state
        outcomes.append(outcome)
        state = outcome.state
    return outcomes


def short(seen):
    """`n0` notifies for channel 0, `0+2` is its credit message, `r0` tells its sender to resume, `x` is refused."""
    match seen:
        case Notify():
            return f"n{seen.channel}"
        case Credit():
            return f"{seen.channel}+{seen.amount}"
        case ResumeMessage():
            return f"r{seen.channel}"
    return "x"


def run(config, trace):
    """One word an event, `~` where nothing is seen."""
    return " ".join(",".join(map(short, one.observations)) or "~" for one in walk(config, trace))


def gate_after(config, trace):
    return walk(config, trace)[-1].state.gate


def words(value):
    return str(value).replace(" ", "-")


@pytest.mark.rule("CREDIT-1")
def test_credit_1_starts_with_exclusive_buffers_and_nothing_required():
    (state,) = start(Config(2, 3, 4))
    assert state.gate == Gate(3, (Channel(3), Channel(3)), 4)
    assert buffers.compute_available(Channel(3, floating=2)) == 5


@pytest.mark.rule("CREDIT-1")
@pytest.mark.parametrize("channel", [-1, 2])
@pytest.mark.parametrize("event", ["data0", "event0", "backlog1", "recycle", "announce", "barrier", "resume"])
def test_credit_1_no_such_channel(channel, event):
    (outcome,) = walk((2, 1, 1), f"{channel}{event}")
    assert (outcome.observations, outcome.rules) == ((Rejected(),), ("CREDIT-1",))


@pytest.mark.rule("CREDIT-2")
def test_credit_2_takes_floating_buffers_first():
    channel = gate_after((1, 1, 2), "0backlog1 0data0 0data0").channels[0]
    assert channel.held == (FLOATING, EXCLUSIVE)


@pytest.mark.rule("CREDIT-2")
def test_credit_2_data_without_a_buffer_is_refused():
    outcome = walk((1, 0, 1), "0data0")[-1]
    assert (outcome.observations, outcome.rules) == ((Rejected(),), ("CREDIT-2",))
    assert run((1, 0, 1), "0backlog1 0data0 0data0 0recycle") == "n0 ~ x ~"
    assert run((1, 0, 2), "0backlog2 0data0 0data5") == "n0 ~ ~"  # accepted whether or not it was announced


@pytest.mark.rule("CREDIT-3")
def test_credit_3_events_take_no_buffer():
    outcomes = walk((1, 2, 3), "0event0 0event0")
    assert [one.observations for one in outcomes] == [(), ()]
    assert outcomes[-1].state.gate.channels[0] == Channel(2, required=2)
    assert "CREDIT-3" in outcomes[-1].rules


@pytest.mark.rule("CREDIT-4", "CREDIT-5", "CREDIT-6")
@pytest.mark.parametrize(
    ("config", "trace", "shown", "channel"),
    [
        ((1, 2, 8), "0data0", "n0", Channel(1, 1, 2, 1, (EXCLUSIVE,))),
        ((1, 2, 8), "0event3", "n0", Channel(2, 3, 5, 3)),
        ((1, 0, 3), "0backlog5 0backlog2", "n0 ~", Channel(0, 3, 2, 3)),
        ((1, 0, 3), "0backlog1 0backlog2 0announce 0announce", "n0 ~ 0+2 ~", Channel(0, 2, 2, 0)),
        ((1, 1, 1), "0announce", "~", Channel(1)),
    ],
    ids=words,
)
def test_credit_4_requests_what_the_backlog_calls_for(config, trace, shown, channel):
    assert run(config, trace) == shown
    assert gate_after(config, trace).channels[0] == channel


@pytest.mark.rule("CREDIT-4")
@pytest.mark.parametrize("event", ["0data-1", "0event-1", "0backlog0", "0backlog-1"])
def test_credit_4_a_backlog_that_is_none_is_refused(event):
    outcome = walk((1, 1, 1), event)[-1]
    assert (outcome.observations, outcome.rules) == ((Rejected(),), ("CREDIT-4",))


@pytest.mark.rule("CREDIT-4", "CREDIT-9")
def test_credit_9_who_waits_longest_is_served_first():
    trace = "0backlog1 1backlog1 2backlog1 0data0 0announce 0recycle 1data0 1recycle"
    assert run((3, 0, 1), trace) == "n0 ~ ~ ~ 0+1 n1 ~ n2"
    assert gate_after((3, 0, 1), "0backlog1 2backlog1 1backlog1").waiting == (2, 1)


@pytest.mark.rule("CREDIT-9")
def test_credit_9_who_still_lacks_one_joins_the_end():
    gate = gate_after((2, 0, 2), "0backlog2 0data0 0data0 1backlog2 0backlog1 0recycle")
    assert gate.waiting == (0, 1)
    assert [channel.floating for channel in gate.channels] == [0, 1]


@pytest.mark.rule("CREDIT-9", "CREDIT-5")
def test_credit_5_one_notification_for_all_that_gathers():
    assert run((1, 0, 3), "0backlog1 0backlog3 0announce 0data3 0data3 0recycle") == "n0 ~ 0+3 ~ ~ n0"


@pytest.mark.rule("CREDIT-7")
@pytest.mark.parametrize(
    ("trace", "shown", "free", "channel"),
    [
        ("0data0 0recycle", "n0 ~", 3, Channel(1, 0, 1, 1)),
        ("0data2 0announce 0recycle", "n0 0+3 ~", 1, Channel(1, 2, 3, 0)),
        ("0data5 0announce 0recycle", "n0 0+3 n0", 0, Channel(1, 3, 6, 1)),
    ],
    ids=words,
)
def test_credit_7_a_channel_that_has_enough_returns_a_floating_buffer(trace, shown, free, channel):
    assert run((1, 1, 3), trace) == shown
    gate = gate_after((1, 1, 3), trace)
    assert (gate.free, gate.channels[0]) == (free, channel)


@pytest.mark.rule("CREDIT-7")
def test_credit_7_grants_credit_where_nothing_floats():
    assert run((1, 2, 1), "0announce 0data0 0announce 0event0 0recycle") == "~ n0 0+1 ~ ~"
    gate = gate_after((2, 2, 1), "1backlog1 0data0 0recycle")
    assert gate.channels[0] == Channel(2, 0, 2, 1)
    assert gate.channels[1].floating == 1


@pytest.mark.rule("CREDIT-8")
def test_credit_8_floating_buffers_go_back_to_all():
    gate = gate_after((2, 0, 1), "0backlog1 0data0 0recycle")
    assert (gate.free, gate.channels[0].floating) == (1, 0)
    assert walk((1, 1, 1), "0recycle")[-1].rules == ("CREDIT-8",)
    assert run((1, 1, 1), "0recycle 0data0 0recycle 0recycle") == "x n0 ~ x"


@pytest.mark.rule("CREDIT-10", "CREDIT-9")
def test_credit_10_a_stale_registration_declines():
    stale = gate_after((2, 1, 1), "0data1 0event0")
    assert stale.waiting == (0,)
    assert buffers.compute_available(stale.channels[0]) >= stale.channels[0].required
    declined = walk((2, 1, 1), "0data1 0event0 0recycle")[-1]
    assert declined.rules[0] == "CREDIT-10"
    assert (declined.state.gate.waiting, declined.state.gate.free, declined.observations) == ((), 1, ())


@pytest.mark.rule("CREDIT-10")
def test_credit_10_exclusive_buffers_may_satisfy_a_channel_that_waits():
    satisfied = walk((2, 2, 1), "0data1 0announce 0recycle 1backlog1")
    assert satisfied[2].rules == ("CREDIT-7", "CREDIT-10", "CREDIT-5")
    assert satisfied[-1].state.gate.waiting == (0, 1)


@pytest.mark.rule("CREDIT-11")
def test_credit_11_a_falling_backlog_keeps_its_buffers():
    outcomes = walk((1, 0, 4), "0backlog4 0backlog1 0event0")
    assert outcomes[-1].rules[0] == "CREDIT-11"
    assert outcomes[-1].state.gate == Gate(0, (Channel(0, 4, 0, 4),), 0)


@pytest.mark.rule("CREDIT-12")
def test_credit_12_tops_up_for_the_buffer_in_use():
    outcome = walk((1, 2, 8), "0data0")[-1]
    assert outcome.observations == (Notify(0),)
    assert outcome.rules[0] == "CREDIT-12"


@pytest.mark.rule("CREDIT-14")
@pytest.mark.parametrize(
    ("config", "trace", "shown"),
    [
        ((1, 0, 2), "0backlog2 0barrier 0announce 0event0", "n0 ~ 0+2 ~"),
        ((2, 0, 2), "0backlog2 1backlog1 0barrier", "n0 ~ n1"),
        ((3, 0, 2), "0backlog2 1backlog1 2backlog1 0barrier", "n0 ~ ~ n1,n2"),
        ((2, 0, 2), "0backlog2 1backlog5 0barrier 1announce", "n0 ~ n1 1+2"),
        ((2, 1, 1), "0data1 1backlog1 0barrier", "n0 ~ ~"),
    ],
    ids=words,
)
def test_credit_14_a_blocked_channel_without_exclusive_buffers_gives_all_back(config, trace, shown):
    assert run(config, trace) == shown


@pytest.mark.rule("CREDIT-14")
def test_credit_14_required_is_zero_and_data_in_use_stays():
    gate = gate_after((1, 0, 3), "0backlog3 0data2 0barrier")
    assert gate == Gate(0, (Channel(0, 0, 0, 3, (FLOATING,)),), 2)


@pytest.mark.rule("CREDIT-15")
@pytest.mark.parametrize(
    ("config", "trace", "shown"),
    [
        ((1, 0, 2), "0backlog2 0barrier 0resume 0announce", "n0 ~ r0 ~"),
        ((1, 1, 2), "0data2 0barrier 0resume 0announce", "n0 ~ r0 0+2"),
        ((1, 0, 2), "0resume 0backlog1 0resume 0backlog2", "r0 n0 r0 n0"),
    ],
    ids=words,
)
def test_credit_15_resume_drops_stale_credit(config, trace, shown):
    assert run(config, trace) == shown


@pytest.mark.rule("CREDIT-13")
def test_credit_13_no_information_requests_nothing():
    gate = Gate(0, (Channel(0, 2, 2),), 1)
    change = buffers.learn_backlog(buffers.take_buffer(gate, 0), 0, buffers.NO_INFORMATION)
    assert change == Change(Gate(0, (Channel(0, 1, 1, 0, (FLOATING,)),), 1), (), ("CREDIT-13", "CREDIT-2"))


@pytest.mark.rule("CREDIT-16")
def test_credit_16_release_serves_those_who_wait():
    gate = Gate(1, (Channel(1, 1, 3, 2, (EXCLUSIVE, FLOATING)), Channel(1, 0, 2)), 0, (1, 0))
    released = buffers.release(gate, 0, 1)
    assert released.notified == (1,)
    assert released.gate.channels[0].held == (EXCLUSIVE,)
    assert (released.gate.channels[1].floating, released.gate.free) == (1, 1)
    assert buffers.recycle(released.gate, 0).gate.channels[0].exclusive == 0


@pytest.mark.parametrize("config", [(0, 1, 1), (1, -1, 1), (1, 1, 0)])
def test_config_is_checked(config):
    with pytest.raises(InvalidInputError):
        Config(*config)


LEARN = buffers.learn_backlog


@pytest.mark.rule("CREDIT-13", "CREDIT-16", "CREDIT-28")
@pytest.mark.parametrize(
    ("function", "broken", "law"),
    [
        ("take_and_drop", lambda gate, index, _: buffers.take_buffer(gate, index).gate, "empty-data-loses-no-buffer"),
        ("take_and_drop", lambda gate, _index, _: gate, "empty-data-loses-no-buffer"),
        ("release", lambda gate, _index, _in_use: Change(gate), "release-gives-everything-back"),
        ("learn_backlog", lambda change, index, _: LEARN(change, index, 1), "no-information-changes-no-plan"),
    ],
)
def test_laws_tell_a_broken_function(monkeypatch, function, broken, law):
    (held,) = [one for one in COMPONENT.laws if one.name == law]
    samples = list(held.samples())
    assert all(held.holds(*sample) for sample in samples)
    monkeypatch.setattr(buffers, function, broken)
    assert not all(held.holds(*sample) for sample in samples)


def test_properties_tell_a_wrong_outcome():
    (before,) = start(Config(1, 1, 2))
    event = Data(0, 0)
    (outcome,) = step(before, event)
    claims = {one.name: one.holds for one in COMPONENT.properties}
    assert all(holds(before, event, outcome) for holds in claims.values())
    silent = attrs.evolve(outcome, observations=())
    assert not claims["notifies-once"](before, event, silent)
    kept = attrs.evolve(outcome, state=before)
    assert not claims["promises-only-what-it-has"](before, event, kept)
    freed = attrs.evolve(outcome, state=attrs.evolve(before, gate=attrs.evolve(before.gate, free=3)))
    assert not claims["a-backlog-frees-nothing"](before, event, freed)


@pytest.mark.parametrize(
    ("gate", "name"),
    [
        (Gate(1, (Channel(1),), 2), "no-buffer-is-lost"),
        (Gate(1, (Channel(0),), 1), "no-buffer-is-lost"),
        (Gate(1, (Channel(1, required=2),), 1), "who-lacks-a-buffer-waits"),
        (Gate(1, (Channel(1, required=2),), 1, (0,)), "who-lacks-a-buffer-waits"),
        (Gate(1, (Channel(1, 1, 2),), 0, (0, 0)), "who-lacks-a-buffer-waits"),
    ],
    ids=words,
)
def test_invariants_tell_a_wrong_state(gate, name):
    (state,) = start(Config(1, 1, 1))
    claims = {one.name: one.holds for one in COMPONENT.invariants}
    assert all(holds(state) for holds in claims.values())
    assert not claims[name](attrs.evolve(state, gate=gate))
