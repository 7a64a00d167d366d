"""The rules that a subpartition names while its reader is held back by a barrier."""

import pytest

from reference.subpartition.pipelined import start, step
from reference.subpartition.pipelined_values import AddEvent, Config, CreateView, Flush, Poll
from reference.subpartition.queue import Kind


@pytest.mark.parametrize(("event", "rules"), [(Flush(), ("SUBP-7", "SUBP-13")), (Poll(), ("SUBP-13", "SUBP-8"))])
def test_a_hold_is_named_where_it_decides(event, rules):
    (state,) = start(Config())
    for before in (CreateView(), AddEvent(Kind.BARRIER), Poll()):
        state = step(state, before)[0].state
    assert step(state, event)[0].rules == rules
