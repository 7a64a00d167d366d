"""The claims about the result partition, told of what is wrong."""

import pytest

from reference.subpartition import blocking_values
from reference.subpartition.partition_claims import data_ends_at_most_once
from reference.subpartition.partition_values import Config, Partition, PartitionKind, State
from reference.subpartition.queue import Item, Kind
from reference.subpartition.stores import Store

END, DATA = Item(Kind.END_OF_DATA), Item(Kind.DATA, b"a")


@pytest.mark.parametrize(
    ("written", "pending", "is_right"),
    [((DATA, END), None, True), ((END, DATA, END), None, False), ((END,), END, False), ((DATA,), DATA, True)],
)
def test_in_a_blocking_subpartition_all_counts_that_is_written_or_pending(written, pending, is_right):
    one = blocking_values.State(blocking_values.Config(Store.FILE), written, pending)
    assert data_ends_at_most_once(State(Config(PartitionKind.BLOCKING, 1), Partition((one,)))) == is_right
