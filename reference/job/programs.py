"""The program of a job: operators, edges between them, and the scripts that its sources follow.

A program is data, so that a job can be drawn, stored and replayed. What an operator does is chosen from a short list
(`functions`). What a source does is written down beforehand, one script a subtask; behind its script it ends.
"""

from enum import StrEnum
from itertools import pairwise
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.chaining.chains import Exchange, Kind, Partitioner
from tidegate.reference.chaining.job_graph import step as job_graph
from tidegate.reference.chaining.job_graph.edges import PartitionNode, SideOutputNode, VirtualNode
from tidegate.reference.chaining.job_graph.outputs import Mode
from tidegate.reference.elements import (
    MAX,
    Buffers,
    Bytes,
    Count,
    Counted,
    Long,
    Position,
    StatusChange,
    Subtasks,
    Text,
    Watermark,
    at_least,
    between,
    check_long,
    one_of,
)
from tidegate.reference.model import InvalidInputError, Rejected
from tidegate.reference.partitioning.keygroups import compute_default_max_parallelism
from tidegate.reference.partitioning.keys import check_text
from tidegate.reference.watermarks import valve

#: Those of the valves of its tasks.
SEMANTICS = valve.SEMANTICS

# --- elements -------------------------------------------------------------------------------------------------


@attrs.frozen
class Record:
    """A record. It gets its `id` when it leaves a task; no two that do have the same one."""

    type: ClassVar[str] = "record"
    key: Annotated[Text, "The key."] = attrs.field(validator=check_text)
    value: Annotated[Long, "The value."] = attrs.field(validator=check_long)
    timestamp: Annotated[Long, "The event time."] = attrs.field(validator=check_long)
    id: Long | None = None


@attrs.frozen
class Barrier:
    """What comes before belongs to the checkpoint, what comes behind does not."""

    type: ClassVar[str] = "barrier"
    checkpoint: Annotated[Count, "The number of the checkpoint."] = attrs.field(validator=at_least(1))


@attrs.frozen
class EndOfData:
    """No more records, watermarks or statuses."""

    type: ClassVar[str] = "end_of_data"


@attrs.frozen
class EndOfPartition:
    """Nothing more at all."""

    type: ClassVar[str] = "end_of_partition"


ScriptItem = Record | Watermark | StatusChange | Barrier
Element = ScriptItem | EndOfData | EndOfPartition

# --- operators and edges --------------------------------------------------------------------------------------


class Function(StrEnum):
    """What an operator does with a record. `union` and `join` pass it on; what they join are watermarks.

    The last three know event time, and belong to the extension `event_time`.
    """

    SOURCE = "source"
    MAP = "map"
    FLAT_MAP = "flat_map"
    FILTER = "filter"
    SUM = "sum"
    UNION = "union"
    JOIN = "join"
    SINK = "sink"
    TIMER = "timer"
    CO_TIMER = "co_timer"
    WINDOW = "window"


EVENT_TIME = frozenset((Function.TIMER, Function.CO_TIMER, Function.WINDOW))
#: Functions that need all records of a key in one place.
KEYED = EVENT_TIME | {Function.SUM}
TWO_INPUTS = frozenset((Function.JOIN, Function.CO_TIMER))
#: Operators that know event time, and timers that fire one by one.
EXTENSION = "event_time"
#: A checkpoint that can be restored, and a failure.
RECOVERY = "recovery"
#: The same, with sources that have finished before.
FINISHED = "finished"
EXTENSIONS = (EXTENSION, RECOVERY, FINISHED)
#: Functions whose results do not depend on the order in which records come.
RESTORABLE = frozenset((Function.SOURCE, Function.MAP, Function.FLAT_MAP, Function.FILTER, Function.SUM, Function.SINK))


