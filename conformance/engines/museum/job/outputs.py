"""The outputs of a subtask: which of its channels get an element."""

from typing import TYPE_CHECKING

from tidegate.conformance.engines.museum.partitioner import Partitioner
from tidegate.conformance.engines.wire import Host, Json

if TYPE_CHECKING:
    from tidegate.conformance.engines.museum.job.channels import Channel
    from tidegate.conformance.engines.museum.job.layout import NetworkEdge
    from tidegate.conformance.engines.museum.job.program import Element


def compute_max_parallelism(parallelism: int) -> int:
    power = 128
    while power < parallelism + parallelism // 2 and power < 2**15:
        power *= 2
    return power


class Output:
    """One of the outputs of a subtask, with its channels in the order of subpartitions."""

    def __init__(self, edge: "NetworkEdge", channels: "list[Channel]") -> None:
        self.edge = edge
        self.channels = sorted(channels, key=lambda channel: channel.route.subpartition)
        kind = edge.edge.partitioner
        consumers = edge.target.head.parallelism
        groups = {"max_parallelism": compute_max_parallelism(consumers)} if kind == "hash" else {}
        self.partitioner = Partitioner({"kind": kind, "channels": len(channels), **groups}, Host())
        # A rebalance may begin anywhere; here it is the first channel.
        self.partitioner.cursor = len(channels) - 1

    def send(self, event: Json, element: "Element") -> None:
        for seen in self.partitioner.step(event):
            self.channels[seen["channel"]].write(element)

    def broadcast(self, element: "Element") -> None:
        for channel in self.channels:
            channel.write(element)
