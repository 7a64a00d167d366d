"""Scopes of the idleness timer."""

from collections.abc import Iterator

import attrs

from tidegate.properties.cases.scope import Scope
from tidegate.properties.cases.timestamps import order_preserving, small_timestamps
from tidegate.reference.watermarks import idleness

#: So often a clock is paused at most.
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
    """Once the clock has passed 0, only how long ago the timer began counts, up to the timeout."""
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
