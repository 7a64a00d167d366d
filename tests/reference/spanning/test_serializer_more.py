"""The claims about the serializer refuse what they are there to refuse."""

import pytest

from tidegate.reference.model import Outcome
from tidegate.reference.spanning import serializer
from tidegate.reference.spanning.serializer import Config, ControlEvent, Finish, State

CLAIMS = {claim.name: claim for claim in serializer.COMPONENT.claims}


@pytest.mark.parametrize("event", [ControlEvent(), Finish()])
def test_a_record_that_spans_an_event_is_refused(event):
    before = State(Config(8), 3, b"abc")
    assert not CLAIMS["nothing-spans-an-event"].holds(before, event, Outcome(before, (), ()))


@pytest.mark.parametrize("encoded", [b"\0\0\0\3ab", b"\0\0\0\2abc", b"\0\0\0\2ba", b"\2\0\0\0ab"])
def test_another_encoding_is_refused(monkeypatch, encoded):
    monkeypatch.setattr(serializer, "encode_record", lambda _payload: encoded)
    assert not CLAIMS["length-then-payload"].holds(b"ab")
