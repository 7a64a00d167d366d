"""The rules that a subpartition names while its reader is held back by a barrier; and claims, in corners."""

import attrs
import pytest

from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.queue import Item, Kind, Queue
from tidegate.reference.subpartition.subpartition.claims import takes_from_the_front
from tidegate.reference.subpartition.subpartition.step import start, step
from tidegate.reference.subpartition.subpartition.values import AddEvent, Config, Poll
from tidegate.reference.subpartition.values import CreateView, Flush, Polled


@pytest.mark.parametrize(("event", "rules"), [(Flush(), ("SUBP-7", "SUBP-13")), (Poll(), ("SUBP-13", "SUBP-8"))])
def test_a_hold_is_named_where_it_decides(event, rules):
    (state,) = start(Config())
    for before in (CreateView(), AddEvent(Kind.BARRIER), Poll()):
        state = step(state, before)[0].state
    assert step(state, event)[0].rules == rules


def test_an_empty_buffer_that_is_handed_out_says_nothing():
    (state,) = start(Config())
    before = attrs.evolve(state, queue=Queue((Item(Kind.DATA), Item(Kind.BARRIER))))
    after = attrs.evolve(state, queue=Queue((Item(Kind.BARRIER),)))
    polled = Polled(Kind.DATA, b"", 0, Kind.BARRIER, 0)
    assert takes_from_the_front.holds(before, Poll(), Outcome(after, (polled,), ()))


def test_two_buffers_a_channel_and_no_limit_of_size_are_usual():
    assert Config() == Config(exclusive=2, size_hint=2**31 - 1)
