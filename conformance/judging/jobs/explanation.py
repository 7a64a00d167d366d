"""Is what an engine shows of a whole job something that the specification does, too?

A run log says what each subtask received, in which order. Which channel is read first is the engine's choice; what
comes of it is not. So every subtask is replayed alone: the specification gets the same elements in the same order,
and must emit the same rows. With the invariants of the channels between them (nothing lost, nothing reordered)
that makes the whole run one of the specification.

What a job comes to in the end may depend on the order in which channels were read. What does not depend on it is
compared with a run of the specification under a schedule of its own.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import attrs

from tidegate.properties.runlog import check
from tidegate.reference.elements import MAX, StatusChange
from tidegate.reference.job.channels import arrive
from tidegate.reference.job.layout import Layout, compute_layout
from tidegate.reference.job.programs import Config, Element, Function
from tidegate.reference.job.states import Logged, State, Turn
from tidegate.reference.job.step import enabled, is_done, start, step
from tidegate.reference.job.tasks import emit_next, poll
from tidegate.reference.partitioning import partitioner as partitioning
from tidegate.traces.runlog import Direction, Kind, MalformedLogError, Row, RunLog

#: An operator, a key, a value.
Result = tuple[int, str, int]


@attrs.frozen
class Replay:
    """`difference` says where the log leaves the specification, or nothing; `state` is where that ended."""

    difference: str
    state: State


# --- a log, replayed ------------------------------------------------------------------------------------------


def replay(config: Config, log: RunLog) -> Replay:
    """The subtasks of a complete run, producers first, each with what it received."""
    layout = compute_layout(config)
    state = begin_as_shown(start(config)[0], log)
    received: dict[tuple[str, int], list[Row]] = defaultdict(list)
    shown: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in log.rows:
        shown[row.task, row.subtask].append(row)
        if row.dir is Direction.IN:
            received[row.task, row.subtask].append(row)
    carried: dict[int, list[Element]] = {}
    for number, place in enumerate(layout.places):
        home = (place.task.name, place.number)
        turn, difference = replay_subtask(Turn(state), number, received[home], carried)
        if not difference:
            seen = [one for one in turn.seen if isinstance(one, Logged) and (one.task, one.subtask) == home]
            difference = compare(seen, shown[home])
        state = turn.state
        if difference:
            return Replay(f"{home[0]}/{home[1]}: {difference}", state)
        carried |= empty_channels(turn, number)
        state = forget_arrivals(state, start(config)[0], number)
    return Replay("", state)


def begin_as_shown(state: State, log: RunLog) -> State:
    """PART-3: rebalance may begin at any channel, so it begins at the one to which its first record went."""
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


def replay_subtask(turn: Turn, number: int, received: list[Row], carried: dict[int, list[Element]]) -> tuple[Turn, str]:
    """A source follows its script; any other subtask polls what it received, one element at a time."""
    layout = turn.layout
    place = layout.places[number]
    if not place.channels:
        for _ in range(len(layout.operators[place.task.head].scripts[place.number]) + 1):
            turn = emit_next(turn, number)
        return turn, ""
    channels = {channel_of(layout, channel): channel for channel in place.channels}
    for row in received:
        channel = channels.get((row.edge, row.producer))
        if channel is None or not carried[channel]:
            return turn, f"step {row.step} receives a {row.kind} that nobody sent"
        turn = poll(arrive(turn, channel, carried[channel].pop(0)), number)
    left = sum(len(carried[channel]) for channel in channels.values())
    return turn, f"{left} elements were not received" if left else ""


def channel_of(layout: Layout, channel: int) -> tuple[int, int]:
    route = layout.routes[channel]
    return route.edge.number, route.producer


def empty_channels(turn: Turn, number: int) -> dict[int, list[Element]]:
    """What the subtask has written, channel by channel."""
    written = {}
    for output in turn.layout.places[number].outputs:
        for channel in output.channels:
            queued = (*turn.channel(channel).waiting, *turn.channel(channel).unsent)
            written[channel] = [one for one in queued if not isinstance(one, bytes)]
    return written


def forget_arrivals(state: State, fresh: State, number: int) -> State:
    """What the subtask wrote lies in the gates of others, who are to find it in an order of their own."""
    written = {channel for output in state.layout.places[number].outputs for channel in output.channels}
    readers = {state.layout.routes[channel].target for channel in written}
    subtasks = tuple(
        attrs.evolve(one, gate=fresh.subtasks[index].gate) if index in readers else one
        for index, one in enumerate(state.subtasks)
    )
    channels = tuple(fresh.channels[index] if index in written else one for index, one in enumerate(state.channels))
    return State(state.config, subtasks, channels)


def compare(wanted: list[Logged], shown: list[Row]) -> str:
    names = [field.name for field in attrs.fields(Logged)]
    for place in range(max(len(wanted), len(shown))):
        expected = show(wanted[place], names) if place < len(wanted) else None
        seen = show(shown[place], names) if place < len(shown) else None
        if expected != seen:
            return f"step {place} shows {seen}, and the specification {expected}"
    return ""


def show(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names if getattr(row, name) is not None}


# --- a whole run ----------------------------------------------------------------------------------------------


def find_wrongs(config: Config, log: RunLog, collected: Iterable[Result], totals: Iterable[Result]) -> list[str]:
    """Everything that is wrong with a complete run of a job: its log, and what its sinks and sums came to."""
    try:
        verdicts = check(log)
    except MalformedLogError as error:
        return [f"the log counts wrongly: {error}"]
    broken = [one for verdict in verdicts for one in verdict.violations]
    wrongs = [f"{one.invariant}: channel {one.channel}, position {one.position}: {one.message}" for one in broken]
    done = replay(config, log)
    if done.difference:
        return [*wrongs, f"not as specified: {done.difference}"]
    if not is_done(done.state):
        wrongs.append("the run is not over")
    wanted = sorted((key, int(value)) for subtask in done.state.subtasks for key, value in subtask.collected)
    if sorted((key, value) for _operator, key, value in collected) != wanted:
        wrongs.append("the sinks have collected something else")
    if sorted(totals) != collect_totals(done.state):
        wrongs.append("the sums know something else")
    return wrongs + find_uncertain(config, log, list(totals))


def find_uncertain(config: Config, log: RunLog, totals: list[Result]) -> list[str]:
    """What no schedule changes must be as in any run of the specification: sums, and the end of event time."""
    sums = find_certain_sums(config)
    wanted = [total for total in collect_totals(run_anyhow(config)) if total[0] in sums]
    wrongs = [] if sorted(total for total in totals if total[0] in sums) == wanted else ["a sum is wrong"]
    scripts = [script for operator in config.operators for script in operator.scripts]
    if not any(isinstance(item, StatusChange) for script in scripts for item in script):
        last = {row.channel: row.timestamp for row in log.rows if row.kind is Kind.WATERMARK}
        if set(last.values()) - {MAX} or set(last) != {row.channel for row in log.rows}:
            wrongs.append("event time has not come to its end on every channel")
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
    """The sums whose totals no schedule changes: no other sum comes before them, which would emit every step."""
    sums = {one.id for one in config.operators if one.function is Function.SUM}

    def is_behind_a_sum(operator: int) -> bool:
        sources = [edge.source for edge in config.edges if edge.target == operator]
        return any(one in sums or is_behind_a_sum(one) for one in sources)

    return {one for one in sums if not is_behind_a_sum(one)}
