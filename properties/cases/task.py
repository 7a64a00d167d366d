"""Cases for a task: whole lives, with cancel and fail at every step, based on an observed state."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.drawing.boundaries import BOUNDARIES
from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import COUNTS, among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import MAX, Long
from tidegate.reference.task import values as task
from tidegate.reference.task.execution_states import TaskState
from tidegate.reference.task.step import start, step, steps_of


def draw(random: Random, config: task.Config | None = None) -> tuple[task.Config, tuple[task.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(random, on=8, cancel=0.4, fail=0.3, throw=0.2, refused=0.3)
    if config.extension is not None:
        weights["ask"] = pick(random, "share of ask", (0.3, 1) if config.extension == task.INVOKABLE else (2, 6))
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    visited = [walk.state.state]
    for _ in walk.up_to_end(lambda state: state.over, 1, 3):
        walk.play_one(draw_event(*draw_kind(), walk.state, visited))
        if walk.state.state is not visited[-1]:
            visited.append(walk.state.state)
    return config, walk.events


def draw_config(random: Random) -> task.Config:
    return task.Config(
        operators=stream(random, "operators").choice((1, 1, 2, 3)),
        outputs=stream(random, "outputs").choice((0, 1, 1, 2, 3)),
        extension=stream(random, "extension").choice((None, None, task.INVOKABLE, task.FINAL)),
    )


def draw_event(random: Random, kind: str, state: task.State, visited: list[TaskState]) -> task.Event:
    # Mostly the current state; at times a recent or old one.
    seen = random.choice((visited[-1], visited[-1], visited[-2:][0], random.choice(visited)))
    if kind == "cancel":
        return task.Cancel(seen)
    if kind == "fail":
        return task.FailExternally(seen)
    if kind == "throw":
        return task.Throw(random.random() < 0.4)
    if kind == "refused":
        return draw_refused(random, state)
    if kind == "ask" and state.config.extension == task.FINAL:
        # Rarely before its code is invoked: there it is refused.
        if not is_invoked(state) and random.random() < 0.95:
            return task.Proceed() if state.steps is not None else task.Start()
        return draw_checkpoint(random, state)
    if kind == "ask":
        asked = task.TriggerCheckpoint(random.choice(list(task.Reply)))
        return random.choice((asked, asked, task.AskForRoom(random.random() < 0.4)))
    if state.steps is None:
        return task.Start()
    if not is_invoked(state):
        return task.Proceed()
    if random.random() < 0.2:
        return draw_impatient(random, state)
    if not state.data_ended:
        return task.EndOfData(random.random() < 0.6)
    missing = [output for output in range(state.config.outputs) if output not in state.acknowledged]
    if missing:
        return task.Acknowledge(random.choice(missing))
    if state.config.extension == task.FINAL and not state.checkpoints.is_final and random.random() < 0.8:
        return draw_checkpoint(random, state)
    return task.Proceed()


def is_invoked(state: task.State) -> bool:
    if state.steps is None or state.over or state.cleaning:
        return False
    return steps_of(state.config)[state.steps - 1 : state.steps] == ("invoke",)


def draw_checkpoint(random: Random, state: task.State) -> task.Event:
    """Numbers near known ones, mostly the next; at times far away."""
    known = state.checkpoints
    near = [one for one in (known.first, known.savepoint, known.completed) if one is not None]
    number = random.choice(near) + random.choice((0, 0, 1, 1, 2, -1))
    if random.random() < 0.03:
        number = random.choice((MAX, MAX - 1, -MAX - 1, -1, 2**31, 2**32))
    number = Long(min(max(number, -MAX - 1), MAX))
    kind = random.random()
    if kind < 0.45:
        return task.BeginCheckpoint(number, random.random() < 0.15)
    if kind < 0.85:
        return task.CompleteCheckpoint(number)
    completed = random.choice((0, 0, known.completed + (known.completed < MAX), random.choice(near)))
    return task.AbortCheckpoint(number, Long(completed))


def draw_impatient(random: Random, state: task.State) -> task.Event:
    """Events of the end of a life, too early or twice."""
    return random.choice(
        (
            task.Proceed(),
            task.Proceed(),
            task.EndOfData(random.random() < 0.5),
            task.Acknowledge(random.randrange(max(1, state.config.outputs))),
            task.Acknowledge(random.randrange(max(1, state.config.outputs))),
        )
    )


def draw_last_acknowledges(random: Random, outputs: int) -> tuple[task.Config, tuple[task.Event, ...]]:
    """The task ends only when the last of many outputs is acknowledged."""
    extension = random.choice((None, task.INVOKABLE))
    config = task.Config(random.choice((1, min(outputs, BOUNDARIES[-1]))), outputs, extension)
    order = [*random.sample(range(outputs - 1), outputs - 1), outputs - 1]
    said = [task.Acknowledge(one) for one in order]
    return config, (
        task.Start(),
        *[task.Proceed()] * steps_of(config).index("invoke"),
        task.Proceed(),
        task.EndOfData(drain=True),
        *said[:-1],
        *said[:2],
        task.Proceed(),
        said[-1],
        *[task.Proceed()] * 4,
    )


def draw_last_checkpoint(random: Random) -> tuple[task.Config, tuple[task.Event, ...]]:
    """Many checkpoints around the end of the data, strays in between; then the task continues, or is stopped."""
    config = task.Config(1, random.choice((0, 1, 2)), task.FINAL)
    walk = Walk(random, start(config), step, length=0)
    walk.play([task.Start(), *[task.Proceed()] * (steps_of(config).index("invoke") + 1)])
    number, end = random.choice((1, 2**31, 2**53, 2**53, MAX - 60)), random.choice((0, 1, 3, 14))
    waiting, stopping = random.choice((0, 0, 0.4)), random.choice((0, 0, 0.1, 0.5))
    for place in range(random.randint(end + 1, 24)):
        if place == end:
            walk.play([task.EndOfData(random.random() < 0.5), *map(task.Acknowledge, range(config.outputs))])
        stops, waits = random.random() < stopping, random.random() < waiting
        strays = (
            task.Cancel(TaskState.SCHEDULED),
            task.Cancel(TaskState.FINISHED),
            task.FailExternally(TaskState.FAILED),
        )
        walk.play(
            [
                task.BeginCheckpoint(Long(number), stops),
                *random.choice(((), (), (random.choice(strays),))),
                *([] if waits else [task.CompleteCheckpoint(Long(number + random.choice((-1, 0, 0, 0, 0, 0, 1))))]),
                *random.choice(((), (), (task.AbortCheckpoint(Long(number - 1), Long(0)),))),
            ]
        )
        number += random.choice((1, 1, 2))
    cancel = task.Cancel(TaskState.RUNNING)
    throws: list[task.Event] = [task.Throw(value) for value in (True, False)]
    tails: tuple[list[task.Event], ...] = (
        throws[:1],
        throws[1:],
        [cancel],
        [cancel, throws[0]],
        [cancel, throws[1]],
        [],
        [],
    )
    walk.play([*random.choice(tails), *[task.Proceed()] * 3])
    return config, walk.events


def draw_asking_for_room(random: Random) -> tuple[task.Config, tuple[task.Event, ...]]:
    """Availability is queried at every step of a task, with or without outputs."""
    config = task.Config(1, random.choice((0, 0, 1, 2)), task.INVOKABLE)
    asked: list[task.Event] = [task.AskForRoom(value) for value in (False, True)]
    ends: list[task.Event] = [task.EndOfData(random.random() < 0.5), *map(task.Acknowledge, range(config.outputs))]
    steps: list[task.Event] = [task.Start(), *[task.Proceed()] * len(steps_of(config)), *ends, *[task.Proceed()] * 3]
    return config, tuple(event for one in steps for event in (one, *asked))


AIMS = (draw_last_checkpoint, draw_last_checkpoint, draw_last_checkpoint, draw_asking_for_room)
ONCE = tuple(partial(draw_last_acknowledges, outputs=outputs) for outputs in COUNTS)


def draw_refused(random: Random, state: task.State) -> task.Event:
    """Mostly events too early or twice, unknown outputs, impossible states."""
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


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def play(config: task.Config, _state: task.State) -> Iterator[task.Event]:
    if config.extension is not None:
        yield from (task.TriggerCheckpoint(reply) for reply in task.Reply)
        yield from (task.AskForRoom(has_room=True), task.AskForRoom(has_room=False))
    yield from (task.Start(), task.Proceed(), task.Throw(cancelled=True), task.Throw(cancelled=False))
    yield from (task.EndOfData(drain=True), task.EndOfData(drain=False))
    yield from (task.Acknowledge(output) for output in range(-1, config.outputs + 1))
    for seen in TaskState:
        yield from (task.Cancel(seen), task.FailExternally(seen))


def make_scope(operators: int, outputs: int, extension: str | None = None) -> Scope:
    return Scope(
        name=f"{operators}x{outputs}{'' if extension is None else f'-{extension}'}",
        component="task",
        configs=(task.Config(operators, outputs, extension),),
        alphabet=play,
        covers=(
            f"{counted(operators, 'operator')} and {counted(outputs, 'output')}; start, proceed, both exceptions, "
            f"both ends of data, {'' if extension is None else 'checkpoints, room, '}acknowledgements, cancel and fail "
            "by one who saw any of the states; refused: steps before the start and after the end, what is out of turn, "
            "outputs out of range"
        ),
    )


def play_checkpoints(config: task.Config, _state: task.State) -> Iterator[task.Event]:
    """Events of two checkpoints for a running task, and little else, which is the same without them."""
    yield from (task.Start(), task.Proceed(), task.EndOfData(drain=True), task.Cancel(TaskState.RUNNING))
    yield from (task.Acknowledge(output) for output in range(config.outputs))
    for number in (Long(1), Long(2)):
        yield from (task.BeginCheckpoint(number, stops) for stops in (False, True))
        yield task.CompleteCheckpoint(number)
        yield from (task.AbortCheckpoint(number, Long(completed)) for completed in (0, 1))


def make_final(outputs: int) -> Scope:
    return Scope(
        name=f"1x{outputs}-{task.FINAL}",
        component="task",
        configs=(task.Config(1, outputs, task.FINAL),),
        alphabet=play_checkpoints,
        covers=(
            f"1 operator and {counted(outputs, 'output')}; start, proceed, end of data with drain, acknowledgements, "
            "cancel; two checkpoints, each of them also as a savepoint with which the job stops, completed, and given "
            "up with the first of them complete or none; refused: what is out of turn"
        ),
    )


def small() -> Iterator[Scope]:
    yield make_final(0)
    yield make_scope(1, 0)
    yield make_scope(2, 1)
    yield make_scope(1, 2)
    yield make_scope(1, 1, task.INVOKABLE)


def thorough() -> Iterator[Scope]:
    yield from small()
    yield make_scope(3, 3)
    yield make_final(1)
