"""Recovered channels, rule by rule."""

import attrs
import pytest

from tests.reference.walking import broken_claims as claims_of
from tests.reference.walking import last, state_after, walk
from tidegate.reference.components import COMPONENTS
from tidegate.reference.elements import Long
from tidegate.reference.model import Outcome, Rejected
from tidegate.reference.recovery.recovered_channel import step, values

DATED = {"declined": "flink-2.3", "over": "flink-39018", "marked": "flink-39521"}
#: What 2.3.0 gets wrong: REC-9.
DEFECT = {"recovered-data-is-saved-once"}


def short(seen):
    """`r1>data` recovered data 1 with data behind it, `0:1[0|2]` saved for 1, `0c` consumed, `0+` resumed."""
    match seen:
        case values.Polled():
            letters = {"recovery_completion": "c", "end_of_state": "e", "mark": "m", "event": "v", "barrier": "b"}
            name = letters.get(seen.kind, "r" if seen.recovered else "d")
            return f"{name}{seen.number}>{seen.next.value}"
        case values.Saved():
            kept = "|".join(",".join(map(str, numbers)) for numbers in (seen.recovered, seen.sent))
            return f"{seen.channel}:{seen.checkpoint}[{kept}]"
        case values.Consumed():
            return f"{seen.channel}c"
        case values.Resumed():
            return f"{seen.channel}+"
        case values.Ready():
            return "ready"
        case values.Declined() | values.Subsumed():
            return f"!{seen.channel}" if isinstance(seen, values.Declined) else f"?{seen.channel}"
        case Rejected():
            return "x"


def run(kind, trace):
    """`2 remote declined`: two remote channels, and the semantics by a word."""
    channels, location, dated = kind.split()
    config = {"channels": int(channels), "location": location, "semantics": DATED[dated]}
    outcomes = walk("recovered_channel", config, trace, breaks=DEFECT if dated == "over" else ())
    return " ".join(" ".join(map(short, one.observations)) or "~" for one in outcomes)


@pytest.mark.rule("REC-1", "REC-2", "REC-3")
@pytest.mark.parametrize("location", ["local", "remote"])
@pytest.mark.parametrize(
    ("channels", "trace", "shown"),
    [
        (1, "0r 0r 0d finish 0poll 0poll 0poll", "~ ~ ~ ~ r0>data r1>event 0c ready"),
        (1, "0r 0poll 0poll finish 0poll 0poll", "~ r0>none ~ ~ 0c ready ~"),
        (1, "finish 0r finish 0poll", "~ x x 0c ready"),
        (1, "convert finish convert 0poll convert convert", "x ~ x 0c ready ~ ~"),
        (2, "0r 1r finish 0poll 1poll 1poll 0poll", "~ ~ ~ r0>event r0>event 1c 0c ready"),
        (
            1,
            "finish 0poll 0d 0poll convert 0poll 0d 0event 0poll 0poll",
            "~ 0c ready ~ ~ ~ d0>none ~ ~ d1>event v2>none",
        ),
    ],
)
def test_saved_state_is_read_first(location, channels, trace, shown):
    assert run(f"{channels} {location} declined", trace) == shown


@pytest.mark.rule("REC-4")
@pytest.mark.parametrize("dated", DATED)
def test_a_checkpoint_before_the_channels_are_live_is_declined(dated):
    assert run(f"2 remote {dated}", "start1 0u1") == "!0 x"


@pytest.mark.rule("REC-5", "BARR-20")
@pytest.mark.parametrize(
    ("location", "trace", "shown"),
    [
        ("remote", "finish stop3 0poll convert 0u3 start3 0d", "~ ~ 0c ready ~ ~ ~ ~"),
        ("remote", "finish stop3 0poll convert 0u4 start3 start4 0d", "~ ~ 0c ready ~ ~ ?0 ~ ~"),
        ("remote", "finish stop5 stop2 0poll convert 0u3 start2", "~ ~ ~ 0c ready ~ ~ ?0"),
        ("local", "finish stop5 stop2 0poll convert 0u3 0poll start2", "~ ~ ~ 0c ready ~ ~ b0>none ?0"),
        ("local", "finish 0poll convert stop5 start5 0d 0poll", "~ 0c ready ~ ~ ~ ~ d0>none"),
    ],
)
def test_what_was_stopped_before_is_over(location, trace, shown):
    assert run(f"1 {location} declined", trace) == shown


