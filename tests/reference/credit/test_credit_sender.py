"""The credit sender, rule by rule."""

import attrs
import pytest

from tidegate.reference.credit import readers, subpartitions
from tidegate.reference.credit.credit_sender import COMPONENT, Config, Credit, start, step
from tidegate.reference.credit.readers import Backlog, Kind, Send
from tidegate.reference.credit.subpartitions import Item, Subpartition
from tidegate.reference.model import InvalidInputError, Outcome, Rejected
from tidegate.traces.notation.text import read_trace


def walk(initial_credit, trace):
    (state,) = start(Config(initial_credit))
    outcomes = []
    for event in read_trace("credit_sender", trace):
        (outcome,) = step(state, event)
        if outcome.observations == (Rejected(),):
            assert outcome.state == state
        outcomes.append(outcome)
        state = outcome.state
    return outcomes


def short(seen):
    """`d0/1` is data number 0 with backlog 1, `e1/0` an event, `!2` an announcement, `x` refused."""
    match seen:
        case Send():
            return f"{seen.kind[0]}{seen.sequence}/{seen.backlog}"
        case Backlog():
            return f"!{seen.backlog}"
    return "x"


def run(initial_credit, trace):
    """One word an event, `~` where nothing is seen."""
    return " ".join(",".join(map(short, one.observations)) or "~" for one in walk(initial_credit, trace))


@pytest.mark.rule("CREDIT-19", "CREDIT-21", "CREDIT-23", "SUBP-10")
@pytest.mark.parametrize(
    ("credit", "trace", "shown"),
    [
        (1, "data data", "d0/0 ~"),
        (2, "data event data", "d0/0 e1/0 d2/0"),
        (1, "data data data credit1", "d0/0 ~ ~ d1/0"),
        (1, "data data data data credit2", "d0/0 ~ ~ ~ d1/1,d2/0"),
        (0, "event data event credit1", "e0/0 ~ !1 d1/0,e2/0"),
        (1, "data data event event", "d0/0 ~ ~ ~"),
    ],
    ids=lambda value: str(value).replace(" ", "-"),
)
def test_credit_21_data_costs_credit_and_events_none(credit, trace, shown):
    assert run(credit, trace) == shown


@pytest.mark.rule("SUBP-5", "SUBP-6", "CREDIT-24")
def test_subp_6_only_the_first_finished_item_wakes():
    assert run(0, "data data data data") == "~ !1 ~ ~"


@pytest.mark.rule("SUBP-6")
def test_subp_6_a_lone_item_wakes_and_is_sent():
    assert run(1, "data") == "d0/0"
    assert walk(0, "data data data")[-1].rules == ("SUBP-6", "SUBP-5")


@pytest.mark.rule("SUBP-11", "CREDIT-23")
@pytest.mark.parametrize(
    ("trace", "backlog"),
    [
        ("data data data credit1", 1),
        ("data data event credit1", 1),
        ("data event data credit1", 0),
        ("data data flush credit1", 1),
        ("data data finish credit1", 1),
        ("data barrier credit1", 0),
        ("data event data barrier credit1", 1),
    ],
    ids=lambda value: str(value).replace(" ", "-"),
)
def test_subp_11_the_last_buffer_counts_only_if_it_is_known_to_be_complete(trace, backlog):
    sent = walk(0, trace)[-1].observations
    assert sent[0] == Send(Kind.DATA, 0, backlog)


@pytest.mark.rule("SUBP-7")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("flush data", "~ ~"),
        ("data flush", "~ !1"),
        ("data flush flush", "~ !1 ~"),
        ("data flush data data", "~ !1 ~ ~"),
        ("data data flush", "~ !1 ~"),
        ("data data flush credit1", "~ !1 ~ d0/1"),
        ("data flush credit1 data data", "~ !1 d0/0 ~ !1"),
    ],
    ids=lambda value: value.replace(" ", "-"),
)
def test_subp_7_a_flush_counts_once_until_the_queue_is_empty(trace, shown):
    assert run(0, trace) == shown


@pytest.mark.rule("SUBP-7", "SUBP-13")
def test_subp_7_a_flush_is_recorded_while_blocked():
    assert run(0, "barrier data flush resume") == "e0/0 ~ ~ !1"
    assert run(0, "barrier data resume") == "e0/0 ~ ~"


@pytest.mark.rule("CREDIT-22")
def test_credit_22_what_cannot_be_written_waits():
    assert run(2, "writable- data event writable- writable+ writable+") == "~ ~ ~ ~ d0/0,e1/0 ~"
    assert run(0, "writable- data data credit2 writable+") == "~ ~ !1 ~ d0/0,d1/0"


@pytest.mark.rule("CREDIT-20", "CREDIT-24")
def test_credit_24_no_announcement_while_queued_or_from_writing():
    assert run(0, "writable- event data data writable+ data") == "~ ~ ~ ~ e0/1 ~"
    assert walk(0, "data data")[-1].rules[0] == "CREDIT-24"


@pytest.mark.rule("CREDIT-20")
def test_credit_20_a_queued_reader_is_not_queued_again():
    outcome = walk(1, "writable- data credit1")[-1]
    assert outcome.rules[0] == "CREDIT-20"
    assert outcome.state.queued


@pytest.mark.rule("CREDIT-20")
@pytest.mark.parametrize("amount", [0, -1, -(2**31)])
def test_credit_20_credit_below_one_is_refused(amount):
    (state,) = start(Config(0))
    assert step(state, Credit(amount)) == (Outcome(state, (Rejected(),), ("CREDIT-20",)),)


