"""Scopes of the channels of a gate: how they get to their producers, and what comes from there."""

from collections.abc import Iterator

import attrs

from tidegate.properties.cases.scope import Scope
from tidegate.reference.input.input_channels import values as input_channels

CONNECTING: tuple[input_channels.Event, ...] = (
    input_channels.RequestPartitions(),
    input_channels.Update(0, input_channels.Location.LOCAL),
    input_channels.Update(0, input_channels.Location.REMOTE),
    *(
        input_channels.Register(0),
        input_channels.Retry(0),
        input_channels.NotFound(0),
        input_channels.TaskEvent(7),
        input_channels.Close(),
        input_channels.Read(0),
    ),
    input_channels.Fail(0, input_channels.Cause.PRODUCER_FAILED),
    input_channels.Arrive(0, 0, input_channels.Item.DATA),
    *(input_channels.Update(1, input_channels.Location.LOCAL), input_channels.Retry(-1)),
)
#: The next number on the wire is 0 or 1: whatever has the other one is out of order.
READING: tuple[input_channels.Event, ...] = (
    input_channels.RequestPartitions(),
    *(input_channels.Arrive(0, sequence, item) for sequence in (0, 1) for item in input_channels.Item),
    *(
        input_channels.Fail(0, cause)
        for cause in (input_channels.Cause.PRODUCER_FAILED, input_channels.Cause.CONNECTION_LOST)
    ),
    *(
        input_channels.Read(0),
        input_channels.Close(),
        input_channels.TaskEvent(7),
        input_channels.Register(0),
        input_channels.Retry(0),
    ),
)


#: Two channels that fail at once if they do not find their partition.
IMPATIENT = input_channels.Config((input_channels.Location.LOCAL, input_channels.Location.REMOTE), 0, 0, 0)


def make_scope(
    name: str,
    locations: tuple[input_channels.Location, ...],
    events: tuple[input_channels.Event, ...],
    covers: str,
    waiting: int,
    received: int,
) -> Scope:
    def expand(state: input_channels.State) -> bool:
        few = all(len(one.waiting) <= waiting and one.expected <= received for one in state.channels)
        return few and len(state.pending) <= 1

    configs = tuple(input_channels.Config((location,), initial=100, maximum=200, timeout=150) for location in locations)
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
    yield make_scope("connecting", tuple(input_channels.Location), CONNECTING, known, waiting=0, received=0)
    read = "items of every kind with the numbers 0 and 1, failures, reads, task events, close"
    yield make_scope(
        "reading", (input_channels.Location.LOCAL, input_channels.Location.REMOTE), READING, read, waiting=1, received=1
    )
    yield Scope(
        name="impatient",
        component="input_channels",
        configs=(IMPATIENT,),
        alphabet=lambda _config, _state: (
            input_channels.RequestPartitions(),
            *(kind(channel) for kind in (input_channels.NotFound, input_channels.Read) for channel in (0, 1)),
        ),
        covers="a local and a remote channel, no delays: requests, partitions not found, reads",
    )


def thorough() -> Iterator[Scope]:
    yield from (attrs.evolve(one, extra_states=1) for one in small())
