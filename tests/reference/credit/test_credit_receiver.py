"""The credit receiver, rule by rule."""

import attrs
import pytest

from tests.reference.walking import begin, claim, last, refuses, walk
from tidegate.reference.credit import buffers
from tidegate.reference.credit import credit_receiver as receiver
from tidegate.reference.credit.buffers import BufferKind, Change, ChannelBuffers, Gate
from tidegate.reference.credit.credit_receiver import Config, Credit, Notify, ResumeMessage
from tidegate.reference.model import InvalidInputError, Outcome, Rejected

EXCLUSIVE, FLOATING = BufferKind.EXCLUSIVE, BufferKind.FLOATING


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
    return " ".join(
        ",".join(map(short, one.observations)) or "~" for one in walk("credit_receiver", Config(*config), trace)
    )


def gate_after(config, trace):
    return walk("credit_receiver", Config(*config), trace)[-1].state.gate


@pytest.mark.rule("CREDIT-1")
def test_credit_1_starts_with_exclusive_buffers_and_nothing_required():
    assert begin("credit_receiver", Config(2, 3, 4)).gate == Gate(3, (ChannelBuffers(3), ChannelBuffers(3)), 4)
    assert buffers.compute_available(ChannelBuffers(3, floating=2)) == 5


@pytest.mark.rule("CREDIT-1")
@pytest.mark.parametrize("channel", [-1, 2])
@pytest.mark.parametrize("event", ["data0", "event0", "backlog1", "recycle", "announce", "barrier", "resume"])
def test_credit_1_no_such_channel(channel, event):
    (outcome,) = walk("credit_receiver", Config(*(2, 1, 1)), f"{channel}{event}")
    assert (outcome.observations, outcome.rules) == ((Rejected(),), ("CREDIT-1",))


@pytest.mark.rule("CREDIT-2")
def test_credit_2_takes_floating_buffers_first():
    channel = gate_after((1, 1, 2), "0backlog1 0data0 0data0").channels[0]
    assert channel.held == (FLOATING, EXCLUSIVE)


@pytest.mark.rule("CREDIT-2")
def test_credit_2_data_without_a_buffer_is_refused():
    outcome = walk("credit_receiver", Config(*(1, 0, 1)), "0data0")[-1]
    assert (outcome.observations, outcome.rules) == ((Rejected(),), ("CREDIT-2",))
    assert run((1, 0, 1), "0backlog1 0data0 0data0 0recycle") == "n0 ~ x ~"
    assert run((1, 0, 2), "0backlog2 0data0 0data5") == "n0 ~ ~"  # accepted whether or not it was announced


@pytest.mark.rule("CREDIT-3")
def test_credit_3_events_take_no_buffer():
    outcomes = walk("credit_receiver", Config(*(1, 2, 3)), "0event0 0event0")
    assert [one.observations for one in outcomes] == [(), ()]
    assert outcomes[-1].state.gate.channels[0] == ChannelBuffers(2, required=2)
    assert "CREDIT-3" in outcomes[-1].rules


@pytest.mark.rule("CREDIT-4", "CREDIT-5", "CREDIT-6")
@pytest.mark.parametrize(
    ("config", "trace", "shown", "channel"),
    [
        ((1, 2, 8), "0data0", "n0", ChannelBuffers(1, 1, 2, 1, (EXCLUSIVE,))),
        ((1, 2, 8), "0event3", "n0", ChannelBuffers(2, 3, 5, 3)),
        ((1, 0, 3), "0backlog5 0backlog2", "n0 ~", ChannelBuffers(0, 3, 2, 3)),
        ((1, 0, 3), "0backlog1 0backlog2 0announce 0announce", "n0 ~ 0+2 ~", ChannelBuffers(0, 2, 2, 0)),
        ((1, 1, 1), "0announce", "~", ChannelBuffers(1)),
    ],
)
def test_credit_4_requests_what_the_backlog_calls_for(config, trace, shown, channel):
    assert run(config, trace) == shown
    assert gate_after(config, trace).channels[0] == channel


