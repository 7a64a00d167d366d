"""Is a run of a whole job also a run of the specification?

A run log says what each subtask received, in which order. The engine may choose which channel to read first; the
rest follows from that. So every subtask is replayed alone: the specification gets the same elements in the same order,
and must emit the same rows. Together with the invariants of the channels between them (nothing lost, nothing
reordered), that makes the whole run one of the specification.

The result of a job may depend on the order in which channels were read. What does not depend on it is
compared with a run of the specification under a schedule of its own.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import attrs

from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.jobs.splits import Reasons
from tidegate.properties.runlog import Verdict, check
from tidegate.reference.elements import MAX, LogKind, Long, StatusChange, Watermark
from tidegate.reference.job.channels import arrive
from tidegate.reference.job.event_time import Timer
from tidegate.reference.job.layout import Layout, compute_layout
from tidegate.reference.job.programs import EVENT_TIME, Config, Element, Function
from tidegate.reference.job.states import Logged, State, Turn
from tidegate.reference.job.step import enabled, is_done, start, step
from tidegate.reference.job.tasks import emit_next, fire, poll, release
from tidegate.reference.partitioning import partitioner as partitioning
from tidegate.traces.runlog import OWN, Channel, Direction, Kind, MalformedLogError, Row, RunLog

LOSS, END, RESULT = "LOG-LOSS", "LOG-END", "LOG-RESULT"
#: In place of a rule: a job that failed, hung or died, or whose log cannot be read.
JOB = "job"
#: The rule that a source breaks which ends while it is idle.
END_OF_TIME = "TASK-7"
#: An operator, a key, a value.
Result = tuple[int, str, int]
#: Rules by which event time advances in a task.
TIMEKEEPING = ("VALVE-", "COMB-")
#: The specification's output for a job without checkpoints. Where a barrier falls is the engine's choice, and
#: changes nothing else.
EXPLAINED = frozenset((Kind.RECORD, Kind.WATERMARK, Kind.STATUS, Kind.END_OF_DATA, Kind.END_OF_PARTITION))


@attrs.frozen
class Wrong:
    """A violation of an invariant or a rule; `rules` are all that may be broken.

    If known: the `row` at which it shows, what was `seen` there, and what was `expected`. `of` separates
    independent violations of one rule.
    """

    rules: tuple[str, ...]
    message: str = attrs.field(converter=printable)
    row: Row | None = attrs.field(default=None, eq=False)
    seen: str = attrs.field(default="", eq=False, converter=printable)
    expected: str = attrs.field(default="", eq=False)
    of: str = ""

    @property
    def name(self) -> str:
        return self.rules[0]

    @property
    def kind(self) -> str:
        return f"{self.name} of {self.of}" if self.of else self.name

    def __str__(self) -> str:
        return f"{', '.join(self.rules)}: {self.message}"


@attrs.frozen
class Replay:
    """`difference` is where the log differs from the specification, if it does; `state` is the state at the end."""

    difference: Wrong | None
    state: State


# --- a log, replayed ------------------------------------------------------------------------------------------


def find_shown_kinds(log: RunLog) -> frozenset[Kind]:
    """The kinds of rows that the engine of this log can show, and that can explain a log."""
    able = log.job.capabilities
    hidden = {
        Kind.WATERMARK: not able.explicit_watermarks,
        Kind.STATUS: not able.idleness,
        Kind.END_OF_DATA: not able.endings,
        Kind.END_OF_PARTITION: not able.endings,
    }
    return EXPLAINED - {kind for kind, is_hidden in hidden.items() if is_hidden}


def replay(config: Config, log: RunLog, reasons: Reasons | None = None) -> Replay:
    """The subtasks of a complete run, producers first, each with what it received."""
    layout = compute_layout(config)
    state = begin_as_shown(start(config)[0], log)
    kinds = find_shown_kinds(log)
    shown: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in log.rows:
        if row.kind in kinds or row.kind is Kind.TIMER:
            shown[row.task, row.subtask].append(row)
    carried: dict[int, list[Element]] = {}
    for number, place in enumerate(layout.places):
        home = (place.task.name, place.number)
        one = SubtaskReplay(Turn(state), number, kinds, (reasons or {}).get((place.task.head, place.number), ()))
        wrong = one.run(shown[home], carried)
        seen = [row for row in shown[home] if row.kind in kinds]
        difference = wrong or compare(
            one.without_skipped(seen), seen, is_timed=one.turn.subtask(number).timed is not None
        )
        state = one.turn.state
        if difference:
            return Replay(attrs.evolve(difference, message=f"{home[0]}/{home[1]}: {difference.message}"), state)
        carried |= empty_channels(one.turn, number, kinds, one.skipped)
        state = forget_arrivals(state, start(config)[0], number)
    return Replay(None, state)


class SubtaskReplay:
    """A source follows its script; any other subtask polls what it received, one element at a time.

    `wanted` are the rows of the specification, each with the rules that were at work; `reasons` are the rules
    behind the items of a script.
    """

    def __init__(
        self, turn: Turn, number: int, kinds: frozenset[Kind], reasons: tuple[tuple[str, ...], ...] = ()
    ) -> None:
        self.turn, self.number, self.kinds, self.reasons = turn, number, kinds, reasons
        self.wanted: list[tuple[Logged, tuple[str, ...]]] = []
        self.waited: set[Long] = set()
        self.fired: set[Timer] = set()
        #: the rules by which event time last advanced
        self.timekeepers: tuple[str, ...] = ()
        self.skipped: set[tuple[Channel, Long | None]] = set()

    def take(self, turn: Turn) -> None:
        place = turn.layout.places[self.number]
        home = (place.task.name, place.number)
        for one in turn.seen:
            if isinstance(one, Logged) and (one.task, one.subtask) == home and Kind(one.kind) in self.kinds:
                self.wanted.append((one, tuple(sorted(turn.rules, key=lambda rule: not rule.startswith("TIME-")))))
        before, timed = self.turn.subtask(self.number).timed, turn.subtask(self.number).timed
        self.turn = Turn(turn.state)
        if before is not None and timed is not None:
            if before.time != timed.time:
                self.timekeepers = tuple(rule for rule in turn.rules if rule.startswith(TIMEKEEPING))
            self.waited |= {one.timestamp for one in timed.held if isinstance(one, Watermark)}

    def run(self, shown: list[Row], carried: dict[int, list[Element]]) -> Wrong | None:
        layout = self.turn.layout
        place = layout.places[self.number]
        if not place.channels:
            for at in range(len(layout.operators[place.task.head].scripts[place.number]) + 1):
                because = self.reasons[at] if at < len(self.reasons) else ()
                self.take(emit_next(self.turn.because(*because), self.number))
            return None
        channels = {channel_of(layout, channel): channel for channel in place.channels}
        for row in shown:
            if row.kind is Kind.TIMER:
                wrong = self.fire(row)
                if wrong:
                    return wrong
            elif row.dir is Direction.OUT and row.kind is not Kind.RECORD:
                self.release()
            elif row.dir is Direction.IN:
                channel = channels.get((row.edge, row.producer))
                if channel is None or not carried[channel]:
                    return Wrong((LOSS,), f"step {row.step} receives a {row.kind} that was never sent", row)
                self.take(poll(arrive(self.turn, channel, carried[channel].pop(0)), self.number))
        self.release()
        left = sum(len(carried[channel]) for channel in channels.values())
        return Wrong((LOSS,), f"{left} elements were not received") if left else None

    def fire(self, row: Row) -> Wrong | None:
        """A fired timer must be due, and no earlier one may be due."""
        timed = self.turn.subtask(self.number).timed
        due = () if timed is None else timed.due
        found = [one for one in due if is_about(row, one)]
        told = f"step {row.step} fires the timer of {row.key!r} at {row.timestamp}"
        if not found:
            return self.explain_undue(row, told)
        if found[0].time > min(one.time for one in due):
            return Wrong(("TIME-4",), f"{told}, before an earlier one", row)
        self.take(fire(self.turn, self.number, found[0]))
        self.fired.add(found[0])
        return None

    def explain_undue(self, row: Row, told: str) -> Wrong:
        """Why a timer was not due: too early, fired twice, or set by a late record, which also involves event time."""
        timed = self.turn.subtask(self.number).timed
        if timed is None or row.timestamp is None or row.timestamp > timed.time:
            return Wrong(("TIME-1",), f"{told}, which is not due", row)
        if any(is_about(row, one) for one in self.fired):
            return Wrong(("TIME-1",), f"{told} once more", row)
        message = f"{told}, which nothing has set: event time was {timed.time} by then, and what came for it was late"
        return Wrong(("TIME-6", *self.timekeepers), message, row)

    def release(self) -> None:
        """Elements held back continue when the engine says so: after its timers, and others may overtake them."""
        timed = self.turn.subtask(self.number).timed
        if timed is not None and timed.held:
            self.take(release(self.turn.because("TIME-2", "TIME-3"), self.number))

    def without_skipped(self, shown: list[Row]) -> list[tuple[Logged, tuple[str, ...]]]:
        """The wanted rows, without pending watermarks that the engine skipped for the next one."""
        marks = [row for row in shown if row.dir is Direction.OUT and row.kind is Kind.WATERMARK]
        told = {(row.channel, row.timestamp) for row in marks}
        kept: list[tuple[Logged, tuple[str, ...]]] = []
        following: dict[Any, LogKind] = {}
        for row, rules in reversed(self.wanted):
            channel = (row.edge, row.producer, row.consumer)
            is_skipped = (
                (row.kind, row.dir) == (LogKind.WATERMARK, Direction.OUT)
                and row.timestamp in self.waited
                and (channel, row.timestamp) not in told
                and following.get(channel) is LogKind.WATERMARK
            )
            if row.dir is Direction.OUT and row.kind is not LogKind.RECORD:
                following[channel] = row.kind
            if is_skipped:
                self.skipped.add((channel, row.timestamp))
            else:
                kept.append((row, rules))
        return kept[::-1]


def is_about(row: Row, timer: Timer) -> bool:
    return (timer.key, timer.time) == (row.key, row.timestamp) and row.value in (None, timer.of)


def begin_as_shown(state: State, log: RunLog) -> State:
    """PART-3: rebalance may begin at any channel, so it begins at the channel of its first record."""
    first: dict[tuple[int, int], int] = {}
    for row in log.rows:
        if row.kind is Kind.RECORD and row.dir is Direction.OUT:
            first.setdefault((row.edge, row.producer), row.consumer)
    subtasks = list(state.subtasks)
    for number, place in enumerate(state.layout.places):
        outputs = list(subtasks[number].outputs)
        for at, output in enumerate(place.outputs):
            consumers = [state.layout.routes[channel].consumer for channel in output.channels]
            consumer = first.get((output.edge.number, place.number))
            if output.edge.kind is partitioning.Partitioner.REBALANCE and consumer in consumers:
                outputs[at] = partitioning.start(outputs[at].config)[consumers.index(consumer)]
        subtasks[number] = attrs.evolve(subtasks[number], outputs=tuple(outputs))
    return attrs.evolve(state, subtasks=tuple(subtasks))


def channel_of(layout: Layout, channel: int) -> tuple[int, int]:
    route = layout.routes[channel]
    return route.edge.number, route.producer


def empty_channels(
    turn: Turn, number: int, kinds: frozenset[Kind], skipped: set[tuple[Channel, Long | None]]
) -> dict[int, list[Element]]:
    """What the subtask wrote, per channel, as far as it is shown."""
    written = {}
    for output in turn.layout.places[number].outputs:
        for channel in output.channels:
            queued = (*turn.channel(channel).waiting, *turn.channel(channel).unsent)
            route = turn.layout.routes[channel]
            name = (route.edge.number, route.producer, route.consumer)
            written[channel] = [
                one
                for one in queued
                if not isinstance(one, bytes)
                and Kind(one.type) in kinds
                and not (isinstance(one, Watermark) and (name, one.timestamp) in skipped)
            ]
    return written


def forget_arrivals(state: State, fresh: State, number: int) -> State:
    """Remove the subtask's output from the gates of its consumers, who read it in an order of their own."""
    written = {channel for output in state.layout.places[number].outputs for channel in output.channels}
    readers = {state.layout.routes[channel].target for channel in written}
    subtasks = tuple(
        attrs.evolve(one, gate=fresh.subtasks[index].gate) if index in readers else one
        for index, one in enumerate(state.subtasks)
    )
    channels = tuple(fresh.channels[index] if index in written else one for index, one in enumerate(state.channels))
    return State(state.config, subtasks, channels)


