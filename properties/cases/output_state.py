"""Cases for saved output state: barriers that are read in time, time out, are aborted, or meet."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import MAX, Long
from tidegate.reference.subpartition import output_state as output


def draw(random: Random, config: output.Config | None = None) -> tuple[output.Config, tuple[output.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random,
        data=4,
        event=0.6,
        barrier=2,
        poll=4,
        timeout=1.5,
        abort=0.5,
        unaligned=0.6,
        resume=1.5,
        measure=0.7,
        release=0.1,
    )
    draw_kind, base = among(random, weights), random.choice((0, 1, 1, 2**53, MAX - 90))
    walk = Walk(random, output.start(config), output.step)
    begun = 0
    for _ in walk.rounds():
        own, kind = draw_kind()
        begun += kind in ("barrier", "unaligned") and own.random() < 0.9
        walk.play_one(draw_event(own, kind, walk.state, Long(min(base + begun, MAX))))
    return config, walk.events


def draw_config(_random: Random) -> output.Config:
    return output.Config()


def draw_event(random: Random, kind: str, state: output.State, checkpoint: Long) -> output.Event:
    usual = state.promised if state.promised is not None and random.random() < 0.8 else checkpoint
    match kind:
        case "barrier" | "unaligned":
            return output.WriteBarrier(checkpoint, unaligned=kind == "unaligned")
        case "timeout":
            return output.TimeOut(usual)
        case "abort":
            return output.AbortCheckpoint(usual)
        case "resume":
            return output.Resume() if state.blocked or random.random() < 0.1 else output.Poll()
        case "data":
            return output.WriteData()
        case "event":
            return output.WriteEvent()
        case "poll":
            return output.Poll()
        case "release":
            return output.Release()
        case _:
            return output.CountQueued()


GENERATOR = Generator(draw=draw, draw_config=draw_config)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(checkpoints: int, most: int) -> Scope:
    numbers = [Long(number) for number in range(1, checkpoints + 1)]
    events: tuple[output.Event, ...] = (
        output.WriteData(),
        output.WriteEvent(),
        *(output.WriteBarrier(number, unaligned) for number in numbers for unaligned in (False, True)),
        *(output.TimeOut(number) for number in numbers),
        *(output.AbortCheckpoint(number) for number in numbers),
        output.Poll(),
        output.Resume(),
        output.Release(),
        output.CountQueued(),
    )
    return Scope(
        name=f"{checkpoints}-checkpoints",
        component="output_state",
        configs=(output.Config(),),
        alphabet=lambda _config, _state: events,
        covers=f"{counted(checkpoints, 'checkpoint')}, all events; refused: resuming without a barrier, writing late",
        expand=lambda state: len(state.urgent) + len(state.queue) < most and state.written < most,
        cap=f"at most {most} items queued, and {most} buffers in all",
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 3)
    yield make_scope(2, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope(2, 3)
