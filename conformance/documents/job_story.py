"""The story of a job: WordCount from its program to its results, one choice of the scheduler at a time."""

import attrs

from tidegate.reference.elements import MAX, Direction, LogKind
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.job.layout import Layout, compute_layout
from tidegate.reference.job.programs import Config, Wire
from tidegate.reference.job.states import Completed, Logged, Observation, Overrun, Restored, State
from tidegate.reference.job.step import OF_SUBTASKS, Action, Choice, compute_results, enabled, start, step
from tidegate.reference.model import Rejected

#: Choices of the scheduler, in words.
TITLES = {
    Action.EMIT: "goes on with its script",
    Action.POLL: "polls its gate",
    Action.FIRE: "fires a timer",
    Action.FAIL: "fails, and is restored",
    Action.FLUSH: "is flushed",
    Action.DELIVER: "delivers a message",
    Action.ANNOUNCE: "announces credit",
    Action.DELIVER_CREDIT: "brings credit to the sender",
}


@attrs.frozen
class StoryStep:
    """One choice: its number and title, its observations as lines, and its rules."""

    number: int
    title: str
    lines: tuple[str, ...]
    rules: tuple[str, ...]


def introduction(config: Config | None = None) -> list[str]:
    """How the program is laid out before it runs."""
    config = config or make_word_count()
    layout = compute_layout(config)
    lines = ["The program: " + ", ".join(f"{one.name} ({one.function})" for one in config.operators) + "."]
    lines += [f"Chained into the task [{task.name}], with {task.parallelism} subtasks." for task in layout.tasks]
    for number, route in enumerate(layout.routes):
        kind = route.edge.kind
        ends = f"{name_of(layout, route.source)} to {name_of(layout, route.target)}"
        lines.append(f"Channel {number}: {ends}, {kind}, place {route.place} in the gate.")
    return lines


def steps(config: Config | None = None) -> list[StoryStep]:
    """Tasks with something to read come first, then the sources in turn."""
    config = config or make_word_count()
    (state,) = start(config)
    told: list[StoryStep] = []
    while choices := enabled(state):
        choice = choose(choices, len(told))
        (outcome,) = step(state, choice)
        lines = [tell(seen) for seen in outcome.observations] + tell_results(state, outcome.state)
        told.append(StoryStep(len(told) + 1, title(state.layout, choice), tuple(lines), outcome.rules))
        state = outcome.state
    return told


def choose(choices: tuple[Choice, ...], turn: int) -> Choice:
    """Elements in flight are processed before a source emits; the sources take turns."""
    under_way = [choice for choice in choices if choice.action is not Action.EMIT]
    return under_way[-1] if under_way else choices[turn % len(choices)]


def results(config: Config | None = None) -> list[str]:
    """The results at the end of the job."""
    config = config or make_word_count()
    (state,) = start(config)
    while choices := enabled(state):
        (outcome,) = step(state, choose(choices, 0))
        state = outcome.state
    return [f"{key}: {total}" for _operator, key, total in compute_results(state).totals]


def story(wire: Wire | None = None) -> str:
    """The whole story as text."""
    config = make_word_count(wire)
    lines = [*introduction(config), ""]
    for one in steps(config):
        lines += [f"{one.number}. {one.title}", *(f"     {line}" for line in one.lines)]
    return "\n".join([*lines, "", "In the end:", *(f"     {line}" for line in results(config))])


# --- in words -------------------------------------------------------------------------------------------------


def name_of(layout: Layout, subtask: int) -> str:
    place = layout.places[subtask]
    return f"[{place.task.name}]/{place.number}"


def title(layout: Layout, choice: Choice) -> str:
    is_of_subtask = choice.action in OF_SUBTASKS
    subject = name_of(layout, choice.at) if is_of_subtask else f"Channel {choice.at}"
    if choice.action is Action.FAIL:
        subject = "The job"
    return f"{subject} {TITLES[choice.action]}"


def tell(seen: Observation | Rejected) -> str:
    match seen:
        case Rejected():
            return "refused"
        case Overrun():
            return f"overrun on channel {seen.channel}"
        case Completed():
            return f"checkpoint {seen.checkpoint} is complete"
        case Restored():
            return "restored from the beginning" if seen.checkpoint is None else f"restored from {seen.checkpoint}"
    verb = "receives" if seen.dir is Direction.IN else "hands out"
    return f"{verb} {tell_element(seen)} ({seen.producer} to {seen.consumer})"


def tell_element(seen: Logged) -> str:
    match seen.kind:
        case LogKind.RECORD:
            key = "" if seen.key is None else f" {seen.key!r}"
            return f"record {seen.id}{key} of time {seen.timestamp}"
        case LogKind.WATERMARK:
            return f"watermark {'MAX' if seen.timestamp == MAX else seen.timestamp}"
        case LogKind.STATUS:
            return "status active" if seen.value else "status idle"
        case LogKind.BARRIER:
            return f"barrier {seen.value}"
        case LogKind.BUFFER:
            return f"a buffer of {seen.value} bytes"
        case LogKind.CREDIT:
            return f"credit {seen.value}"
        case _:
            return seen.kind.value.replace("_", " ")


def tell_results(before: State, after: State) -> list[str]:
    """The totals of the sums."""
    known = set(compute_results(before).totals)
    learnt = [entry for entry in compute_results(after).totals if entry not in known]
    return [f"now {key!r} is {total}" for _operator, key, total in learnt]
