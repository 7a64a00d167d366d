"""Scopes of what is saved of an output."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.elements import Long
from tidegate.reference.subpartition import output_state as output


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
