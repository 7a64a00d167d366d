"""Cases for a task: whole lives, and others who cancel or fail it at every step, with what they saw before."""

from random import Random

from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.task import values as task
from tidegate.reference.task.execution_states import TaskState
from tidegate.reference.task.step import start, step, steps_of


def draw(random: Random, config: task.Config | None = None) -> tuple[task.Config, tuple[task.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(random, on=8, cancel=0.4, fail=0.3, throw=0.2, refused=0.3)
    if config.extension is not None:
        weights["ask"] = random.choice((0.3, 1))
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    visited = [walk.state.state]
    for _ in walk.up_to_end(lambda state: state.over, 1, 3):
        walk.play_one(draw_event(random, draw_kind(), walk.state, visited))
        if walk.state.state is not visited[-1]:
            visited.append(walk.state.state)
    return config, walk.events


def draw_config(random: Random) -> task.Config:
    extension = random.choice((None, None, task.INVOKABLE))
    return task.Config(random.choice((1, 1, 2, 3)), random.choice((0, 1, 1, 2, 3)), extension)


def draw_event(random: Random, kind: str, state: task.State, visited: list[TaskState]) -> task.Event:
    # Mostly what is so; at times what was so a moment or a long time ago.
    seen = random.choice((visited[-1], visited[-1], visited[-2:][0], random.choice(visited)))
    if kind == "cancel":
        return task.Cancel(seen)
    if kind == "fail":
        return task.FailExternally(seen)
    if kind == "throw":
        return task.Throw(random.random() < 0.4)
    if kind == "refused":
        return draw_refused(random, state)
    if kind == "ask":
        asked = task.TriggerCheckpoint(random.choice(list(task.Reply)))
        return random.choice((asked, asked, task.AskForRoom(random.random() < 0.4)))
    if state.steps is None:
        return task.Start()
    if state.over or state.cleaning or steps_of(state.config)[state.steps - 1 : state.steps] != ("invoke",):
        return task.Proceed()
    if random.random() < 0.2:
        return draw_impatient(random, state)
    if not state.data_ended:
        return task.EndOfData(random.random() < 0.6)
    missing = [output for output in range(state.config.outputs) if output not in state.acknowledged]
    return task.Acknowledge(random.choice(missing)) if missing else task.Proceed()


def draw_impatient(random: Random, state: task.State) -> task.Event:
    """What the end of a life waits for, asked for before its time, or a second time."""
    return random.choice(
        (
            task.Proceed(),
            task.Proceed(),
            task.EndOfData(random.random() < 0.5),
            task.Acknowledge(random.randrange(max(1, state.config.outputs))),
            task.Acknowledge(random.randrange(max(1, state.config.outputs))),
        )
    )


def draw_refused(random: Random, state: task.State) -> task.Event:
    """Mostly what comes too early or twice, no such output, a state that no task is in."""
    return random.choice(
        (
            task.Start(),
            task.Proceed(),
            task.EndOfData(random.random() < 0.5),
            task.Acknowledge(random.randint(-1, state.config.outputs)),
            task.Cancel(random.choice((TaskState.SCHEDULED, TaskState.RECONCILING))),
            task.FailExternally(TaskState.SCHEDULED),
        )
    )