#: The rule that an operator of event time breaks if it emits such an element too early.
TOO_EARLY = {
    Kind.STATUS: "TIME-3",
    Kind.WATERMARK: "TIME-2",
    Kind.END_OF_DATA: "TIME-2",
    Kind.END_OF_PARTITION: "TIME-2",
}


def compare(wanted: list[tuple[Logged, tuple[str, ...]]], shown: list[Row], *, is_timed: bool = False) -> Wrong | None:
    names = [field.name for field in attrs.fields(Logged)]
    for place in range(max(len(wanted), len(shown))):
        expected, rules = wanted[place] if place < len(wanted) else (None, wanted[-1][1] if wanted else ())
        seen = shown[place] if place < len(shown) else None
        if expected is None or seen is None or show(expected, names) != show(seen, names):
            step = f"step {seen.step}" if seen else "its end"
            if is_timed and seen is not None and seen.dir is Direction.OUT and seen.kind in TOO_EARLY:
                rules = tuple(dict.fromkeys((TOO_EARLY[seen.kind], *rules)))
            shows, wants = tell(seen, names), tell(expected, names)
            told = f"{step} shows {shows}, and the specification {wants}"
            return Wrong(rules or (LOSS,), told, seen, shows, wants)
    return None


def show(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names if getattr(row, name) is not None}


