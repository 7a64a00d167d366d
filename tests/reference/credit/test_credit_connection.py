"""The connection that readers share, rule by rule."""

from random import Random

import attrs
import pytest

from tidegate.properties.cases.credit_sender import draw as credit_sender
from tidegate.properties.explorer.exploring import explore
from tidegate.reference.credit import credit_sender as sender
from tidegate.reference.credit import readers
from tidegate.reference.credit.credit_connection import (
    COMPONENT,
    Add,
    Backlog,
    Break,
    Cancel,
    Closed,
    Config,
    Credit,
    Fail,
    Flush,
    ReaderError,
    Resume,
    Send,
    start,
    step,
)
from tidegate.reference.credit.credit_sender import Writable
from tidegate.reference.credit.subpartitions import Item
from tidegate.reference.model import InvalidInputError, Rejected

ITEMS = {"d": Item.DATA, "o": Item.EMPTY, "e": Item.EVENT, "b": Item.BARRIER, ".": Item.END}
OTHERS = {"f": Flush, "r": Resume, "c": Cancel, "x": Fail}
PLAIN = {"-": Writable(value=False), "+": Writable(value=True), "break": Break()}


def read(word):
    """`0d` adds data for reader 0 (o empty, e event, b barrier, . end), `0+2` grants credit; f r c x; - + break."""
    if word in PLAIN:
        return PLAIN[word]
    reader, _, amount = word.partition("+")
    if amount:
        return Credit(int(reader), int(amount))
    index, letter = int(word[:-1]), word[-1]
    return Add(index, ITEMS[letter]) if letter in ITEMS else OTHERS[letter](index)


def walk(initial_credits, trace):
    (state,) = start(Config(initial_credits))
    outcomes = []
    for word in trace.split():
        (outcome,) = step(state, read(word))
        if outcome.observations == (Rejected(),):
            assert outcome.state == state
        outcomes.append(outcome)
        state = outcome.state
    return outcomes


def short(seen):
    match seen:
        case Send():
            return f"{seen.reader}{seen.kind[0]}{seen.sequence}/{seen.backlog}"
        case Backlog():
            return f"{seen.reader}!{seen.backlog}"
        case ReaderError():
            return f"{seen.reader}error"
        case Closed():
            return "closed"
    return "x"


def run(initial_credits, trace):
    return " ".join(",".join(map(short, one.observations)) or "~" for one in walk(initial_credits, trace))


def last(initial_credits, trace):
    return run(initial_credits, trace).rpartition(" ")[2]


@pytest.mark.rule("CREDIT-20", "CREDIT-21", "CREDIT-22")
@pytest.mark.parametrize(
    ("initial", "trace", "shown"),
    [
        ((5, 5, 5), "- 0d 0d 0d 1d 1d 2d +", "0d0/1,1d0/0,2d0/0,0d1/0,1d1/0,0d2/0"),
        ((1, 5), "- 0d 0d 1d 1d 1d +", "0d0/0,1d0/1,1d1/0,1d2/0"),
        ((1, 5), "- 1d 0d 1d 0e +", "1d0/0,0d0/0,1d1/0,0e1/0"),
        ((0, 1), "- 0e 1d 0d 0d +", "0e0/1,1d0/0"),
        ((2, 2), "- 0b 1d 0d +", "0e0/0,1d0/0"),
    ],
    ids=lambda value: str(value).replace(" ", "-"),
)
def test_credit_21_readers_take_turns(initial, trace, shown):
    assert last(initial, trace) == shown


@pytest.mark.rule("CREDIT-20", "CREDIT-24")
def test_credit_24_each_reader_announces_for_itself():
    assert run((0, 0), "0d 1d 1d 0f") == "~ ~ 1!1 0!1"


@pytest.mark.rule("CREDIT-27")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("- 0d 1d 0c +", "~ ~ ~ ~ 1d0/0"),
        ("0c 0c 2c -1c", "~ ~ ~ ~"),
        ("0c 0+1", "~ x"),
        ("0c 0r", "~ x"),
        ("0c 0d 0x 0f", "~ x x x"),
        ("2+1 -1d", "x x"),
        ("0c 1d", "~ 1d0/0"),
    ],
    ids=lambda value: value.replace(" ", "_"),
)
def test_credit_27_a_cancelled_reader_is_unknown(trace, shown):
    assert run((2, 2), trace) == shown


@pytest.mark.rule("CREDIT-28")
@pytest.mark.parametrize(
    ("initial", "trace", "shown", "left"),
    [
        (0, "0o 0d 0+3", "~ 0!1 0d0/0,0d1/0", 1),
        (0, "0o 0f 0e 0+1", "~ ~ 0!1 0d0/0,0e1/0", 0),
        (2, "0o 0d", "~ 0d0/0", 1),
        (2, "- 0o 0d 0o +", "~ ~ ~ ~ 0d0/0", 1),
    ],
    ids=lambda value: str(value).replace(" ", "-"),
)
def test_credit_28_empty_data_is_sent_only_without_initial_credit(initial, trace, shown, left):
    assert run((initial,), trace) == shown
    assert walk((initial,), trace)[-1].state.readers[0].credit == left


