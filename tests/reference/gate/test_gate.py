"""The gate, rule by rule."""

import pytest

from tests.reference.walking import claim, walk
from tidegate.reference import elements
from tidegate.reference.gate import end_of_data, gate
from tidegate.reference.model import Outcome, Rejected

#: An item by its letter, with + if there is more; ! available, - none, . finished, x rejected.
LETTERS = {gate.Item.DATA: "d", gate.Item.END_OF_DATA: "e", gate.Item.END_OF_PARTITION: "p"}
SIGNS = {gate.Available(): "!", elements.Nothing(): "-", gate.Finished(): ".", Rejected(): "x"}
WORDS = {"d": "data", "e": "end", "p": "over", "?": "poll"}


def walk_gate(channels, trace):
    """A trace with one letter for each item: `0d` is data on channel 0, e ends data, p the partition; `?` polls."""
    words = [word[:-1] + WORDS[word[-1]] for word in trace.split()]
    return walk("gate", {"channels": channels}, " ".join(words))


def short(one):
    return f"{one.channel}{LETTERS[one.item]}{'+' * one.more}" if isinstance(one, gate.Polled) else SIGNS[one]


def run(channels, trace):
    return " ".join("".join(map(short, one.observations)) or "~" for one in walk_gate(channels, trace))


def rules(channels, trace):
    return walk_gate(channels, trace)[-1].rules


@pytest.mark.rule("GATE-1", "GATE-2", "GATE-3")
@pytest.mark.parametrize(
    ("trace", "shown", "named"),
    [
        ("0d", "!", ("GATE-2", "GATE-1", "GATE-3")),
        ("0d 1d", "! ~", ("GATE-2", "GATE-1", "GATE-3")),
        ("0d 0d", "! ~", ("GATE-3", "GATE-1")),
        ("0d ? 0d", "! 0d !", ("GATE-2", "GATE-1", "GATE-3")),
        ("0d 1d ? 0d", "! ~ 0d+ ~", ("GATE-2", "GATE-1", "GATE-3")),
        ("0d 0d ? 0d", "! ~ 0d+ ~", ("GATE-3", "GATE-1")),
    ],
)
def test_gate_2_only_the_first_channel_in_the_queue_is_signalled(trace, shown, named):
    assert (run(2, trace), rules(2, trace)) == (shown, named)


@pytest.mark.rule("GATE-4")
def test_gate_4_nothing_to_poll():
    assert run(2, "? ?") == "- -"
    assert rules(2, "?") == ("GATE-4", "GATE-7")


@pytest.mark.rule("GATE-5", "GATE-8")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("2d 2d 2d 0d 1d 1d ? ? ? ? ? ? ?", "! ~ ~ ~ ~ ~ 2d+ 0d+ 1d+ 2d+ 1d+ 2d -"),
        ("0d 0d 1d ? 0d ? ? ?", "! ~ ~ 0d+ ~ 1d+ 0d+ 0d"),
        ("0d 1d ? 0d ? ?", "! ~ 0d+ ~ 1d+ 0d"),
    ],
)
def test_gate_8_channels_are_served_in_turn(trace, shown):
    assert run(3, trace) == shown


@pytest.mark.rule("GATE-5", "GATE-7", "GATE-8", "GATE-9")
@pytest.mark.parametrize(
    ("trace", "named"),
    [
        ("0d ?", ("GATE-5", "GATE-7")),
        ("0d 0d ?", ("GATE-5", "GATE-9")),
        ("0d 1d ?", ("GATE-5", "GATE-8")),
        ("0d 0d 1d ?", ("GATE-5", "GATE-8", "GATE-9")),
        ("0e ?", ("GATE-5", "GATE-15", "GATE-7")),
        ("0p ?", ("GATE-16", "GATE-5", "GATE-7")),
        ("0p 1p ? ?", ("GATE-17", "GATE-16", "GATE-5")),
    ],
)
def test_gate_5_rules_of_a_poll(trace, named):
    assert rules(2, trace) == named