def tell(row: Any, names: Iterable[str]) -> str:
    if row is None:
        return "nothing"
    about = ("dir", "kind", "timestamp", "key", "value")
    said = [str(getattr(row, name)) for name in about if name in names and getattr(row, name) not in (None, "")]
    return f"{' '.join(said)} (edge {row.edge}, {row.producer} to {row.consumer})"


# --- a whole run ----------------------------------------------------------------------------------------------


def find_wrongs(config: Config, log: RunLog, collected: Iterable[Result], totals: Iterable[Result]) -> list[Wrong]:
    """Every violation of a complete run: in its log, and in the results of its sinks and sums."""
    checked = check_log(log)
    if not checked.is_log:
        return [*checked.wrongs]
    return [*checked.wrongs, *find_unexplained(config, log, collected, totals)]


@attrs.frozen
class Checked:
    """The verdict of each invariant on a log, and the violations; or the fact that the log cannot be read."""

    verdicts: tuple[Verdict, ...]
    wrongs: tuple[Wrong, ...]

    @property
    def is_log(self) -> bool:
        return bool(self.verdicts)


def check_log(log: RunLog) -> Checked:
    try:
        verdicts = check(log)
    except MalformedLogError as error:
        return Checked((), (Wrong((JOB,), f"the log counts wrongly: {error}"),))
    broken = [one for verdict in verdicts for one in verdict.violations]
    wrongs = [
        Wrong((one.invariant,), f"channel {one.channel}, position {one.position}: {one.message}") for one in broken
    ]
    return Checked(verdicts, tuple(wrongs))


