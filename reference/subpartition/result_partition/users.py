"""Who uses a partition, and how it goes when nobody does."""

import attrs

from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.result_partition import writing
from tidegate.reference.subpartition.result_partition.values import Observation, Partition, PartitionKind, State
from tidegate.reference.subpartition.result_partition.writing import Progress
from tidegate.reference.subpartition.values import Release, Released


def leave(state: State, partition: Partition) -> Outcome[State, Observation]:
    """SUBP-24: a pipelined partition goes with the last of its users."""
    after = attrs.evolve(state, partition=partition)
    if state.config.kind is PartitionKind.BLOCKING or partition.released or count_users(partition):
        return Outcome(after, (), ("SUBP-24",))
    freed = release(attrs.evolve(after, registered=False), partition)
    return Outcome(freed.state, freed.observations, ("SUBP-24",))


def count_users(partition: Partition) -> int:
    """SUBP-24: the subpartitions that nobody has read and left, and the writer."""
    left = {view.subpartition for view in partition.views if view.released}
    return len(partition.subpartitions) - len(left) + (not partition.closed)


def release(state: State, partition: Partition) -> Outcome[State, Observation]:
    if partition.released:
        return Outcome(attrs.evolve(state, partition=partition), (), ())
    progress = writing.tell_all(Progress(attrs.evolve(partition, released=True)), Release())
    return Outcome(attrs.evolve(state, partition=progress.partition), (Released(),), ())