@pytest.mark.rule("REC-6", "REC-7")
@pytest.mark.parametrize(
    ("location", "trace", "shown"),
    [
        ("remote", "0complete 0d 0poll 0poll 1complete 1poll 0poll", "~ ~ c0>none ~ ~ c0>none 0+ 1+ d1>none"),
        ("local", "0complete 0d 0poll 0poll 1complete 1poll 0poll", "~ ~ c0>none ~ ~ c0>none 0+ 1+ d1>none"),
        ("remote", "0complete 0complete", "~ x"),
        ("remote", "0complete 0poll 0d 0u1 0poll 0poll", "~ c0>none ~ ~ b2>none ~"),
        ("local", "0complete 0poll 0d 0u1 0u2 0poll 0poll", "~ c0>none ~ ~ ~ b2>none b3>none"),
        ("remote", "0complete 0poll 0u1 0u2 0poll 0poll", "~ c0>none ~ ~ b1>priority b2>none"),
        ("remote", "0complete 0poll start1 0d 1complete 1poll", "~ c0>none ~ ~ ~ c0>none 0+ 0:1[|1] 1+"),
    ],
)
def test_producers_wait_for_each_other(location, trace, shown):
    assert run(f"2 {location} declined", f"finish 0poll 1poll convert {trace}") == f"~ 0c 1c ready ~ {shown}"


@pytest.mark.rule("REC-8", "REC-9", "REC-11")
@pytest.mark.parametrize(
    ("kind", "trace", "shown"),
    [
        ("1 remote over", "0r convert finish convert 0d 0poll 0poll 0poll", "~ x ready ~ ~ r0>event e1>data d0>none"),
        ("1 local over", "0r finish convert 0event 0poll 0poll 0poll", "~ ready ~ ~ r0>event e1>data v0>none"),
        ("1 local over", "0r finish convert 0poll 0poll", "~ ready ~ r0>event e1>none"),
        ("1 remote over", "0r 0r finish convert 0d 0u1 0d start1", "~ ~ ready ~ ~ ~ ~ 0:1[0,1|0]"),
        ("1 remote over", "0r finish convert 0d 0u2 start1", "~ ready ~ ~ ~ ?0"),
        ("1 local over", "0r finish convert 0d 0u1 start1 0poll 0poll", "~ ready ~ ~ ~ 0:1[0|] b1>data r0>event"),
        ("1 local over", "0r finish convert start1 0poll 0poll", "~ ready ~ 0:1[0|] 0:1[0|] r0>event e1>none"),
        ("1 local over", "0r finish convert 0u1 0u2 0poll 0poll", "~ ready ~ ~ ~ b0>priority b1>data"),
        ("1 local over", "finish 0poll convert 0d start1 0poll", "ready 0c ~ ~ ~ 0:1[|0] d0>none"),
        ("1 remote over", "finish 0poll convert", "ready 0c ~"),
    ],
)
def test_leftovers_are_handed_over(kind, trace, shown):
    assert run(kind, trace) == shown