@pytest.mark.rule("CREDIT-4")
@pytest.mark.parametrize("event", ["0data-1", "0event-1", "0backlog0", "0backlog-1"])
def test_credit_4_a_backlog_that_is_none_is_refused(event):
    outcome = walk("credit_receiver", Config(*(1, 1, 1)), event)[-1]
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
        ("0data0 0recycle", "n0 ~", 3, ChannelBuffers(1, 0, 1, 1)),
        ("0data2 0announce 0recycle", "n0 0+3 ~", 1, ChannelBuffers(1, 2, 3, 0)),
        ("0data5 0announce 0recycle", "n0 0+3 n0", 0, ChannelBuffers(1, 3, 6, 1)),
    ],
)
def test_credit_7_a_channel_that_has_enough_returns_a_floating_buffer(trace, shown, free, channel):
    assert run((1, 1, 3), trace) == shown
    gate = gate_after((1, 1, 3), trace)
    assert (gate.free, gate.channels[0]) == (free, channel)


@pytest.mark.rule("CREDIT-7")
def test_credit_7_grants_credit_where_nothing_floats():
    assert run((1, 2, 1), "0announce 0data0 0announce 0event0 0recycle") == "~ n0 0+1 ~ ~"
    gate = gate_after((2, 2, 1), "1backlog1 0data0 0recycle")
    assert gate.channels[0] == ChannelBuffers(2, 0, 2, 1)
    assert gate.channels[1].floating == 1


@pytest.mark.rule("CREDIT-8")
def test_credit_8_floating_buffers_go_back_to_all():
    gate = gate_after((2, 0, 1), "0backlog1 0data0 0recycle")
    assert (gate.free, gate.channels[0].floating) == (1, 0)
    assert walk("credit_receiver", Config(*(1, 1, 1)), "0recycle")[-1].rules == ("CREDIT-8",)
    assert run((1, 1, 1), "0recycle 0data0 0recycle 0recycle") == "x n0 ~ x"


@pytest.mark.rule("CREDIT-10", "CREDIT-9")
def test_credit_10_a_stale_registration_declines():
    stale = gate_after((2, 1, 1), "0data1 0event0")
    assert stale.waiting == (0,)
    assert buffers.compute_available(stale.channels[0]) >= stale.channels[0].required
    declined = walk("credit_receiver", Config(*(2, 1, 1)), "0data1 0event0 0recycle")[-1]
    assert declined.rules[0] == "CREDIT-10"
    assert (declined.state.gate.waiting, declined.state.gate.free, declined.observations) == ((), 1, ())


@pytest.mark.rule("CREDIT-10")
def test_credit_10_exclusive_buffers_may_satisfy_a_channel_that_waits():
    satisfied = walk("credit_receiver", Config(*(2, 2, 1)), "0data1 0announce 0recycle 1backlog1")
    assert satisfied[2].rules == ("CREDIT-7", "CREDIT-10", "CREDIT-5")
    assert satisfied[-1].state.gate.waiting == (0, 1)


@pytest.mark.rule("CREDIT-11")
def test_credit_11_a_falling_backlog_keeps_its_buffers():
    outcomes = walk("credit_receiver", Config(*(1, 0, 4)), "0backlog4 0backlog1 0event0")
    assert outcomes[-1].rules[0] == "CREDIT-11"
    assert outcomes[-1].state.gate == Gate(0, (ChannelBuffers(0, 4, 0, 4),), 0)


@pytest.mark.rule("CREDIT-12")
def test_credit_12_tops_up_for_the_buffer_in_use():
    outcome = walk("credit_receiver", Config(*(1, 2, 8)), "0data0")[-1]
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
)
def test_credit_14_a_blocked_channel_without_exclusive_buffers_gives_all_back(config, trace, shown):
    assert run(config, trace) == shown


@pytest.mark.rule("CREDIT-14")
def test_credit_14_required_is_zero_and_data_in_use_stays():
    gate = gate_after((1, 0, 3), "0backlog3 0data2 0barrier")
    assert gate == Gate(0, (ChannelBuffers(0, 0, 0, 3, (FLOATING,)),), 2)


@pytest.mark.rule("CREDIT-15")
@pytest.mark.parametrize(
    ("config", "trace", "shown"),
    [
        ((1, 0, 2), "0backlog2 0barrier 0resume 0announce", "n0 ~ r0 ~"),
        ((1, 1, 2), "0data2 0barrier 0resume 0announce", "n0 ~ r0 0+2"),
        ((1, 0, 2), "0resume 0backlog1 0resume 0backlog2", "r0 n0 r0 n0"),
    ],
)
def test_credit_15_resume_drops_stale_credit(config, trace, shown):
    assert run(config, trace) == shown


