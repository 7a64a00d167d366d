"""The network buffer is no part of the protocol."""

from tidegate.reference.subpartition.buffer import COMPONENT
from tidegate.reference.subpartition.buffer.step import start
from tidegate.reference.subpartition.buffer.values import Config


def test_it_is_no_part_of_the_protocol():
    assert len(start(Config(1))) == 1
    assert not COMPONENT.in_protocol