@attrs.frozen
class Operator:
    """`scripts` are for sources, one for each subtask; `size` and `lateness` for windows."""

    id: Annotated[int, "Unique in the program."]
    name: Annotated[str, "Unique in the program; shown in the name of its task."]
    function: Annotated[
        Function,
        "What it does with a record. `source` follows its scripts. `map` doubles the value. `flat_map` makes a "
        "record with value 1 of each word of the key. `filter` keeps values above 0. `sum` adds up the values of "
        "each key and emits the new total. `union` and `join` pass records on. `sink` keeps them. Values have 64 "
        "bits and wrap around. With the extension `event_time`: `timer` adds up the values of each key and "
        "timestamp, and emits the sum, with that timestamp, when a timer for it fires; `co_timer` does so for two "
        "inputs; `window` adds up the values of each key and tumbling window, and emits the sum with the last "
        "timestamp of the window. A record whose time is over (TIME-6) goes to the `late` output unchanged.",
    ]
    parallelism: Subtasks = attrs.field(default=1, validator=at_least(1))
    scripts: Annotated[
        tuple[tuple[ScriptItem, ...], ...],
        "Of a source, one script for each subtask; other operators have none. The watermarks of a script increase "
        "and stay below the largest 64-bit number.",
    ] = ()
    size: Annotated[
        Count | None,
        "Of a window, which begins at a multiple of it; other operators have none.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(at_least(1)))
    lateness: Annotated[Position | None, "Of a window: how late a record may be."] = attrs.field(
        default=None, validator=attrs.validators.optional(at_least(0))
    )

    def __attrs_post_init__(self) -> None:
        is_window = self.function is Function.WINDOW
        if (self.size is not None) != is_window or (self.lateness is not None and not is_window):
            raise InvalidInputError(f"{self.name}: a window has a size, and may have a lateness; nothing else has any")
        is_source = self.function is Function.SOURCE
        if len(self.scripts) != (self.parallelism if is_source else 0):
            raise InvalidInputError(f"{self.name}: a source has a script for each subtask, and nothing else has any")
        for script in self.scripts:
            if any(isinstance(item, Record) and item.id is not None for item in script):
                raise InvalidInputError(f"{self.name}: a record gets its id when it leaves the task, not in a script")
            times = [item.timestamp for item in script if isinstance(item, Watermark)]
            if any(one >= following for one, following in pairwise([*times, MAX])):
                raise InvalidInputError(f"{self.name}: the watermarks of a script increase, and the end has the last")


#: Partitioners that a program may ask for: those that leave nothing to chance, so that a schedule determines a run.
OFFERED = ("forward", "rebalance", "rescale", "global", "broadcast", "hash")


class Side(StrEnum):
    """An output of an operator besides its own."""

    LATE = "late"


@attrs.frozen
class Edge:
    """Without a partitioner it gets the one that its ends call for. `output`: what it reads of its source."""

    source: Annotated[int, "The id of an operator."]
    target: Annotated[int, "The id of an operator."]
    partitioner: Annotated[
        Partitioner | None,
        "How records are spread. Absent: `forward` between operators of equal parallelism, else `rebalance`. The "
        "first channel of `rebalance` is channel 0.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*OFFERED)))
    input: Annotated[int, "Which input of the target it enters: 0, or for a `join` 0 or 1."] = attrs.field(
        default=0, validator=between(0, 1)
    )
    output: Annotated[
        Side | None,
        "What the edge reads of its source: `late`, or, without this key, what it emits.",
    ] = None


# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Wire:
    """Tasks on different machines: buffers of `buffer_size` bytes, `output` of them for each output of a task.

    `exclusive` buffers has each channel, `floating` ones the gate of a task.
    """

    buffer_size: Annotated[Bytes, "The size of a buffer in bytes."] = attrs.field(validator=at_least(1))
    exclusive: Annotated[Buffers, "Exclusive buffers of each channel."] = attrs.field(validator=at_least(0))
    floating: Annotated[Count, "Floating buffers of the gate of a task.", Counted.BUFFERS] = attrs.field(
        validator=at_least(1)
    )
    output: Annotated[Count, "Buffers for each output of a task.", Counted.BUFFERS] = attrs.field(
        default=2, validator=at_least(1)
    )


@attrs.frozen
class Rescaled:
    """The parallelism of an operator after the restore."""

    operator: Annotated[int, "Its id."]
    parallelism: Annotated[Subtasks, "How many subtasks it has then."] = attrs.field(validator=at_least(1))


@attrs.frozen
class Recovery:
    """How the checkpoint is taken, and at which parallelism the job is restored. Only with the extensions `recovery`
    and `finished`.
    """

    unaligned: Annotated[bool, "Whether barriers overtake."] = False
    rescaled: Annotated[tuple[Rescaled, ...], "The operators that have another parallelism after the restore."] = ()


# The hash of a config is asked for with every state that is looked up.
@attrs.frozen(cache_hash=True)
class Config:
    """A program. Names and ids of operators are unique, and no two edges join the same operators. A source has no
    incoming edges, a `join` and a `co_timer` have their inputs 0 and 1, every other operator input 0 alone; nothing
    leaves a sink. With the extension `event_time`, operators may know event time; they read by `hash`, and only they
    have a `late` output. With the extensions `recovery` and `finished`, and only with them, there is `recovery`: then
    there is no wire and nothing but sources, maps, flat maps, filters, sums and sinks; a sum reads by `hash`, and no
    sum reads another; scripts have records and one barrier, but with `finished` some, not all, have none; sources are
    not rescaled, an operator is rescaled once, parallelisms stay at most 85 where something is rescaled, and an edge of
    an operator that is rescaled is a `hash` edge, or joins operators that are rescaled alike. Every script that has any
    has the same barriers, with numbers that increase; only with `finished` some have none beside others that do. The
    graph is acyclic, and every operator is reached from a source. A `forward` edge joins operators of equal
    parallelism. Anything else is a `bad_request` error.
    """

    operators: Annotated[tuple[Operator, ...], "The operators of the program."]
    edges: Annotated[tuple[Edge, ...], "Its edges, in the order in which they were made."]
    wire: Annotated[
        Wire | None,
        "Buffers between tasks. Without a wire all tasks share a machine: what was written can be polled at once.",
    ] = None
    semantics: Annotated[
        str,
        "The valves of the tasks: `flink-7728`, or the corrected one of `flink-40475`.",
    ] = attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))
    extension: Annotated[
        str | None,
        "`event_time`: operators that know event time (`timer`, `co_timer`, `window`), late outputs, and the action "
        "`fire`. `recovery`: a checkpoint, and the action `fail`. `finished`: the same, with sources that have "
        "ended before the checkpoint. Only for engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))
    recovery: Annotated[
        Recovery | None,
        "How the checkpoint is taken, and at which parallelism the job is restored. Only with the extensions "
        "`recovery` and `finished`.",
    ] = None

    def __attrs_post_init__(self) -> None:
        check_operators(self)
        check_event_time(self)
        check_barriers(self)
        check_recovery(self)
        compute_job_graph(self)


def check_operators(config: Config) -> None:
    if len({operator.name for operator in config.operators}) < len(config.operators):
        raise InvalidInputError("two operators have the same name")
    if len({(edge.source, edge.target) for edge in config.edges}) < len(config.edges):
        raise InvalidInputError("two edges join the same operators")
    for operator in config.operators:
        inputs = {edge.input for edge in config.edges if edge.target == operator.id}
        wanted = set() if operator.function is Function.SOURCE else {0, 1} if operator.function in TWO_INPUTS else {0}
        if inputs != wanted:
            raise InvalidInputError(f"{operator.name}: {operator.function} cannot have the inputs {sorted(inputs)}")
        if operator.function is Function.SINK and any(edge.source == operator.id for edge in config.edges):
            raise InvalidInputError(f"{operator.name}: nothing comes out of a sink")


def check_event_time(config: Config) -> None:
    """Operators that know event time read by key, and only they have a late output."""
    timed = {operator.id for operator in config.operators if operator.function in EVENT_TIME}
    if timed and config.extension != EXTENSION:
        raise InvalidInputError(f"operators that know event time belong to the extension {EXTENSION}")
    if any(edge.target in timed and edge.partitioner is not Partitioner.HASH for edge in config.edges):
        raise InvalidInputError("an operator that knows event time reads by key")
    if any(edge.output is not None and edge.source not in timed for edge in config.edges):
        raise InvalidInputError("only an operator that knows event time has a late output")


def check_barriers(config: Config) -> None:
    """A checkpoint takes in all sources, each at a place of its own."""
    scripts = [script for operator in config.operators for script in operator.scripts]
    barriers = {tuple(item.checkpoint for item in script if isinstance(item, Barrier)) for script in scripts}
    if config.extension == FINISHED:
        if () not in barriers:
            raise InvalidInputError(f"with the extension {FINISHED} some source has a script without a barrier")
        barriers.discard(())
    if len(barriers) > 1 or any(one >= following for line in barriers for one, following in pairwise(line)):
        raise InvalidInputError("every script has the same barriers, with numbers that increase")


def check_recovery(config: Config) -> None:
    """One checkpoint; results that no order changes; and what is rescaled reads by key."""
    if (config.recovery is not None) != (config.extension in (RECOVERY, FINISHED)):
        raise InvalidInputError(f"recovery belongs to the extensions {RECOVERY} and {FINISHED}, which need it")
    if config.recovery is None:
        return
    if config.wire is not None or any(one.function not in RESTORABLE for one in config.operators):
        raise InvalidInputError("a job that is restored has no wire, and none but sources, maps, sums and sinks")
    sums = {one.id for one in config.operators if one.function is Function.SUM}
    keyed = {edge.target for edge in config.edges if edge.partitioner is Partitioner.HASH}
    if not sums <= keyed or any(edge.source in sums and edge.target in sums for edge in config.edges):
        raise InvalidInputError("a sum that is restored reads by key, and no other sum")
    scripts = [script for one in config.operators for script in one.scripts]
    counts = {sum(isinstance(item, Barrier) for item in script) for script in scripts}
    if counts - {0} != {1} or (0 in counts and config.extension != FINISHED):
        raise InvalidInputError("a job that is restored has one checkpoint")
    if any(not isinstance(item, Record | Barrier) for script in scripts for item in script):
        raise InvalidInputError("a job that is restored has scripts of records and barriers")
    check_rescaled(config, config.recovery.rescaled)


def check_rescaled(config: Config, rescaled: tuple[Rescaled, ...]) -> None:
    """Sources stay, and all operators of a task are rescaled alike."""
    changed = {one.operator: one.parallelism for one in rescaled}
    parallelisms = [one.parallelism for one in config.operators] + [one.parallelism for one in rescaled]
    if rescaled and len({compute_default_max_parallelism(one) for one in parallelisms}) > 1:
        raise InvalidInputError("what is rescaled keeps its number of key groups")
    known = {one.id for one in config.operators if one.function is not Function.SOURCE}
    if len(changed) < len(rescaled) or not changed.keys() <= known:
        raise InvalidInputError("an operator is rescaled once, and a source is not")
    for edge in config.edges:
        both = edge.source in changed and edge.target in changed and changed[edge.source] == changed[edge.target]
        touched = edge.source in changed or edge.target in changed
        if touched and not both and edge.partitioner is not Partitioner.HASH:
            raise InvalidInputError("what is rescaled is read by key, and reads by key")


def rescale(config: Config) -> Config:
    """The program as it is restored."""
    assert config.recovery is not None
    changed = {one.operator: one.parallelism for one in config.recovery.rescaled}
    operators = (attrs.evolve(one, parallelism=changed.get(one.id, one.parallelism)) for one in config.operators)
    return attrs.evolve(config, operators=tuple(operators), recovery=Recovery(config.recovery.unaligned))


# --- the job graph of a program -------------------------------------------------------------------------------


def compute_job_graph(config: Config) -> tuple[job_graph.Observation, ...]:
    """The vertices and network outputs, as the job graph puts them out."""
    (state,) = job_graph.start(job_graph.Config(True, True, Mode.ALL_EDGES_PIPELINED))  # noqa: FBT003 - chaining is on
    operators = tuple(make_operator(operator) for operator in config.operators)
    edges = tuple(make_edge(edge) for edge in config.edges)
    (outcome,) = job_graph.step(state, job_graph.JobGraph(operators, edges))
    seen = tuple(one for one in outcome.observations if not isinstance(one, Rejected))
    if len(seen) < len(outcome.observations):
        raise InvalidInputError("an edge that is one to one joins operators that are not")
    return seen


def make_operator(operator: Operator) -> job_graph.JobOperator:
    kind = Kind.SOURCE if operator.function is Function.SOURCE else Kind.OPERATOR
    return job_graph.JobOperator(operator.id, operator.name, kind, operator.parallelism)


def make_edge(edge: Edge) -> job_graph.JobEdge:
    via: tuple[VirtualNode, ...] = () if edge.output is None else (SideOutputNode(edge.output),)
    if edge.partitioner is not None:
        via = (*via, PartitionNode(edge.partitioner, Exchange.UNDEFINED))
    return job_graph.JobEdge(edge.source, edge.target, edge.input, via)
