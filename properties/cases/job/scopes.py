"""Scopes of whole jobs: tiny programs, closed over every schedule.

The alphabet are all choices of the scheduler, wherever the job is: those that lead on, and those that must be refused
because nothing is there to be done, because a task is held up, or because there is no such subtask or channel. A run
is finite, so nothing is capped.
"""

from collections.abc import Callable, Iterator

from tidegate.properties.cases.scope import Scope
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.job.programs import (
    EXTENSION,
    FINISHED,
    RECOVERY,
    Barrier,
    Config,
    Edge,
    Function,
    Operator,
    Record,
    Recovery,
    Rescaled,
    ScriptItem,
    Side,
    Wire,
)
from tidegate.reference.job.states import State
from tidegate.reference.job.step import PLAIN, Action, Choice

IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)
HASH, BROADCAST = Partitioner.HASH, Partitioner.BROADCAST
ON_THE_WIRE = (Action.FLUSH, Action.DELIVER, Action.ANNOUNCE, Action.DELIVER_CREDIT)


def rec(key: str, value: int = 1) -> Record:
    return Record(key, Long(value), Long(1))


def at(timestamp: int, key: str) -> Record:
    return Record(key, Long(1), Long(timestamp))


def mark(timestamp: int) -> Watermark:
    return Watermark(Long(timestamp))


def source(*scripts: tuple[ScriptItem, ...], number: int = 1, name: str = "in") -> Operator:
    return Operator(number, name, Function.SOURCE, len(scripts), scripts)


def play_any(_config: Config, state: State) -> Iterator[Choice]:
    """Everything everywhere, one index too low and one too high."""
    most = max(len(state.subtasks), len(state.channels))
    yield from (Choice(action, at) for action in PLAIN for at in range(-1, most + 1))


def play_all(config: Config, state: State) -> Iterator[Choice]:
    """Each subtask, each channel, whether or not it can go on."""
    return play(config, state, len(state.subtasks))


def play_but_the_last(config: Config, state: State) -> Iterator[Choice]:
    """What is written to the last task is seen; that it reads it is the same as everywhere else."""
    return play(config, state, state.layout.tasks[-1].first)


def play(config: Config, state: State, subtasks: int) -> Iterator[Choice]:
    for number in range(subtasks):
        yield Choice(Action.EMIT if state.subtasks[number].gate is None else Action.POLL, number)
        if config.extension == EXTENSION:
            yield Choice(Action.FIRE, number)
    if config.extension in (RECOVERY, FINISHED):
        yield Choice(Action.FAIL, 0)
    if config.wire is not None:
        yield from (Choice(action, number) for number in range(len(state.channels)) for action in ON_THE_WIRE)


Alphabet = Callable[[Config, State], Iterator[Choice]]

#: The alphabets, in words.
PLAYED: dict[Alphabet, str] = {
    play_any: "every choice at every index, one too low and one too high",
    play_all: "every schedule, with what is not possible there and must be refused",
    play_but_the_last: (
        "every schedule in which the last task does not run, with what is not possible there and must be refused"
    ),
}


def make_scope(name: str, covers: str, alphabet: Alphabet, *configs: Config) -> Scope:
    return Scope(name=name, component="job", configs=configs, alphabet=alphabet, covers=f"{covers}; {PLAYED[alphabet]}")


# --- programs -------------------------------------------------------------------------------------------------


def make_line(
    *scripts: tuple[ScriptItem, ...], kind: Partitioner | None = None, sinks: int = 1, wire: Wire | None = None
) -> Config:
    """Sources and sinks."""
    return Config((source(*scripts), Operator(2, "out", Function.SINK, sinks)), (Edge(1, 2, kind),), wire)


def make_middle(*scripts: tuple[ScriptItem, ...], wire: Wire | None = None) -> Config:
    """Sources, one task that reads them all, and one sink behind it."""
    operators = (source(*scripts), Operator(2, "mid", Function.UNION), Operator(3, "out", Function.SINK))
    return Config(operators, (Edge(1, 2, Partitioner.GLOBAL), Edge(2, 3, Partitioner.GLOBAL)), wire)


def make_two_inputs(function: Function, left: tuple[ScriptItem, ...], right: tuple[ScriptItem, ...]) -> Config:
    """Two sources, the union or the join of them, and a sink."""
    operators = (
        source(left, name="left"),
        source(right, number=2, name="right"),
        Operator(3, "both", function),
        Operator(4, "out", Function.SINK),
    )
    second = int(function is Function.JOIN)
    return Config(operators, (Edge(1, 3), Edge(2, 3, None, second), Edge(3, 4, Partitioner.GLOBAL)))


def make_chain(*script: ScriptItem) -> Config:
    """A source that writes to two sinks, and an operator chained to it that writes to another one."""
    operators = (
        source(script),
        Operator(2, "double", Function.MAP),
        Operator(3, "near", Function.SINK, 2),
        Operator(4, "far", Function.SINK),
    )
    return Config(operators, (Edge(1, 2), Edge(1, 3), Edge(2, 4, HASH)))


