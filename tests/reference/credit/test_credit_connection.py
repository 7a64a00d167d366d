"""The connection that readers share, rule by rule."""

from random import Random

import attrs
import pytest

from tests.reference.walking import broken_claims, claim, walk
from tidegate.properties.cases import credit_sender
from tidegate.properties.explorer.exploring import explore
from tidegate.reference.credit import credit_connection as connection
from tidegate.reference.credit import credit_sender as sender
from tidegate.reference.credit import readers
from tidegate.reference.credit.credit_sender import Writable
from tidegate.reference.credit.readers import QUEUED, Added, MessageKind, Reader
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition import values as subpartition
from tidegate.reference.subpartition.queue import Queue

#: An item by its letter, and what else is told of a reader; the words of the notation for them.
WORDS = {"d": "data", "o": "empty", "e": "event", "b": "barrier", ".": "end", "f": "flush", "r": "resume"}
WORDS |= {"c": "cancel", "x": "fail"}


def share(initial_credits, trace):
    """`0d` adds data for reader 0 (o empty, e event, b barrier, . end), `0+2` grants credit; f r c x; - + break."""
    words = []
    for word in trace.split():
        if word in ("+", "-"):
            words.append(f"writable{word}")
        elif "+" in word:
            words.append(word.replace("+", "credit"))
        else:
            words.append(word if word == "break" else word[:-1] + WORDS[word[-1]])
    return walk("credit_connection", connection.Config(initial_credits), " ".join(words))


def short(seen):
    match seen:
        case connection.Send():
            return f"{seen.reader}{seen.kind[0]}{seen.sequence}/{seen.backlog}"
        case connection.Backlog():
            return f"{seen.reader}!{seen.backlog}"
        case connection.ReaderError():
            return f"{seen.reader}error"
        case connection.Closed():
            return "closed"
    return "x"


def run(initial_credits, trace):
    return " ".join(",".join(map(short, one.observations)) or "~" for one in share(initial_credits, trace))


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
)
def test_credit_21_readers_take_turns(initial, trace, shown):
    assert run(initial, trace).rpartition(" ")[2] == shown


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
)
def test_credit_28_empty_data_is_sent_only_without_initial_credit(initial, trace, shown, left):
    assert run((initial,), trace) == shown
    assert share((initial,), trace)[-1].state.readers[0].credit == left


@pytest.mark.rule("CREDIT-29")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("- 0d 1d 0x + 1d", "~ ~ ~ ~ 0error,1d0/0 1d1/0"),
        ("0x 0d 0+1 0. 1d", "~ ~ ~ ~ 1d0/0"),
        ("- 0d 1d break + 1d 0+1 1c", "~ ~ ~ closed ~ ~ ~ ~"),
        ("0x break 1d", "~ closed ~"),
    ],
)
def test_credit_29_a_failed_reader_ends_alone_and_a_failed_connection_ends_all(trace, shown):
    assert run((2, 2), trace) == shown


@pytest.mark.rule("CREDIT-29")
def test_credit_29_a_flush_that_is_pending_makes_the_failure_known():
    assert run((0, 0), "0d 0d 0f 0x 0+1 0+1") == "~ 0!1 ~ ~ 0error ~"


def alphabet(state):
    """Two readers with at most two items queued, and small credit."""
    for index, reader in enumerate(state.readers):
        yield from (connection.Cancel(index), connection.Fail(index), connection.Flush(index), connection.Resume(index))
        if reader.credit < 2:
            yield connection.Credit(index, 1)
        if len(reader.subpartition.items) < 2 and reader.subpartition.sequence < 2:
            yield from (connection.Add(index, item) for item in Added)
    yield from (Writable(value=False), Writable(value=True), connection.Break())


@pytest.mark.rule("CREDIT-20", "CREDIT-21", "CREDIT-22", "CREDIT-27", "CREDIT-29")
@pytest.mark.parametrize("initial", [(0, 1), (1, 1)])
def test_properties_hold_as_far_as_two_readers_reach(initial):
    found = explore(connection.COMPONENT, connection.Config(initial), alphabet, limit=4000)
    assert found.broken == ()


