"""The gate, rule by rule."""

import pytest

from tests.reference.walking import claim, walk
from tidegate.reference import elements
from tidegate.reference.gate import end_of_data, gate
from tidegate.reference.model import Outcome

TWO = {"channels": 2}


@pytest.mark.parametrize(
    ("trace", "rules"),
    [
        ("0data", "GATE-2 GATE-1 GATE-3"),
        ("0data 1data poll 0data", "GATE-2 GATE-1 GATE-3"),
        ("0data 0data", "GATE-3 GATE-1"),
        ("poll", "GATE-4 GATE-7"),
        ("0data poll", "GATE-5 GATE-7"),
        ("0data 0data poll", "GATE-5 GATE-9"),
        ("0data 1data poll", "GATE-5 GATE-8"),
        ("0data 0data 1data poll", "GATE-5 GATE-8 GATE-9"),
        ("0end poll", "GATE-5 GATE-15 GATE-7"),
        ("0over poll", "GATE-16 GATE-5 GATE-7"),
        ("0over 1over poll poll", "GATE-17 GATE-16 GATE-5"),
        ("0over 1over poll poll poll", "GATE-17 GATE-4"),
    ],
)
def test_which_rules_have_a_part_in_it(trace, rules):
    assert walk("gate", TWO, trace)[-1].rules == tuple(rules.split())


@pytest.mark.rule("GATE-7")
def test_gate_7_available_exactly_while_a_channel_is_queued():
    outcomes = walk("gate", TWO, "0data 1data poll poll poll 0data")
    assert [outcome.state.available for outcome in outcomes] == [True, True, True, False, False, True]


@pytest.mark.rule("GATE-17")
def test_gate_17_a_finished_gate_stays_available():
    outcomes = walk("gate", TWO, "0over 1over poll poll poll poll")
    assert outcomes[-1].state.available
    assert outcomes[-1].state == outcomes[-3].state


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
