"""Scopes of the channels of a gate: how they get to their producers, and what comes from there."""

from collections.abc import Iterator

import attrs

from tidegate.properties.cases.scope import Scope
from tidegate.reference.input.input_channels.values import (
    Arrive,
    Cause,
    Close,
    Config,
    Event,
    Fail,
    Item,
    Location,
    NotFound,
    Read,
    Register,
    RequestPartitions,
    Retry,
    State,
    TaskEvent,
    Update,
)

CONNECTING: tuple[Event, ...] = (
    RequestPartitions(),
    Update(0, Location.LOCAL),
    Update(0, Location.REMOTE),
    *(Register(0), Retry(0), NotFound(0), TaskEvent(7), Close(), Read(0)),
    Fail(0, Cause.PRODUCER_FAILED),
    Arrive(0, 0, Item.DATA),
    *(Update(1, Location.LOCAL), Retry(-1)),
)
#: The next number on the wire is 0 or 1: whatever has the other one is out of order.
READING: tuple[Event, ...] = (
    RequestPartitions(),
    *(Arrive(0, sequence, item) for sequence in (0, 1) for item in Item),
    *(Fail(0, cause) for cause in (Cause.PRODUCER_FAILED, Cause.CONNECTION_LOST)),
    *(Read(0), Close(), TaskEvent(7), Register(0), Retry(0)),
)


def make_scope(
    name: str, locations: tuple[Location, ...], events: tuple[Event, ...], covers: str, waiting: int, received: int
) -> Scope:
    def expand(state: State) -> bool:
        few = all(len(one.waiting) <= waiting and one.expected <= received for one in state.channels)
        return few and len(state.pending) <= 1

    configs = tuple(Config((location,), initial=100, maximum=200, timeout=150) for location in locations)
    return Scope(
        name=name,
        component="input_channels",
        configs=configs,
        alphabet=lambda _config, _state: events,
        covers=(
            f"one channel, {' or '.join(locations)}, retries after 100 ms and 200 ms, requests parked for 150 ms; "
            f"{covers}; refused: what comes before it may, after the gate is closed, and on channels out of range"
        ),
        cap=f"at most {waiting} items waiting, {received} received from a remote producer, 1 task event held back",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    known = "requests, updates, registration, retries, partitions not found, task events, a failure, close"
    yield make_scope("connecting", tuple(Location), CONNECTING, known, waiting=0, received=0)
    read = "items of every kind with the numbers 0 and 1, failures, reads, task events, close"
    yield make_scope("reading", (Location.LOCAL, Location.REMOTE), READING, read, waiting=1, received=1)


def thorough() -> Iterator[Scope]:
    yield from (attrs.evolve(one, extra_states=1) for one in small())