@pytest.mark.rule("GATE-7")
def test_gate_7_available_exactly_while_a_channel_is_queued():
    outcomes = walk_gate(2, "0d 1d ? ? ? 0d")
    assert [outcome.state.available for outcome in outcomes] == [True, True, True, False, False, True]


@pytest.mark.rule("GATE-9")
def test_gate_9_items_of_a_channel_keep_their_order():
    assert run(1, "0d 0e 0d 0p ? ? ? ?") == "! ~ ~ ~ 0d+ 0e+ 0d+ 0p."


@pytest.mark.rule("GATE-15", "GATE-16")
@pytest.mark.parametrize(
    ("trace", "shown", "rule"),
    [
        ("0e 0e", "! x", "GATE-15"),
        ("0e ? 0e", "! 0e x", "GATE-15"),
        ("0p 0d", "! x", "GATE-16"),
        ("0p ? 0d", "! 0p x", "GATE-16"),
        ("0p 0p", "! x", "GATE-16"),
        ("0e 0p 0e", "! ~ x", "GATE-16"),
        ("0p 1p ? ? 1d", "! ~ 0p+ 1p. x", "GATE-16"),
        ("2d", "x", "GATE-1"),
        ("-1d", "x", "GATE-1"),
        ("0d 2p", "! x", "GATE-1"),
    ],
)
def test_refused_items_change_nothing(trace, shown, rule):
    assert (run(2, trace), rules(2, trace)) == (shown, (rule,))


@pytest.mark.rule("GATE-16")
def test_gate_16_a_partition_ends_with_or_without_end_of_data():
    assert run(2, "0p 1e 1d 1p ? ? ? ?") == "! ~ ~ ~ 0p+ 1e+ 1d+ 1p."


@pytest.mark.rule("GATE-17")
def test_gate_17_finished_with_the_last_end_of_partition():
    assert run(2, "0p 1d ? ? 1p ? ? ?") == "! ~ 0p+ 1d ! 1p. - -"
    outcomes = walk_gate(2, "0p 1d ? ? 1p ? ? ?")
    assert outcomes[-1].state.available
    assert outcomes[-1].state == outcomes[-3].state
    assert outcomes[-1].rules == ("GATE-17", "GATE-4")


@pytest.mark.rule("GATE-15")
@pytest.mark.parametrize(
    ("drains", "known"), [((), "not_yet"), ((True,), "not_yet"), ((True, True), "drained"), ((False, True), "stopped")]
)
def test_gate_15_what_is_known_about_the_end_of_data(drains, known):
    assert end_of_data.compute_end_of_data(2, drains) == known


# --- claims, told of what is wrong ----------------------------------------------------------------------------

DATA, END = gate.Item.DATA, gate.Item.END_OF_PARTITION
BEFORE = gate.State(gate.Config(2), (gate.Channel((DATA, DATA)), gate.Channel((DATA,))), (0, 1), available=True)


def holds(name, after, *seen):
    return claim("gate", name)(BEFORE, gate.Poll(), Outcome(after, seen, ()))


@pytest.mark.parametrize(
    ("waiting", "is_right"), [((DATA, END), True), ((END, DATA), False), ((END, DATA, DATA), False)]
)
def test_nothing_may_wait_behind_an_end(waiting, is_right):
    after = gate.State(BEFORE.config, (gate.Channel((DATA,)), gate.Channel(waiting)), (0, 1), available=True)
    assert holds("nothing-after-the-end", after) == is_right


def test_a_gate_that_gives_nothing_does_not_serve_in_rounds(monkeypatch):
    monkeypatch.setattr(gate, "on_poll", lambda state: Outcome(state, (elements.Nothing(),), ()))
    assert not gate.in_rounds.holds(1, 2, 0)


def test_a_gate_that_serves_only_while_it_is_available_serves_in_rounds(monkeypatch):
    right = gate.on_poll

    def ask_first(state):
        return right(state) if state.available else Outcome(state, (elements.Nothing(),), ())

    monkeypatch.setattr(gate, "on_poll", ask_first)
    assert gate.in_rounds.holds(1, 2, 0)
