"""The deserializer with a short stream that may be cut anywhere: each event is the next buffer, of any length."""

from collections.abc import Iterable

import attrs

from tidegate.reference.claims import always, invariant
from tidegate.reference.model import Claim, Component, Outcome, claims_in
from tidegate.reference.spanning.deserializer import COMPONENT as DESERIALIZER
from tidegate.reference.spanning.deserializer import step as deserializer
from tidegate.reference.spanning.deserializer.step import Buffer, Observation, Record
from tidegate.reference.spanning.records import encode_record


@attrs.frozen
class Config:
    """The records that were written."""

    payloads: tuple[bytes, ...]

    @property
    def stream(self) -> bytes:
        return b"".join(map(encode_record, self.payloads))


@attrs.frozen
class State:
    """Bytes consumed, records emitted, and the state of the deserializer."""

    config: Config
    position: int
    records: int
    reader: deserializer.State


def start(config: Config) -> tuple[State, ...]:
    (reader,) = deserializer.start(deserializer.Config())
    return (State(config, 0, 0, reader),)


def step(state: State, event: Buffer) -> tuple[Outcome[State, Observation], ...]:
    (outcome,) = deserializer.step(state.reader, event)
    records = sum(isinstance(seen, Record) for seen in outcome.observations)
    after = State(state.config, state.position + len(event.data), state.records + records, outcome.state)
    return (Outcome(after, outcome.observations, outcome.rules),)


def next_buffers(state: State) -> Iterable[Buffer]:
    """Every possible next buffer, including the empty one."""
    stream = state.config.stream
    return (Buffer(stream[state.position : end]) for end in range(state.position, len(stream) + 1))


# --- claims ---------------------------------------------------------------------------------------------------


@always("SPAN-20", "SPAN-27")
def records_come_out_in_order(before: State, _event: Buffer, outcome: Outcome[State, Observation]) -> bool:
    """However the stream is cut, the deserializer emits the written records in order."""
    payloads = tuple(seen.payload for seen in outcome.observations if isinstance(seen, Record))
    return payloads == before.config.payloads[before.records : before.records + len(payloads)]


def of_the_reader(one: Claim) -> Claim:
    """A claim about the deserializer, checked on its state inside the stream."""

    def holds(before: State, event: Buffer, outcome: Outcome[State, Observation]) -> bool:
        inner: Outcome[deserializer.State, Observation] = Outcome(
            outcome.state.reader, outcome.observations, outcome.rules
        )
        return one.holds(before.reader, event, inner)

    return attrs.evolve(one, holds=holds)


@invariant("SPAN-21", "SPAN-27")
def ends_as_it_began(state: State) -> bool:
    """At the end of the stream every record is emitted, and no bytes are left."""
    if state.position < len(state.config.stream):
        return True
    (fresh,) = deserializer.start(deserializer.Config())
    return state.reader == fresh and state.records == len(state.config.payloads)


COMPONENT = Component(
    name="deserializer",
    title="The deserializer with a stream that is cut anywhere",
    config=Config,
    events=Buffer,
    observations=DESERIALIZER.observations,
    start=start,
    step=step,
    claims=(*claims_in(__name__), *map(of_the_reader, (*DESERIALIZER.properties, *DESERIALIZER.sometimes))),
)