@pytest.mark.rule("CREDIT-13")
def test_credit_13_no_information_requests_nothing():
    gate = Gate(0, (ChannelBuffers(0, 2, 2),), 1)
    change = buffers.learn_backlog(buffers.take_buffer(gate, 0), 0, buffers.NO_INFORMATION)
    assert change == Change(Gate(0, (ChannelBuffers(0, 1, 1, 0, (FLOATING,)),), 1), (), ("CREDIT-13", "CREDIT-2"))


@pytest.mark.rule("CREDIT-16")
def test_credit_16_release_serves_those_who_wait():
    gate = Gate(1, (ChannelBuffers(1, 1, 3, 2, (EXCLUSIVE, FLOATING)), ChannelBuffers(1, 0, 2)), 0, (1, 0))
    released = buffers.release(gate, 0, 1)
    assert released.notified == (1,)
    assert released.gate.channels[0].held == (EXCLUSIVE,)
    assert (released.gate.channels[1].floating, released.gate.free) == (1, 1)
    assert buffers.recycle(released.gate, 0).gate.channels[0].exclusive == 0


@pytest.mark.parametrize(
    ("gate", "name"),
    [
        (Gate(1, (ChannelBuffers(1),), 2), "no-buffer-is-lost"),
        (Gate(1, (ChannelBuffers(0),), 1), "no-buffer-is-lost"),
        (Gate(1, (ChannelBuffers(1, required=2),), 1), "who-lacks-a-buffer-waits"),
        (Gate(1, (ChannelBuffers(1, required=2),), 1, (0,)), "who-lacks-a-buffer-waits"),
        (Gate(1, (ChannelBuffers(1, 1, 2),), 0, (0, 0)), "who-lacks-a-buffer-waits"),
    ],
)
def test_invariants_tell_a_wrong_state(gate, name):
    state = begin("credit_receiver", Config(1, 1, 1))
    assert refuses("credit_receiver", name, attrs.evolve(state, gate=gate))


# --- the buffers of a gate ---------------------------------------------------------------------------------

ONE_FLOATS = Gate(0, (ChannelBuffers(0, floating=1), ChannelBuffers(0, required=1)), 0, waiting=(1,))
NONE_LEFT = Gate(0, (ChannelBuffers(0), ChannelBuffers(0)), 1)


def lose(gate, _index, _kind):
    return Change(gate)


def test_a_gate_that_loses_a_floating_buffer_is_refused(monkeypatch):
    monkeypatch.setattr(buffers, "give_back", lose)
    holds = claim("credit_receiver", "empty-data-loses-no-buffer")
    assert not holds(ONE_FLOATS, 0, 0)
    assert not holds(Gate(0, (ChannelBuffers(0, floating=2), ChannelBuffers(0)), 0), 0, 0)
    # Nothing is sent to a channel that has no buffer, so nothing is said about it.
    assert holds(NONE_LEFT, 0, 0)


@pytest.mark.parametrize(
    "changes",
    [{"free": 5}, {"waiting": (0,)}, {"channels": (ChannelBuffers(0, required=7), ChannelBuffers(0))}],
    ids=["frees", "queues", "plans"],
)
def test_a_plan_that_is_changed_without_information_is_refused(monkeypatch, changes):
    monkeypatch.setattr(
        buffers, "learn_backlog", lambda change, _index, _backlog: Change(attrs.evolve(change.gate, **changes))
    )
    holds = claim("credit_receiver", "no-information-changes-no-plan")
    gate = Gate(0, (ChannelBuffers(0, floating=1, required=1), ChannelBuffers(0)), 0)
    assert not holds(gate, 0, 0)
    assert not holds(attrs.evolve(gate, channels=(ChannelBuffers(0, floating=2, required=1), ChannelBuffers(0))), 0, 0)
    assert holds(NONE_LEFT, 0, 0)


def test_a_released_channel_that_loses_what_was_in_use_is_refused(monkeypatch):
    gate = Gate(0, (ChannelBuffers(0, held=(BufferKind.FLOATING,)), ChannelBuffers(0)), 1)
    holds = claim("credit_receiver", "release-gives-everything-back")
    assert holds(gate, 0, 1)

    def forget(gate, index):
        channel = attrs.evolve(gate.channels[index], held=gate.channels[index].held[1:])
        return Change(buffers.with_channel(gate, index, channel))

    monkeypatch.setattr(buffers, "recycle", forget)
    assert not holds(gate, 0, 1)


