"""The claims about the gate refuse what they are there to refuse."""

import pytest

from tidegate.reference.gate import gate
from tidegate.reference.gate.gate import Channel, Config, Item, Nothing, Poll, Polled, State
from tidegate.reference.model import Outcome

CLAIMS = {claim.name: claim for claim in gate.COMPONENT.claims}
DATA, END = Item.DATA, Item.END_OF_PARTITION
BEFORE = State(Config(2), (Channel((DATA, DATA)), Channel((DATA,))), (0, 1), available=True)


def holds(name, after, *seen):
    return CLAIMS[name].holds(BEFORE, Poll(), Outcome(after, seen, ()))


@pytest.mark.parametrize(
    ("channel", "queue", "more", "is_right"),
    [
        (0, (1, 0), True, True),
        (1, (1, 0), True, False),
        (0, (0, 1), True, False),
        (0, (1, 0), False, False),
        (1, (0, 1), False, False),
    ],
    ids=["right", "not the head", "not moved up", "denies that there is more", "all three"],
)
def test_only_the_head_is_served(channel, queue, more, is_right):
    after = State(BEFORE.config, (Channel((DATA,)), Channel((DATA,))), queue, available=True)
    assert holds("serves-the-head", after, Polled(channel, DATA, more)) == is_right


@pytest.mark.parametrize(
    ("waiting", "is_right"), [((DATA, END), True), ((END, DATA), False), ((END, DATA, DATA), False)]
)
def test_nothing_may_wait_behind_an_end(waiting, is_right):
    after = State(BEFORE.config, (Channel((DATA,)), Channel(waiting)), (0, 1), available=True)
    assert holds("nothing-after-the-end", after) == is_right


def test_a_gate_that_gives_nothing_does_not_serve_in_rounds(monkeypatch):
    monkeypatch.setattr(gate, "on_poll", lambda state: Outcome(state, (Nothing(),), ()))
    assert not CLAIMS["in-rounds"].holds(1, 2, 0)


def test_a_gate_that_serves_only_while_it_is_available_serves_in_rounds(monkeypatch):
    right = gate.on_poll

    def ask_first(state):
        return right(state) if state.available else Outcome(state, (Nothing(),), ())

    monkeypatch.setattr(gate, "on_poll", ask_first)
    assert CLAIMS["in-rounds"].holds(1, 2, 0)
