"""Cases for the idleness timer: silence about as long as the timeout, pauses in it, clocks that read 0."""

from collections.abc import Iterator
from functools import partial
from random import Random

import attrs

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.timestamps import order_preserving, small_timestamps
from tidegate.properties.drawing.values import among, clamp, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import Long
from tidegate.reference.watermarks import idleness


def draw(random: Random, config: idleness.Config | None = None) -> tuple[idleness.Config, tuple[idleness.Event, ...]]:
    config = config or draw_config(random)
    pool = draw_longs(random)
    weights = swarm(random, emit=4, advance=2, record=1, pause=0.5, resume=0.5, silence=1)
    draw_kind = among(random, weights)
    walk = Walk(random, idleness.start(config), idleness.step)
    for _ in walk.rounds():
        walk.play(draw_events(*draw_kind(), walk.state, pool))
    return config, walk.events


def draw_config(random: Random) -> idleness.Config:
    timeout = stream(random, "timeout").choice((1, 2, 3, 10, 10, 1000, 2**31 - 1))
    delay = stream(random, "delay").choice((0, 0, 1, 5, 2**31 - 1))
    return idleness.Config(timeout, delay, stream(random, "clock").choice((1, 1, 1, 0, -1, -timeout, 2**31 - 1)))


def draw_events(random: Random, kind: str, state: idleness.State, pool: list[Long]) -> list[idleness.Event]:
    timeout = state.config.timeout
    if kind == "record":
        return [idleness.ReadRecord(clamp(random.choice((state.highest, *pool)) + random.choice((-1, 0, 1))))]
    if kind == "pause":
        return [idleness.Pause()]
    if kind == "resume":
        # Refused at times; mostly there is something to resume.
        return [idleness.Resume()] if state.paused or random.random() < 0.1 else [idleness.Pause()]
    if kind == "emit":
        return [idleness.PeriodicEmit()]
    left = timeout - (state.clock - state.since) if state.since else timeout
    ticks = random.choice((left, left, left + 1, 1, 0, -state.clock, timeout))
    passing = idleness.Advance(min(max(ticks, 0), 2**31 - 1))
    if kind == "advance":
        return [passing]
    return [idleness.PeriodicEmit(), passing, idleness.PeriodicEmit(), idleness.Advance(1), idleness.PeriodicEmit()]


def draw_many(_random: Random, records: int) -> tuple[idleness.Config, tuple[idleness.Event, ...]]:
    """So many records between two checks that a counter may wrap to its old value."""
    check = idleness.PeriodicEmit()
    many = (idleness.ReadRecord(Long(1)),) * records
    return idleness.Config(1, 0, 1), (check, *many, check, idleness.Advance(2), check, idleness.Advance(2), check)


ONCE = tuple(partial(draw_many, records=records) for records in (2**8, 2**16))


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


#: Maximum number of pauses.
PAUSES = 2


def make_alphabet(timestamps: int) -> tuple[idleness.Event, ...]:
    return (
        *(idleness.ReadRecord(value) for value in small_timestamps(timestamps)),
        idleness.PeriodicEmit(),
        idleness.Advance(1),
        idleness.Pause(),
        idleness.Resume(),
    )


def without_time(state: idleness.State) -> idleness.State:
    """After the clock has passed 0, only the age of the timer matters, up to the timeout."""
    if state.clock <= 0:
        return state
    if state.since == 0:
        return attrs.evolve(state, clock=1)
    ago = min(state.clock - state.since, state.config.timeout + 1)
    return attrs.evolve(state, clock=1 + ago, since=1)


def make_scope(timeout: int, timestamps: int, every: int) -> Scope:
    events = make_alphabet(timestamps)
    return Scope(
        name=f"{timeout}x{timestamps}",
        component="idleness",
        configs=tuple(idleness.Config(timeout, delay, clock) for delay, clock in ((1, 1), (0, 0), (0, -1))),
        alphabet=lambda _config, _state: events,
        covers=f"a timeout of {timeout}, clocks that begin at -1, 0 and 1, timestamps 1 to {timestamps}, pauses",
        cap=f"more than {PAUSES} pauses at a time",
        expand=lambda state: state.paused <= PAUSES,
        canonical=without_time,
        concretions=order_preserving(timestamps, every),
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 2, every=97)


def thorough() -> Iterator[Scope]:
    yield make_scope(2, 2, every=29)