@pytest.mark.rule("CREDIT-13")
def test_minus_one_is_no_information():
    assert buffers.learn_backlog(Change(NONE_LEFT), 0, -1).rules == ("CREDIT-13",)
    assert buffers.learn_backlog(Change(NONE_LEFT), 0, -1).gate == NONE_LEFT


@pytest.mark.rule("CREDIT-9")
def test_a_buffer_that_is_handed_over_brings_others_that_are_free():
    gate = Gate(0, (ChannelBuffers(0, required=3),), 5, waiting=(0,))
    change = buffers.return_floating(Change(gate))
    assert change.gate == Gate(0, (ChannelBuffers(0, floating=3, required=3, unannounced=3),), 3)
    assert change.notified == (0,)


@pytest.mark.rule("CREDIT-14")
def test_a_blocked_channel_wants_nothing():
    blocked = buffers.block(ONE_FLOATS, 0).gate
    assert blocked.channels[0] == ChannelBuffers(0, required=0)
    assert ChannelBuffers(2).required == 0


def test_a_barrier_of_a_channel_with_exclusive_buffers_changes_no_promise():
    config = receiver.Config(1, 1, 1)
    before = begin("credit_receiver", config)
    after = receiver.State(config, attrs.evolve(before.gate, channels=(ChannelBuffers(1, floating=1),), free=0))
    holds = claim("credit_receiver", "promises-only-what-it-has")
    assert not holds(before, receiver.Barrier(0), Outcome(after, (), ()))
    assert not holds(before, receiver.Backlog(0, 1), Outcome(after, (), ()))
    without = receiver.Config(1, 0, 1)
    bare = begin("credit_receiver", without)
    gained = receiver.State(without, attrs.evolve(bare.gate, channels=(ChannelBuffers(0, floating=1),), free=0))
    assert holds(bare, receiver.Barrier(0), Outcome(gained, (), ()))
    assert not holds(bare, receiver.Backlog(0, 1), Outcome(gained, (), ()))


# --- connections that break -----------------------------------------------------------------------------------


@pytest.mark.rule("CREDIT-16", "CREDIT-32", "CREDIT-33")
@pytest.mark.parametrize(
    ("channels", "exclusive", "trace", "shown"),
    [
        (2, 0, "0backlog1 0data0 1fail 1backlog1 0recycle", "failed(channel 1, told reader)"),
        (1, 1, "0fail 0backlog1", "failed(channel 0, told caller)"),
        (1, 1, "0data1 0announce 0fail 0recycle", "failed(channel 0, told caller)"),
        (1, 0, "0backlog1 0announce 0data0 0fail 0backlog1 0recycle", "failed(channel 0, told reader)"),
        (1, 1, "0fail 0backlog1 0data0", "rejected"),
        (2, 0, "0fail 0backlog1 1backlog1 0release", "notify(channel 1)"),
        (2, 0, "0backlog1 1backlog1 0release", "notify(channel 1)"),
        (2, 0, "0backlog1 0data0 1backlog1 0release", "nothing"),
        (2, 0, "0backlog1 0data0 1backlog1 0release 0recycle", "notify(channel 1)"),
        (1, 1, "0data0 0release 0recycle", "nothing"),
        (1, 1, "0release 0release", "nothing"),
        (1, 1, "0release 0fail", "rejected"),
        (2, 0, "0backlog1 0announce 0data0 1backlog1 1release 0recycle 0backlog1", "notify(channel 0)"),
        # The buffer that comes back is the oldest, and a floating one: it is handed to the channel like to any other.
        (1, 1, "0backlog1 0data5 0data5 0announce 0fail 0recycle", "failed(channel 0, told reader)"),
    ],
)
def test_a_connection_that_broke_fails_its_own_channel(channels, exclusive, trace, shown):
    config = {"channels": channels, "exclusive": exclusive, "floating": 1, "extension": "failures"}
    assert last("credit_receiver", config, trace)[0] == shown


@pytest.mark.parametrize("event", ["0fail", "0release"])
def test_connections_break_in_the_extension_only(event):
    with pytest.raises(InvalidInputError, match="extension failures"):
        walk("credit_receiver", Config(1, 1, 1), event)


SOUND, BROKEN = ChannelBuffers(1), ChannelBuffers(1, broken=True)
DEAD = ChannelBuffers(1, broken=True, failed=True)
CALLER, READER = receiver.Told.CALLER, receiver.Told.READER