@pytest.mark.rule("CREDIT-27", "CREDIT-29")
def test_properties_tell_a_reader_that_takes_others_along():
    *_, before, outcome = share((2, 2), "- 0d 1d 0c")
    emptied = attrs.evolve(outcome, state=attrs.evolve(outcome.state, queue=()))
    assert broken_claims("credit_connection", before.state, connection.Cancel(0), emptied) == {
        "leaves-the-others-alone",
        "whoever-can-send-is-queued",
    }


def same_for_a_connection(event):
    match event:
        case sender.Credit():
            return connection.Credit(0, event.amount)
        case subpartition.Resume():
            return connection.Resume(0)
        case subpartition.Flush():
            return connection.Flush(0)
        case Writable():
            return event
    return connection.Add(0, sender.ADDED[type(event)])


def test_a_single_reader_is_a_sender():
    """What the sender does with one reader, the connection does with its only one."""
    for seed in range(300):
        config, events = credit_sender.draw(Random(seed))
        (alone,), (shared,) = sender.start(config), connection.start(connection.Config((config.initial_credit,)))
        for event in events:
            if isinstance(event, sender.Credit) and event.amount < 1:
                continue
            (expected,), (outcome,) = sender.step(alone, event), connection.step(shared, same_for_a_connection(event))
            assert [without_reader(seen) for seen in outcome.observations] == list(expected.observations)
            alone, shared = expected.state, outcome.state
            assert shared.readers == (alone.reader,)


def without_reader(seen):
    match seen:
        case connection.Send():
            return readers.BufferSent(seen.kind, seen.sequence, seen.backlog)
        case connection.Backlog():
            return readers.Backlog(seen.backlog)
    return seen


# --- a connection ------------------------------------------------------------------------------------------

WAITING = Reader(1, 1, Queue((QUEUED[Added.DATA],)))
TWO = connection.State(
    (WAITING, WAITING), (connection.Life.SERVED, connection.Life.SERVED), queue=(1, 0), writable=False
)


@pytest.mark.rule("CREDIT-27")
def test_who_is_cancelled_leaves_the_queue():
    (outcome,) = connection.step(TWO, connection.Cancel(1))
    assert outcome.state.queue == (0,)


@pytest.mark.rule("CREDIT-29")
def test_who_fails_stays_in_the_queue_and_a_break_empties_it():
    (failed,) = connection.step(TWO, connection.Fail(1))
    assert failed.state.queue == (1, 0)
    (broken,) = connection.step(TWO, connection.Break())
    assert (broken.state.queue, broken.state.closed) == ((), True)


@pytest.mark.parametrize(
    ("turns", "is_right"),
    [("", True), ("00", True), ("0101", True), ("0110", False), ("010", True), ("001", False), ("01001", False)],
)
def test_nobody_sends_twice_while_another_waits(turns, is_right):
    seen = tuple(connection.Send(int(turn), MessageKind.DATA, 0, 0) for turn in turns)
    holds = claim("credit_connection", "takes-turns")
    assert holds(TWO, connection.Flush(0), Outcome(TWO, seen, ())) == is_right


@pytest.mark.parametrize(
    ("lives", "queue", "is_right"),
    [
        ((connection.Life.SERVED, connection.Life.SERVED), (0, 1), True),
        ((connection.Life.SERVED, connection.Life.SERVED), (0,), False),
        ((connection.Life.SERVED, connection.Life.SERVED), (0, 1, 0), False),
        ((connection.Life.SERVED, connection.Life.FAILED), (0,), True),
        ((connection.Life.CANCELLED, connection.Life.FAILED), (), True),
    ],
)
def test_whoever_is_served_and_can_send_is_queued(lives, queue, is_right):
    state = attrs.evolve(TWO, lives=lives, queue=queue)
    assert claim("credit_connection", "whoever-can-send-is-queued")(state) == is_right
