"""Cases for partitions that were not found: all kinds of producers, consumers that no longer wait."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.input import missing_partitions as missing
from tidegate.reference.task.execution_states import TaskState


def draw(random: Random, config: missing.Config | None = None) -> tuple[missing.Config, tuple[missing.Event, ...]]:
    config = config or draw_config(random)
    draw_kind = among(random, swarm(random, not_found=3, answer=4, task=1.5, refused=0.3))
    walk = Walk(random, missing.start(config), missing.step)
    for _ in walk.rounds():
        walk.play_one(draw_event(*draw_kind(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> missing.Config:
    return missing.Config(stream(random, "channels").choice((1, 2, 2, 3)))


def draw_event(random: Random, kind: str, state: missing.State) -> missing.Event:
    channels = range(state.config.channels)
    quiet = [channel for channel in channels if channel not in state.waiting]
    producer = random.choice(list(missing.Producer))
    if kind == "task":
        return missing.TaskBecomes(random.choice((*missing.INTERESTED, *TaskState)))
    if kind == "refused":
        wrong = random.choice((-1, state.config.channels, *quiet))
        return random.choice((missing.Answer(wrong, producer), missing.NotFound(random.choice((-1, *state.waiting)))))
    if (kind == "not_found" and quiet) or not state.waiting:
        return missing.NotFound(random.choice(quiet))
    return missing.Answer(random.choice(sorted(state.waiting)), producer)


GENERATOR = Generator(draw=draw, draw_config=draw_config)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(channels: int) -> Scope:
    events: tuple[missing.Event, ...] = (
        *(missing.NotFound(channel) for channel in range(-1, channels + 1)),
        *(missing.Answer(channel, producer) for channel in range(channels + 1) for producer in missing.Producer),
        *(missing.TaskBecomes(state) for state in TaskState),
    )
    return Scope(
        name=f"{channels}-channels",
        component="missing_partitions",
        configs=(missing.Config(channels),),
        alphabet=lambda _config, _state: events,
        covers=f"{counted(channels, 'channel')}, every state of producer and consumer; refused: what nobody waits for",
    )


def small() -> Iterator[Scope]:
    yield make_scope(1)
    yield make_scope(2)


def thorough() -> Iterator[Scope]:
    yield make_scope(3)