@pytest.mark.parametrize(
    ("channels", "seen", "holds"),
    [
        ((BROKEN, SOUND), [receiver.Failed(0, CALLER)], True),
        ((SOUND, BROKEN), [receiver.Failed(1, READER)], True),
        ((SOUND, BROKEN), [Notify(0), receiver.Failed(1, READER)], True),
        ((SOUND, SOUND), [receiver.Failed(0, CALLER)], False),
        ((DEAD, SOUND), [receiver.Failed(0, CALLER)], False),
        ((BROKEN, SOUND), [receiver.Failed(0, CALLER), receiver.Failed(1, READER)], False),
        ((SOUND, BROKEN), [receiver.Failed(1, CALLER)], False),
        ((BROKEN, BROKEN), [receiver.Failed(0, CALLER), receiver.Failed(1, CALLER)], False),
        ((SOUND, BROKEN), [Notify(1)], False),
        ((SOUND, BROKEN), [Notify(0), Notify(1)], False),
    ],
)
def test_a_channel_fails_once_for_itself_and_is_not_notified_then(channels, seen, holds):
    """The event is one of channel 0."""
    before = receiver.State(Config(2, 1, 1, "failures"), Gate(1, channels, 1))
    outcome = Outcome(before, tuple(seen), ())
    assert claim("credit_receiver", "fails-once-and-alone")(before, receiver.Backlog(0, 1), outcome) == holds


@pytest.mark.parametrize(
    ("channel", "holds"),
    [
        (ChannelBuffers(0, released=True), True),
        (ChannelBuffers(1, released=True), False),
        (ChannelBuffers(0, 1, released=True), False),
        (ChannelBuffers(1, 1, released=True), False),
        (ChannelBuffers(0, held=(EXCLUSIVE,), released=True), True),
    ],
)
def test_a_released_channel_keeps_no_free_buffer(channel, holds):
    gate = Gate(1, (ChannelBuffers(1), channel), 2 - channel.floating)
    state = receiver.State(Config(2, 1, 2, "failures"), gate)
    assert claim("credit_receiver", "no-buffer-is-lost")(state) == holds


@pytest.mark.parametrize(
    ("trace", "rule"),
    [
        ("0fail 0backlog1", "CREDIT-32"),
        ("0backlog1", "CREDIT-4"),
        ("0fail 0backlog1 0release", "CREDIT-33"),
        ("0fail 0backlog1 0release 0release", "CREDIT-16"),
    ],
)
def test_what_follows_a_broken_connection_names_its_rules(trace, rule):
    config = {"channels": 1, "exclusive": 0, "floating": 1, "extension": "failures"}
    assert last("credit_receiver", config, trace)[1] == rule


def test_data_for_a_channel_that_is_not_there_takes_no_buffer():
    before = begin("credit_receiver", Config(2, 1, 1))
    taken = attrs.evolve(before.gate, channels=(ChannelBuffers(1), ChannelBuffers(0, held=(EXCLUSIVE,))))
    outcome = Outcome(receiver.State(before.config, taken), (), ())
    assert claim("credit_receiver", "promises-only-what-it-has")(before, receiver.Data(1, 0), outcome)
    for channel in (-1, 2):
        assert refuses("credit_receiver", "promises-only-what-it-has", before, receiver.Data(channel, 0), outcome)


# --- numbers of channels ----------------------------------------------------------------------------------------

MORE, LESS, WAITING = ChannelBuffers(1, 1), ChannelBuffers(1), ChannelBuffers(0, required=1)


def make_three(channels, waiting):
    return receiver.State(Config(3, 1, 1), Gate(1, channels, 0, waiting))


def test_channels_that_are_rearranged_wait_as_before():
    state = make_three((MORE, LESS, WAITING), (2, 0))
    assert receiver.rearrange_channels(state, (2, 0, 1)) == make_three((WAITING, MORE, LESS), (0, 1))


def test_channels_are_sorted_by_the_queue_and_then_by_what_they_have():
    assert receiver.sort_channels(make_three((MORE, LESS, WAITING), (2,))) == (2, 1, 0)
    assert receiver.sort_channels(make_three((LESS, MORE, WAITING), (2,))) == (2, 0, 1)
    assert receiver.sort_channels(make_three((MORE, LESS, WAITING), (2, 0))) == (2, 0, 1)