@pytest.mark.rule("CREDIT-25")
def test_credit_25_a_reader_that_started_with_credit_never_announces():
    outcomes = walk(1, "data data data flush")
    assert [one.observations for one in outcomes[1:]] == [(), (), ()]
    assert walk(1, "data data event")[-1].rules[0] == "CREDIT-25"
    assert walk(1, "data barrier data data resume")[-1].rules[0] == "CREDIT-25"


@pytest.mark.rule("CREDIT-26", "SUBP-13")
@pytest.mark.parametrize(
    ("credit", "trace", "shown", "left"),
    [
        (2, "barrier data credit1 resume", "e0/0 ~ ~ d1/0", 2),
        (0, "credit3 data barrier data data credit1 resume", "~ d0/0 e1/0 ~ ~ ~ !1", 0),
        (0, "credit3 barrier resume data", "~ e0/0 ~ ~", 0),
        (1, "data data barrier barrier credit1 resume resume", "d0/0 ~ ~ ~ d1/0,e2/0 e3/0 ~", 0),
        (3, "barrier event finish resume", "e0/0 ~ ~ e1/0,e2/0", 3),
    ],
    ids=lambda value: str(value).replace(" ", "-"),
)
def test_credit_26_a_barrier_blocks_until_resume(credit, trace, shown, left):
    assert run(credit, trace) == shown
    assert walk(credit, trace)[-1].state.reader.credit == left


@pytest.mark.rule("SUBP-13")
@pytest.mark.parametrize("trace", ["resume", "credit2 resume", "writable- barrier resume", "data barrier resume"])
def test_subp_13_resume_is_refused_unless_blocked(trace):
    outcome = walk(0, trace)[-1]
    assert (outcome.observations, outcome.rules) == ((Rejected(),), ("SUBP-13",))


@pytest.mark.rule("SUBP-12", "SUBP-13")
def test_subp_12_a_blocked_reader_that_is_woken_finds_nothing():
    outcome = walk(0, "barrier finish")[-1]
    assert outcome.rules[:2] == ("SUBP-12", "SUBP-13")
    assert outcome.observations == ()
    assert not outcome.state.queued
    assert run(0, "barrier writable- finish writable+ resume") == "e0/0 ~ ~ ~ e1/0"


@pytest.mark.rule("SUBP-17", "SUBP-6")
def test_subp_17_finish_wakes_and_is_the_end():
    assert run(0, "data finish credit1 data event barrier finish flush credit1") == "~ !1 d0/0,e1/0 x x x x ~ ~"
    assert run(0, "data data data finish") == "~ !1 ~ !3"
    assert walk(0, "finish data")[-1].rules == ("SUBP-17",)


def test_config_is_checked():
    with pytest.raises(InvalidInputError):
        Config(-1)


@pytest.mark.rule("SUBP-5", "SUBP-7", "SUBP-12", "CREDIT-28")
@pytest.mark.parametrize(
    ("module", "function", "broken", "law"),
    [
        (subpartitions, "compute_finished_count", lambda one: len(one.queue), "the-last-is-presumed-open"),
        (subpartitions, "is_readable", lambda one: bool(one.queue), "available-is-what-can-be-taken"),
        (subpartitions, "flush", lambda one: (one, True), "a-flush-ends-with-the-last-item"),
        (subpartitions, "is_event_next", lambda one: not one.blocked, "available-is-what-can-be-taken"),
    ],
)
def test_laws_tell_a_broken_function(monkeypatch, module, function, broken, law):
    (held,) = [one for one in COMPONENT.laws if one.name == law]
    assert all(held.holds(*sample) for sample in held.samples())
    monkeypatch.setattr(module, function, broken)
    assert not all(held.holds(*sample) for sample in held.samples())


@pytest.mark.rule("CREDIT-28")
def test_credit_28_empty_buffers_are_sent_only_without_initial_credit():
    queue = Subpartition((Item.EMPTY, Item.DATA))
    first, message = readers.read(readers.Reader(0, 2, queue))
    assert message == Send(Kind.DATA, 0, 0)
    assert first.credit == 1
    skipped, message = readers.read(readers.Reader(2, 2, queue))
    assert message == Send(Kind.DATA, 0, 0)
    assert skipped.subpartition.queue == ()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda one: attrs.evolve(one, observations=(Send(Kind.DATA, 1, 0),)), "sent-in-order"),
        (lambda one: attrs.evolve(one, observations=()), "sent-in-order"),
        (lambda one: attrs.evolve(one, observations=(Send(Kind.DATA, 0, 3),)), "backlog-is-what-is-queued"),
        (
            lambda one: attrs.evolve(
                one, state=attrs.evolve(one.state, reader=attrs.evolve(one.state.reader, credit=2))
            ),
            "data-costs-credit",
        ),
        (lambda one: attrs.evolve(one, state=attrs.evolve(one.state, writable=False)), "sends-only-when-it-may"),
        (lambda one: attrs.evolve(one, observations=(Backlog(1),)), "announces-without-credit"),
    ],
)
def test_properties_tell_a_wrong_outcome(change, name):
    (before,) = start(Config(2))
    (event,) = read_trace("credit_sender", "data")
    (outcome,) = step(before, event)
    claims = {one.name: one.holds for one in COMPONENT.properties}
    assert all(holds(before, event, outcome) for holds in claims.values())
    assert not claims[name](before, event, change(outcome))


@pytest.mark.rule("CREDIT-19", "CREDIT-20")
def test_invariant_tells_a_reader_left_behind():
    (claim,) = COMPONENT.invariants
    (state,) = start(Config(1))
    forgotten = attrs.evolve(state, reader=attrs.evolve(state.reader, subpartition=Subpartition((Item.DATA,))))
    assert claim.holds(state)
    assert not claim.holds(forgotten)
    assert not claim.holds(attrs.evolve(forgotten, writable=False))
    assert claim.holds(attrs.evolve(forgotten, writable=False, queued=True))