@pytest.mark.rule("REC-10", "REC-12")
@pytest.mark.parametrize(
    ("kind", "trace", "shown"),
    [
        (
            "1 remote marked",
            "0r finish convert 0r 0d 0poll finish 0poll 0poll",
            "x x ~ ~ ~ r0>none ~ e1>none 0c d0>none",
        ),
        ("1 local marked", "convert 0d 0poll finish 0poll 0poll", "~ ~ ~ ~ e0>none 0c d0>none"),
        ("1 local marked", "convert 0r 0u1 0d 0poll 0poll", "~ ~ ~ ~ b0>data r0>none"),
        ("2 remote marked", "convert 0r 0r mark1 0r start1", "~ ~ ~ ~ ~ 0:1[0,1|]"),
        ("1 remote marked", "convert 0r start1 mark2 start1 start2 0poll", "~ ~ !0 ~ !0 0:2[0|] r0>none"),
        ("1 remote marked", "convert 0r mark1 0r mark2 start2 start1", "~ ~ ~ ~ ~ 0:2[0,1|] !0"),
        ("1 remote marked", "convert mark1 0poll mark1 mark2 0r start1", "~ ~ m0>none ~ ~ ~ ~"),
        ("1 remote marked", "convert 0r mark1 0u2 start1 start1", "~ ~ ~ ~ ?0 !0"),
        ("1 remote marked", "convert mark1 start1 finish 0d 0poll", "~ ~ ~ ~ ~ e0>none 0c 0:1[|0]"),
        ("1 remote marked", "convert finish mark1 0poll 0d 0poll 0poll", "~ ~ ~ e0>event 0c ~ m0>data d0>none"),
        ("1 local marked", "convert finish mark1 0poll 0d 0poll", "~ ~ ~ e0>event 0c ~ d0>none"),
        ("1 remote marked", "finish convert finish 0poll mark1 0u1 start1", "x ~ ~ e0>none 0c ~ ~ ~"),
    ],
)
def test_state_is_given_to_live_channels(kind, trace, shown):
    assert run(kind, trace) == shown


@pytest.mark.rule("REC-12")
@pytest.mark.parametrize(("kind", "trace"), [("1 remote over", "finish convert mark1"), ("1 local marked", "mark1")])
def test_nothing_to_mark(kind, trace):
    assert run(kind, trace).endswith("x")


@pytest.mark.rule("REC-1")
@pytest.mark.parametrize("event", ["0r", "0poll", "0d", "0event", "0complete", "0u1"])
@pytest.mark.parametrize("number", ["-1", "1"])
def test_channels_that_do_not_exist_are_refused(event, number):
    config = {"channels": 1, "location": "local"}
    assert last("recovered_channel", config, f"finish 0poll convert {number}{event[1:]}") == ("rejected", "REC-1")


@pytest.mark.parametrize("dated", ["over", "marked"])
def test_what_is_done_to_all_channels_does_not_copy_them_for_each(dated, monkeypatch):
    """Or a gate with as many channels as there may be would take minutes."""
    config = values.Config(3, values.Location.REMOTE, DATED[dated])
    (state,) = step.start(config)
    monkeypatch.delattr(step, "with_channel")
    events = [values.Convert(), values.Finish(), values.Convert(), values.Mark(1), values.Start(1), values.Stop(1)]
    for event in events:
        (outcome,) = step.step(state, event)
        state = outcome.state
    assert state.live


# --- what the first channels saved is seen, whatever becomes of the others --------------------------------------


@pytest.mark.rule("REC-12", "BARR-16")
@pytest.mark.parametrize(
    ("kind", "trace", "shown"),
    [
        # The second channel got no mark, since it had read its state; and has a newer barrier.
        ("2 remote marked", "convert 0r mark1 1u2 start1", "~ ~ ~ ~ 0:1[0|] ?1"),
        ("2 remote marked", "convert 0r mark1 1poll start1", "~ ~ ~ m0>none 0:1[0|] !1"),
        ("2 remote over", "0r finish convert 1u2 start1", "~ ready ~ ~ 0:1[0|] ?1"),
        ("1 remote marked", "convert 0r mark1 0r mark1 0r start1", "~ ~ ~ ~ ~ ~ 0:1[0|]"),
    ],
)
def test_a_start_that_fails_at_the_second_channel(kind, trace, shown):
    assert run(kind, trace) == shown


