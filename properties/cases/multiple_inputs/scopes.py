"""Scopes of several inputs of one task."""

from collections.abc import Iterator

from tidegate.properties.cases.network_input.scopes import RECORD, encode
from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.input.multiple_inputs import SELECTION, Buffer, ChannelEvent, Config, Event, Select, State
from tidegate.reference.input.network_input.values import Kind, Process

RECORDS = encode(RECORD)


def make_scope(
    name: str, inputs: int, kinds: tuple[Kind, ...], waiting: int, selections: tuple[tuple[int, ...], ...] = ()
) -> Scope:
    def play(_config: Config, _state: State) -> Iterator[Event]:
        for index in range(inputs):
            yield Buffer(index, 0, RECORDS)
            yield from (ChannelEvent(index, 0, kind) for kind in kinds)
        yield from map(Select, selections)
        yield from (Process(batch=False), *([] if selections else [Process(batch=True)]))
        yield from (Buffer(inputs, 0, RECORDS), ChannelEvent(-1, 0, Kind.BARRIER), Buffer(0, 1, RECORDS))

    def expand(state: State) -> bool:
        return sum(len(one.waiting[0]) for one in state.inputs) <= waiting

    return Scope(
        name=name,
        component="multiple_inputs",
        configs=(Config((1,) * inputs, SELECTION if selections else None),),
        alphabet=play,
        covers=(
            f"{inputs} inputs of one channel each; {', '.join(('a record', *kinds))} on each, "
            f"{'selections of each input, calls' if selections else 'calls for one element and for a batch'}"
            "; refused: what comes after an end, inputs and channels out of range"
        ),
        cap=f"at most {counted(waiting, 'item')} waiting",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope("ends-of-data", 2, (Kind.END_OF_DATA, Kind.STOP), 1)
    yield make_scope("ends", 2, (Kind.END_OF_PARTITION,), 1)
    yield make_scope("three", 3, (), 1)
    yield make_scope("selection", 2, (Kind.END_OF_PARTITION,), 1, ((0,), (1,)))


def thorough() -> Iterator[Scope]:
    yield make_scope("all", 2, tuple(Kind), 1)
    yield make_scope("ends", 2, (Kind.END_OF_PARTITION,), 2)
    yield make_scope("three", 3, (Kind.END_OF_PARTITION,), 1)
    yield make_scope("selection", 2, (Kind.END_OF_DATA, Kind.END_OF_PARTITION), 1, ((0,), (1,)))