def find_unexplained(
    config: Config,
    log: RunLog,
    collected: Iterable[Result] | None,
    totals: Iterable[Result] | None,
    reasons: Reasons | None = None,
) -> list[Wrong]:
    """Where the run differs from every run of the specification. Without results, only the log counts."""
    done = replay(config, log, reasons)
    if done.difference:
        return [done.difference]
    wrongs = []
    if find_shown_kinds(log) == EXPLAINED and not is_done(done.state):
        wrongs.append(Wrong((END,), "the run is not over"))
    wanted = sorted((key, int(value)) for subtask in done.state.subtasks for key, value in subtask.collected)
    if collected is not None and sorted((key, value) for _operator, key, value in collected) != wanted:
        wrongs.append(Wrong((RESULT,), "the sinks have collected other results"))
    if totals is not None:
        totals = list(totals)
        if sorted(totals) != collect_totals(done.state):
            wrongs.append(Wrong((RESULT,), "the sums hold other totals"))
        wrongs += find_uncertain(config, totals)
    return wrongs + find_unended(config, log)


def find_uncertain(config: Config, totals: list[Result]) -> list[Wrong]:
    """What no schedule changes must be the same as in any run of the specification."""
    sums = find_certain_sums(config)
    wanted = [total for total in collect_totals(run_anyhow(config)) if total[0] in sums]
    is_right = sorted(total for total in totals if total[0] in sums) == wanted
    return [] if is_right else [Wrong((RESULT,), "a sum is wrong")]


