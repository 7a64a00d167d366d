"""Every component of the specification, in the order in which a record travels, with one sentence each.

This is the one list: documentation, notation, generators, suites and the command line read it. A component is found by
its place: `watermarks/valve` is the module (or package) `tidegate.reference.watermarks.valve`, whose `COMPONENT` it is.

There are two floors. The core is what any engine of this kind can be held to; the rest is inside Flink.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from importlib import import_module

import attrs

from tidegate.reference.model import AnyComponent


class Floor(StrEnum):
    CORE = "core"
    INSIDE = "inside Flink"


@attrs.frozen
class Place:
    """Where a component stands: its folder, its part in the journey of a record, and who can be held to it."""

    path: str
    sentence: str
    floor: Floor = Floor.INSIDE

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
    Place("chaining/chaining", "Operators are fused into tasks; the edges that remain connect tasks.", Floor.CORE),
    Place("chaining/job_graph", "Each edge gets its pattern and its result type.", Floor.CORE),
    Place("chaining/vertex_settings", "The settings of chained operators are merged into the settings of their task."),
    Place(
        "chaining/chain_lifecycle",
        "The operators of a task are opened, take part in checkpoints, end, and are closed, in order.",
    ),
    Place("outputs", "What an operator emits goes to the network and to the operators chained to it."),
    Place("partitioning/wiring", "Each consumer learns which subpartitions of which producers it reads.", Floor.CORE),
    Place("partitioning/partitioner", "The output picks the channels that an element is written to.", Floor.CORE),
    Place("spanning/serializer", "Records become bytes, and bytes fill buffers.", Floor.CORE),
    Place("spanning/writer", "Buffers of many channels, shared or not, under flushes and size hints.", Floor.CORE),
    Place("pools/buffer_needs", "Partitions and gates state how many buffers they require, and how many they can use."),
    Place("pools/buffer_pools", "Writers and receivers get memory from pools; pools share it, and no pool starves."),
    Place(
        "subpartition/buffer", "One builder writes, many consumers read, and the memory goes back when all are done."
    ),
    Place("subpartition/event_kinds", "An event becomes a buffer, which tells a queue what kind of event it holds."),
    Place(
        "subpartition/subpartition",
        "Buffers and events queue for one reader, which is woken only when it must be.",
        Floor.CORE,
    ),
    Place("subpartition/output_state", "A barrier that waits too long overtakes the queued data, which is saved."),
    Place("subpartition/union_view", "Several subpartitions are read as one, in turn and whole records at a time."),
    Place("subpartition/blocking_subpartition", "A result is written to the end, then read any number of times."),
    Place("subpartition/result_partition", "Partitions are registered, requested, flushed and released."),
    Place("exchange", "Push or pull: when a result may be read, how often, and who releases it."),
    Place("credit/credit_sender", "Buffers are sent while there is credit; the backlog goes with them.", Floor.CORE),
    Place(
        "credit/credit_receiver",
        "Buffers are granted as credit, exclusive ones first, floating ones where needed.",
        Floor.CORE,
    ),
    Place("credit/credit_connection", "Several senders take turns on one connection."),
    Place("credit/receiving_connection", "Messages find their channels, and credit goes out in turn."),
    Place("credit/credit_loop", "Sender, wire and receiver together: nothing is lost, nothing gets stuck.", Floor.CORE),
    Place("input/input_channels", "Channels find their producers, and notice what is lost on the way."),
    Place(
        "input/missing_partitions",
        "When a partition is not found, the state of its producer decides whether to ask again.",
    ),
    Place(
        "input/channel_requests",
        "A task asks its channels to resume, announces buffer sizes, and measures their backlog.",
    ),
    Place("input/channel_state", "A checkpoint that overtakes data saves the data it overtook in the channels."),
    Place("recovery/recovered_channel", "After a restore, the saved data of a channel is read before anything new."),
    Place(
        "recovery/handed_over",
        "A channel goes live while it still holds recovered data, and barriers overtake that data.",
    ),
    Place(
        "recovery/rescaling", "After a change of parallelism, the saved data of old subtasks is assigned to new ones."
    ),
    Place("gate/gate", "Channels with data are polled in turn.", Floor.CORE),
    Place("gate/priority_gate", "Events with priority overtake, and late notifications do no harm."),
    Place("gate/union_gate", "Several gates are read as one."),
    Place("spanning/deserializer", "Buffers become records again, wherever they were cut.", Floor.CORE),
    Place("recovery/virtual_channels", "Old connections that share a new channel are told apart, and filtered."),
    Place("input/network_input", "Buffers become elements, and each kind of element takes its own way."),
    Place("input/input_close", "Deserializers are released when their channels end and when the input is closed."),
    Place("input/multiple_inputs", "Of several inputs, one is read at a time."),
    Place("watermarks/valve", "One watermark and one status from those of all channels.", Floor.CORE),
    Place("watermarks/combiner", "One watermark and one status from those of all inputs of an operator.", Floor.CORE),
    Place("watermarks/input_gauges", "The metrics of an operator's inputs: watermarks, records, attributes."),
    Place("watermarks/generalized_watermarks", "Watermarks that applications declare are combined as declared."),
    Place("watermarks/idleness", "A split that is silent for too long, by its own clock, becomes idle.", Floor.CORE),
    Place("watermarks/multiplexer", "One watermark, and idleness, from those of all splits of a source.", Floor.CORE),
    Place(
        "watermarks/source_output",
        "What a source emits: rising watermarks, idle once, active before the next.",
        Floor.CORE,
    ),
    Place("watermarks/source_alignment", "A source, or one of its splits, that is too far ahead waits for the others."),
    Place("watermarks/alignment_group", "Sources report their watermarks, and learn how far they may go."),
    Place("watermarks/latency_markers", "A source emits latency markers at the interval that its job or cluster sets."),
    Place("watermarks/statuses", "Statuses and latency markers pass through a task."),
    Place("mailbox", "Mails of many threads and the default action run on one thread.", Floor.CORE),
    Place("barriers", "Channels wait for the barriers of a checkpoint, or the barriers overtake them.", Floor.CORE),
    Place("task", "The states of a task, its steps, and its end."),
    Place("job", "All of it together, under a scheduler that may choose any step at any time.", Floor.CORE),
)

#: The core first, each floor in path order.
BY_FLOOR: dict[Floor, tuple[Place, ...]] = {floor: tuple(one for one in PATH if one.floor is floor) for floor in Floor}
PLACES: dict[str, Place] = {place.name: place for place in PATH}


def floor_of(components: Iterable[str]) -> Floor:
    """Of a rule that belongs to several components: the core, if one of them is there."""
    return Floor.CORE if any(PLACES[name].floor is Floor.CORE for name in components) else Floor.INSIDE


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