def make_fork(*script: ScriptItem, wire: Wire | None = None) -> Config:
    """A source that two sinks read."""
    operators = (source(script), Operator(2, "one", Function.SINK), Operator(3, "other", Function.SINK))
    return Config(operators, tuple(Edge(1, sink, Partitioner.REBALANCE) for sink in (2, 3)), wire)


def make_totals(kind: Partitioner, sums: int, *script: ScriptItem) -> Config:
    """A source, its totals, and a sink for the positive ones."""
    operators = (
        source(script),
        Operator(2, "sum", Function.SUM, sums),
        Operator(3, "positive", Function.FILTER, sums),
        Operator(4, "out", Function.SINK, 3 - sums),
    )
    return Config(operators, (Edge(1, 2, kind), Edge(2, 3), Edge(3, 4)))


def make_timed(operator: Operator, *scripts: tuple[ScriptItem, ...], late: bool = False) -> Config:
    """Sources, an operator that knows event time, and a sink; and another one for what is late."""
    sources = [source(script, number=at + 1, name=f"in{at}") for at, script in enumerate(scripts)]
    sinks = [Operator(11, "out", Function.SINK), Operator(12, "late", Function.SINK)][: 1 + late]
    edges = [Edge(one.id, operator.id, HASH, one.id - 1) for one in sources]
    edges += [Edge(operator.id, 11, Partitioner.GLOBAL)]
    edges += [Edge(operator.id, 12, Partitioner.GLOBAL, output=Side.LATE)] * late
    return Config((*sources, operator, *sinks), tuple(edges), extension=EXTENSION)


def make_restored(*scripts: tuple[ScriptItem, ...], before: int = 2, after: int = 2, unaligned: bool = False) -> Config:
    """Sources, their totals by key with a sink chained to each, and as many or others after the restore."""
    operators = (
        source(*scripts),
        Operator(2, "sum", Function.SUM, before),
        Operator(3, "out", Function.SINK, before),
    )
    rescaled = tuple(Rescaled(operator, after) for operator in (2, 3) if after != before)
    recovery, extension = Recovery(unaligned, rescaled), name_recovery(scripts)
    return Config(operators, (Edge(1, 2, HASH), Edge(2, 3)), extension=extension, recovery=recovery)


def make_restored_lines(*lines: tuple[ScriptItem, ...], unaligned: bool = False) -> Config:
    """Sources with a sink of their own each: what one of them sends, nobody else reads."""
    sources = (Operator(number, f"in{number}", Function.SOURCE, 1, (line,)) for number, line in enumerate(lines))
    sinks = (Operator(10 + number, f"out{number}", Function.SINK, 1) for number in range(len(lines)))
    edges = tuple(Edge(number, 10 + number, HASH) for number in range(len(lines)))
    extension = name_recovery(lines)
    return Config((*sources, *sinks), edges, extension=extension, recovery=Recovery(unaligned))


def name_recovery(scripts: tuple[tuple[ScriptItem, ...], ...]) -> str:
    """Whether some sources have finished before the checkpoint."""
    return RECOVERY if all(Barrier(1) in script for script in scripts) else FINISHED


def make_restored_jobs() -> dict[str, Config]:
    """Two sources with a checkpoint, totals in two subtasks, and a failure at any time, by what they show."""
    first, second = (rec("a"), Barrier(1), rec("c", 2)), (rec("c", 4), Barrier(1), rec("a", 8))
    short, empty = (rec("a"), Barrier(1)), (Barrier(1),)
    return {
        "a failure, restored at the same parallelism": make_restored(first, second),
        "a failure, restored with three subtasks instead of two": make_restored(first, second, after=3),
        "a failure, an unaligned checkpoint, restored with one subtask instead of two": make_restored(
            short, empty, after=1, unaligned=True
        ),
        "a failure, one source had finished, restored with one subtask instead of two": make_restored(
            (rec("a"),), second, after=1
        ),
        "a failure, a whole line had finished": make_restored_lines((rec("a"),), first),
    }


TIMER = Operator(10, "timer", Function.TIMER)
CO_TIMER = Operator(10, "timer", Function.CO_TIMER)
WINDOW = Operator(10, "window", Function.WINDOW, size=2, lateness=2)


# --- scopes ---------------------------------------------------------------------------------------------------

TWO_BARRIERS = (Barrier(1), Barrier(2))