@pytest.mark.rule("CREDIT-29")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("- 0d 1d 0x + 1d", "~ ~ ~ ~ 0error,1d0/0 1d1/0"),
        ("0x 0d 0+1 0. 1d", "~ ~ ~ ~ 1d0/0"),
        ("- 0d 1d break + 1d 0+1 1c", "~ ~ ~ closed ~ ~ ~ ~"),
        ("0x break 1d", "~ closed ~"),
    ],
    ids=lambda value: value.replace(" ", "_"),
)
def test_credit_29_a_failed_reader_ends_alone_and_a_failed_connection_ends_all(trace, shown):
    assert run((2, 2), trace) == shown


@pytest.mark.rule("CREDIT-29")
def test_credit_29_a_flush_that_is_pending_makes_the_failure_known():
    assert run((0, 0), "0d 0d 0f 0x 0+1 0+1") == "~ 0!1 ~ ~ 0error ~"


@pytest.mark.parametrize("initial", [(-1,), (1, -2)])
def test_config_is_checked(initial):
    with pytest.raises(InvalidInputError):
        Config(initial)
    with pytest.raises(InvalidInputError):
        Credit(0, 0)


def alphabet(state):
    """Two readers with at most two items queued, and small credit."""
    for index, reader in enumerate(state.readers):
        yield from (Cancel(index), Fail(index), Flush(index), Resume(index))
        if reader.credit < 2:
            yield Credit(index, 1)
        if len(reader.subpartition.queue) < 2 and reader.subpartition.sequence < 2:
            yield from (Add(index, item) for item in Item)
    yield from (Writable(value=False), Writable(value=True), Break())


@pytest.mark.rule("CREDIT-20", "CREDIT-21", "CREDIT-22", "CREDIT-27", "CREDIT-29")
@pytest.mark.parametrize("initial", [(0, 1), (1, 1)])
def test_properties_hold_as_far_as_two_readers_reach(initial):
    found = explore(COMPONENT, Config(initial), alphabet, limit=4000)
    assert found.broken == ()


@pytest.mark.rule("CREDIT-21")
def test_properties_tell_who_is_served_twice():
    before = walk((5, 5), "- 0d 0d 1d 1d")[-1].state
    (outcome,) = step(before, Writable(value=True))
    claims = {one.name: one.holds for one in COMPONENT.properties}
    first, second, third, fourth = outcome.observations
    greedy = attrs.evolve(outcome, observations=(first, third, second, fourth))
    assert claims["takes-turns"](before, Writable(value=True), outcome)
    assert not claims["takes-turns"](before, Writable(value=True), greedy)


@pytest.mark.rule("CREDIT-27", "CREDIT-29")
def test_properties_tell_a_reader_that_takes_others_along():
    before = walk((2, 2), "- 0d 1d")[-1].state
    (outcome,) = step(before, Cancel(0))
    claims = {one.name: one.holds for one in COMPONENT.properties}
    assert claims["leaves-the-others-alone"](before, Cancel(0), outcome)
    emptied = attrs.evolve(outcome, state=attrs.evolve(outcome.state, queue=()))
    assert not claims["leaves-the-others-alone"](before, Cancel(0), emptied)
    (invariant,) = COMPONENT.invariants
    assert invariant.holds(outcome.state)
    assert not invariant.holds(emptied.state)


def same_for_a_connection(event):
    match event:
        case sender.Credit():
            return Credit(0, event.amount)
        case sender.Resume():
            return Resume(0)
        case sender.Flush():
            return Flush(0)
        case Writable():
            return event
    return Add(0, sender.ITEMS[type(event)])


def test_a_single_reader_is_a_sender():
    """What the sender does with one reader, the connection does with its only one."""
    for seed in range(300):
        config, events = credit_sender.draw(Random(seed))
        (alone,), (shared,) = sender.start(config), start(Config((config.initial_credit,)))
        for event in events:
            if isinstance(event, sender.Credit) and event.amount < 1:
                continue
            (expected,), (outcome,) = sender.step(alone, event), step(shared, same_for_a_connection(event))
            assert [without_reader(seen) for seen in outcome.observations] == list(expected.observations)
            alone, shared = expected.state, outcome.state
            assert shared.readers == (alone.reader,)


def without_reader(seen):
    match seen:
        case Send():
            return readers.Send(seen.kind, seen.sequence, seen.backlog)
        case Backlog():
            return readers.Backlog(seen.backlog)
    return seen