@pytest.mark.parametrize(
    ("kind", "trace", "rule"),
    [
        ("1 remote marked", "finish", "REC-10"),
        ("1 remote marked", "0r", "REC-10"),
        ("1 remote marked", "convert convert", "REC-3"),
        ("1 remote over", "finish convert convert", "REC-3"),
        ("1 remote over", "finish convert", "REC-8"),
        ("2 remote declined", "finish 0poll 1poll convert 0complete 0poll 0poll", "REC-6"),
        ("1 remote declined", "finish 0poll convert 0poll", "REC-1"),
        ("1 remote marked", "convert 0poll", "REC-10"),
    ],
)
def test_which_rule_says_so(kind, trace, rule):
    channels, location, dated = kind.split()
    config = {"channels": int(channels), "location": location, "semantics": DATED[dated]}
    assert last("recovered_channel", config, trace)[1] == rule


@pytest.mark.rule("REC-5")
def test_who_was_stopped_before_is_stopped_when_it_becomes_live():
    config = {"channels": 1, "location": "remote", "semantics": DATED["over"]}
    assert walk("recovered_channel", config, "finish stop3 convert")[-1].rules == ("REC-8", "REC-5")
    assert walk("recovered_channel", config, "finish convert")[-1].rules == ("REC-8",)


# --- claims, told of what is wrong ----------------------------------------------------------------------------


def after(kind, trace):
    channels, location, dated = kind.split()
    return state_after(
        "recovered_channel", {"channels": int(channels), "location": location, "semantics": DATED[dated]}, trace
    )


def tell(before, event, *observations, state=None):
    return claims_of("recovered_channel", before, event, Outcome(state or before, observations, ()))


def test_sent_data_that_is_read_before_recovered_data_is_refused():
    polled = values.Polled(values.Kind.DATA, False, 0, values.Next.NONE)  # noqa: FBT003
    assert "recovered-before-sent" in tell(after("1 remote over", "0r finish convert 0d"), values.Poll(0), polled)
    assert "recovered-before-sent" in tell(after("1 remote marked", "convert 0d"), values.Poll(0), polled)
    assert "recovered-before-sent" not in tell(
        after("1 remote over", "finish convert 0poll 0d"), values.Poll(0), polled
    )


def test_a_channel_that_stays_blocked_is_refused():
    before = after("2 remote declined", "finish 0poll 1poll convert 0complete 0poll 1complete")
    (right,) = step.step(before, values.Poll(1))
    assert "resumed-when-all-are-complete" not in claims_of("recovered_channel", before, values.Poll(1), right)
    blocked = attrs.evolve(right.state.channels[0], blocked=True)
    state = attrs.evolve(right.state, channels=(blocked, right.state.channels[1]))
    wrong = attrs.evolve(right, state=state)
    assert "resumed-when-all-are-complete" in claims_of("recovered_channel", before, values.Poll(1), wrong)


def test_what_is_saved_for_another_checkpoint_is_refused():
    before = after("1 remote over", "finish convert 0poll start1")
    for checkpoint, is_broken in ((1, False), (2, True)):
        seen = values.Saved(0, Long(checkpoint), (), (0,))
        assert ("saves-while-the-barrier-is-to-come" in tell(before, values.Data(0), seen)) == is_broken
    over = after("1 remote over", "finish convert 0poll start1 0u1")
    assert "saves-while-the-barrier-is-to-come" in tell(over, values.Data(0), values.Saved(0, Long(1), (), (0,)))


def test_one_channel_that_saves_before_life_is_refused():
    state = after("2 remote declined", "0r")
    (invariant,) = [one for one in COMPONENTS["recovered_channel"].invariants if "before-life" in one.name]
    assert invariant.holds(state)
    early = attrs.evolve(state.channels[0], queue=(values.Item(values.Kind.DATA, 0),))
    assert not invariant.holds(attrs.evolve(state, channels=(early, state.channels[1])))
