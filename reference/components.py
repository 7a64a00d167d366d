"""Every component of the specification, in the order in which a record travels, with one sentence each.

This is the one list: documentation, notation, generators, suites and the command line read it. A component is found by
its place: `watermarks/valve` is the module (or package) `tidegate.reference.watermarks.valve`, whose `COMPONENT` it is.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module

import attrs

from tidegate.reference.model import AnyComponent


@attrs.frozen
class Place:
    """Where a component stands: its folder, and its part in the journey of a record."""

    path: str
    sentence: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def subject(self) -> str:
        """The folder that holds the component, its rules and its kin."""
        return self.path.partition("/")[0]

    @property
    def module(self) -> str:
        return f"tidegate.reference.{self.path.replace('/', '.')}"


PATH = (
    Place("chaining/chaining", "Operators are fused into tasks; what is left are the edges between tasks."),
    Place("chaining/job_graph", "Each edge gets its pattern and its result type."),
    Place("chaining/vertex_settings", "What is said of the operators of a chain is made into what holds of its task."),
    Place(
        "chaining/chain_lifecycle",
        "The operators of a task are opened, told of checkpoints, ended and closed in order.",
    ),
    Place("outputs", "What an operator emits goes to the network and to the operators chained to it."),
    Place("partitioning/wiring", "Each consumer learns which subpartitions of which producers it reads."),
    Place("partitioning/partitioner", "The output picks the channels that an element is written to."),
    Place("spanning/serializer", "Records become bytes, and bytes fill buffers."),
    Place("spanning/writer", "Buffers of many channels, shared or not, under flushes and size hints."),
    Place("pools/buffer_needs", "Partitions and gates say how many buffers they require, and how many they can use."),
    Place("pools/buffer_pools", "Who writes or receives needs memory: pools share it, and no pool starves."),
    Place(
        "subpartition/buffer", "One builder writes, many consumers read, and the memory goes back when all are done."
    ),
    Place("subpartition/event_kinds", "An event is put into a buffer, on which a queue reads what it must know of it."),
    Place(
        "subpartition/subpartition", "Buffers and events queue for one reader, which is woken only where it must be."
    ),
    Place("subpartition/output_state", "A barrier that waits for too long overtakes what is queued, which is saved."),
    Place("subpartition/union_view", "Several subpartitions are read as one, in turn and whole records at a time."),
    Place("subpartition/blocking_subpartition", "A result is written to the end, then read as often as anybody likes."),
    Place("subpartition/result_partition", "Partitions are registered, requested, flushed and released."),
    Place("exchange", "Push or pull: when a result may be read, how often, and who releases it."),
    Place("credit/credit_sender", "Buffers are sent while there is credit; the backlog goes with them."),
    Place("credit/credit_receiver", "Buffers are granted as credit, exclusive ones first, floating ones where needed."),
    Place("credit/credit_connection", "Several senders take turns on one connection."),
    Place("credit/receiving_connection", "Messages find their channels, and credit goes out in turn."),
    Place("credit/credit_loop", "Sender, wire and receiver together: nothing is lost, nothing gets stuck."),
    Place("input/input_channels", "Channels find their producers, and notice what is lost on the way."),
    Place("input/missing_partitions", "Where nothing was found, the state of the producer says whether to ask again."),
    Place("input/channel_requests", "A task asks its channels to resume, to announce sizes, and how much they hold."),
    Place("input/channel_state", "A checkpoint that overtakes saves what it overtook in the channels."),
    Place("recovery/recovered_channel", "After a restore, what was saved of a channel is read before anything new."),
    Place("recovery/handed_over", "A channel goes live while it still has recovered data, and barriers overtake that."),
    Place("recovery/rescaling", "With other numbers of subtasks, what was saved of each is dealt out to new ones."),
    Place("gate/gate", "Channels with data are polled in turn."),
    Place("gate/priority_gate", "What has priority overtakes, and late notifications do no harm."),
    Place("gate/union_gate", "Several gates are read as one."),
    Place("spanning/deserializer", "Buffers become records again, wherever they were cut."),
    Place("recovery/virtual_channels", "Old connections that share a new channel are told apart, and filtered."),
    Place("input/network_input", "Buffers are read, and each kind of element goes its own way."),
    Place("input/input_close", "Deserializers are released, when channels end and when the input is closed."),
    Place("input/multiple_inputs", "Of several inputs, one is read at a time."),
    Place("watermarks/valve", "One watermark and one status from those of all channels."),
    Place("watermarks/combiner", "One watermark and one status from those of all inputs of an operator."),
    Place("watermarks/input_gauges", "What is shown of the inputs of an operator: watermarks, records, attributes."),
    Place("watermarks/generalized_watermarks", "Watermarks that applications declare, combined as they say."),
    Place("watermarks/idleness", "A split of a source that was silent for too long is idle, as its own clock has it."),
    Place("watermarks/multiplexer", "One watermark, and idleness, from those of all splits of a source."),
    Place("watermarks/source_output", "What a source emits: rising watermarks, idle once, active before the next."),
    Place(
        "watermarks/source_alignment", "A source, or one of its splits, that is too far ahead of others waits for them."
    ),
    Place("watermarks/alignment_group", "Sources report how far they are, and are told how far they may be."),
    Place("watermarks/latency_markers", "A source makes latency markers, as often as its job or the cluster says."),
    Place("watermarks/statuses", "Statuses and latency markers on their way through a task."),
    Place("mailbox", "Mails of many threads and the default action, run on one."),
    Place("barriers", "Channels wait for a checkpoint's barriers, or are overtaken by them."),
    Place("task", "The states of a task, its steps, and its end."),
    Place("job", "All of it together, under a scheduler that may do anything at any time."),
)

PLACES: dict[str, Place] = {place.name: place for place in PATH}


class Components(Mapping[str, AnyComponent]):
    """By name. Each is imported when it is first asked for: who needs one, or none, does not wait for all."""

    def __getitem__(self, name: str) -> AnyComponent:
        component: AnyComponent = import_module(PLACES[name].module).COMPONENT
        return component

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


COMPONENTS = Components()