def small() -> Iterator[Scope]:
    yield make_scope(
        "choices", "a source with one record and its keyed sink", play_any, make_line((rec("a"),), kind=HASH)
    )
    yield make_scope(
        "records",
        "2 sources with one record each and a keyed sink; 1 source with one record, broadcast to 2 sinks",
        play_all,
        make_line((rec("a"),), (rec("b"),), kind=HASH),
        make_line((rec("a"),), kind=BROADCAST, sinks=2),
    )
    yield make_scope(
        "keys", "a source with one record and 2 keyed sinks", play_all, make_line((rec("d"),), kind=HASH, sinks=2)
    )
    yield make_scope(
        "inputs",
        "the union and the join of 2 sources with one watermark each, a join of one with a watermark and one that "
        "turns idle, each with a sink behind it",
        play_but_the_last,
        make_two_inputs(Function.UNION, (mark(1),), (mark(2),)),
        make_two_inputs(Function.JOIN, (mark(1),), (mark(2),)),
        make_two_inputs(Function.JOIN, (mark(1),), (IDLE,)),
    )
    yield make_scope(
        "barriers",
        "2 sources with two barriers each, a task that aligns them, and a sink",
        play_but_the_last,
        make_middle(TWO_BARRIERS, TWO_BARRIERS),
    )
    yield make_scope(
        "chains",
        "a source that says a record, idle, and a record to two sinks and to an operator chained to it with a sink of "
        "its own; a source that says two records and idle to two sinks; totals of three records by key, of two records "
        "dealt out to two subtasks, and a sink for the positive",
        play_but_the_last,
        make_fork(rec("a"), rec("b"), IDLE),
        make_chain(rec("a"), IDLE, rec("a")),
        make_totals(HASH, 1, rec("a", -1), rec("b"), rec("a")),
        make_totals(Partitioner.REBALANCE, 2, rec("a", -1), rec("a")),
    )
    yield make_scope(
        "wire",
        "a source with one record and its keyed sink, on a wire with buffers of 64 bytes, none exclusive, 1 floating, "
        "1 for the output",
        play_all,
        make_line((rec("a"),), kind=HASH, wire=Wire(64, 0, 1, 1)),
    )

    yield make_scope(
        "timers",
        "a source with two keys at one time, their watermark and idle, or with two times, a watermark for each and a "
        "late record, their timers and a sink; two sources whose timers a watermark of each makes due, one of them "
        "idle then",
        play_but_the_last,
        make_timed(TIMER, (rec("a"), rec("b"), mark(1), IDLE)),
        make_timed(TIMER, (rec("b"), at(2, "a"), mark(1), mark(2), rec("c")), late=True),
        make_timed(CO_TIMER, (rec("a"), mark(2)), (rec("a"), mark(1), IDLE)),
    )
    yield make_scope(
        "windows",
        "a source with a record in time, one within the lateness of 2, and one behind it, in windows of 2, a sink for "
        "the sums and one for what is late",
        play_but_the_last,
        make_timed(WINDOW, (at(0, "a"), at(1, "a"), mark(1), at(0, "a"), mark(3), at(1, "a")), late=True),
    )

    yield make_scope(
        "recovery",
        "a source with a record and an unaligned barrier that overtakes it, or with an aligned one alone, and its "
        "totals in one subtask, with a failure at any time",
        play_all,
        make_restored((rec("a"), Barrier(1)), before=1, after=1, unaligned=True),
        make_restored((Barrier(1),), before=1, after=1),
    )
    yield make_scope(
        "finished",
        "a source with a record that ends before the checkpoint, and one with a barrier, and their totals in one "
        "subtask; the same with nothing to say and a barrier that overtakes; or with a sink of their own each; with a "
        "failure at any time",
        play_all,
        make_restored((rec("a"),), (Barrier(1),), before=1, after=1),
        make_restored((), (Barrier(1), rec("a")), before=1, after=1, unaligned=True),
        make_restored_lines((rec("a"),), (Barrier(1),)),
    )


def thorough() -> Iterator[Scope]:
    yield from small()
    yield make_scope(
        "idle",
        "a task that reads a source with a watermark and one that turns idle and active again, or two that turn idle, "
        "and a sink",
        play_but_the_last,
        make_middle((mark(1),), (IDLE, ACTIVE)),
        make_middle((mark(1), IDLE), (IDLE,)),
    )
    yield make_scope(
        "behind-barriers",
        "a task that reads 2 sources with a record behind or before their barrier, and a sink",
        play_all,
        make_middle((Barrier(1), rec("a")), (rec("b"), Barrier(1))),
    )
    yield make_scope(
        "wires",
        "a source and its keyed sink on a wire with 1 floating buffer and 1 for the output: a record and a watermark "
        "in buffers of 64 bytes, a watermark in buffers of 8 with 1 exclusive, a barrier with and without an exclusive "
        "one",
        play_all,
        make_line((rec("a"), mark(1)), kind=HASH, wire=Wire(64, 0, 1, 1)),
        make_line((mark(1),), kind=HASH, wire=Wire(8, 1, 1, 1)),
        make_line((Barrier(1),), kind=HASH, wire=Wire(64, 0, 1, 1)),
        make_line((Barrier(1),), kind=HASH, wire=Wire(64, 1, 1, 1)),
    )
    yield make_scope(
        "wired-barriers",
        "a source with two barriers and its keyed sink, on a wire with 1 floating buffer and 1 for the output",
        play_all,
        make_line(TWO_BARRIERS, kind=HASH, wire=Wire(64, 0, 1, 1)),
    )
    yield make_scope(
        "wired-fork",
        "a source with a watermark that two sinks read, on wires with buffers of 64 bytes, none exclusive, 1 floating, "
        "1 for each output",
        play_but_the_last,
        make_fork(mark(1), wire=Wire(64, 0, 1, 1)),
    )