def find_unended(config: Config, log: RunLog) -> list[Wrong]:
    """Without statuses nothing keeps event time from reaching its end on every channel."""
    scripts = [script for operator in config.operators for script in operator.scripts]
    has_statuses = any(isinstance(item, StatusChange) for script in scripts for item in script)
    if has_statuses or not log.job.capabilities.explicit_watermarks:
        return []
    last = {row.channel: row.timestamp for row in log.rows if row.kind is Kind.WATERMARK}
    is_over = not set(last.values()) - {MAX} and set(last) == {row.channel for row in log.rows if row.edge != OWN}
    return [] if is_over else [Wrong((END,), "event time has not reached its end on every channel")]


def find_swallowed_ends(log: RunLog) -> list[Wrong]:
    """Sources that end while they are idle, and whose last watermark reaches nobody.

    LOG-END allows it, because Flink does it; timers and windows downstream never fire.
    """
    if not (log.job.capabilities.explicit_watermarks and log.job.capabilities.endings):
        return []
    readers = {edge.target for edge in log.job.edges}
    last: dict[object, int | None] = {}
    wrongs = []
    for row in log.rows:
        if row.task in readers:
            continue
        if row.kind is Kind.WATERMARK:
            last[row.channel] = row.timestamp
        elif row.kind is Kind.END_OF_DATA and last.get(row.channel) != MAX:
            where = f"{row.task}/{row.subtask} ends at watermark {last.get(row.channel)} on channel {row.channel}"
            wrongs.append(Wrong((END_OF_TIME,), f"{where}: nobody hears that event time is over", row))
    return wrongs


def run_anyhow(config: Config) -> State:
    """The job under some schedule."""
    (state,) = start(config)
    while choices := enabled(state):
        (outcome,) = step(state, choices[0])
        state = outcome.state
    return state


def collect_totals(state: State) -> list[Result]:
    return sorted((number, key, int(total)) for subtask in state.subtasks for number, key, total in subtask.totals)


def find_certain_sums(config: Config) -> set[int]:
    """The sums whose totals no schedule changes.

    No other sum precedes them, because it would emit every partial total, and no operator that may find a record late.
    """
    sums = {one.id for one in config.operators if one.function is Function.SUM}
    unsteady = sums | {one.id for one in config.operators if one.function in EVENT_TIME}

    def is_unsteady(operator: int) -> bool:
        sources = [edge.source for edge in config.edges if edge.target == operator]
        return any(one in unsteady or is_unsteady(one) for one in sources)

    return {one for one in sums if not is_unsteady(one)}
