"""The network buffer is no part of the protocol."""

from reference.subpartition.buffer import COMPONENT, start
from reference.subpartition.buffer_values import Config


def test_it_is_no_part_of_the_protocol():
    assert len(start(Config(1))) == 1
    assert not COMPONENT.in_protocol
