"""What records read across buffers does: where it starts, and what each event leads to."""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import one_of
from tidegate.reference.model import Outcome
from tidegate.reference.spanning.reading import Read, RecordReader, Result, compute_unconsumed, read_buffer
from tidegate.reference.spanning.records import HEADER_BYTES, decode_length, encode_record

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """There is nothing to choose."""


# --- state ----------------------------------------------------------------------------------------------------

State = RecordReader

# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Buffer:
    """The next buffer of the channel."""

    type: ClassVar[str] = "buffer"
    data: Annotated[bytes, "The bytes of the buffer, which go on where the last one ended."]


@attrs.frozen
class Clear:
    """Forget what is there of an unfinished record."""

    type: ClassVar[str] = "clear"


Event = Buffer | Clear

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Record:
    """A record, and whether bytes of the buffer remain (intermediate) or not (last)."""

    type: ClassVar[str] = "record"
    payload: Annotated[bytes, "The payload, without its length."]
    result: Annotated[
        Result,
        "`last` if the buffer ends with the record, `intermediate` if more follows.",
    ] = attrs.field(validator=one_of(Result.INTERMEDIATE, Result.LAST))


@attrs.frozen
class Partial:
    """The buffer ends in mid-record, or was empty."""

    type: ClassVar[str] = "partial"


Observation = Record | Partial

# --- start ----------------------------------------------------------------------------------------------------


def start(_config: Config) -> tuple[State, ...]:
    """The first byte is the first of a header."""
    return (State(),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, Clear):
        return (Outcome(State(), (), ("SPAN-29",)),)
    return (on_buffer(state, event.data),)


def on_buffer(state: State, data: bytes) -> Outcome[State, Observation]:
    if not data:
        return Outcome(state, (Partial(),), ("SPAN-21", "SPAN-20"))
    # The protocol's reader takes what the length says, so it never runs past an end.
    reads = tuple(read for read in read_buffer(state, data) if read is not None)
    return Outcome(reads[-1].reader, tuple(map(observe, reads)), compute_rules(state, data, reads))


def observe(read: Read) -> Observation:
    return Partial() if read.result is Result.PARTIAL else Record(read.payload, read.result)


def compute_rules(before: State, data: bytes, reads: tuple[Read, ...]) -> tuple[str, ...]:
    """The rules that decide what a buffer gives: what it completes, how it ends, and the order of results."""
    negative = ("SPAN-28",) if states_a_negative_length(before, data, reads) else ()
    spanning = ("SPAN-27",) if before.gathered and reads[0].result is not Result.PARTIAL else ()
    header = ("SPAN-22",) if 0 < len(before.gathered) < HEADER_BYTES else ()
    return tuple(dict.fromkeys((*negative, *spanning, compute_end_rule(reads[-1]), *header, "SPAN-20")))


def compute_end_rule(last: Read) -> str:
    """Which rule says what the end of the buffer means."""
    if last.result is Result.LAST:
        return "SPAN-21"
    return "SPAN-22" if len(last.reader.gathered) < HEADER_BYTES else "SPAN-23"


def states_a_negative_length(before: State, data: bytes, reads: tuple[Read, ...]) -> bool:
    """Only such a header does not come back when what was read is written again, or takes what follows with it."""
    records = b"".join(encode_record(read.payload) for read in reads if read.result is not Result.PARTIAL)
    return records + reads[-1].reader.gathered != before.gathered + data


# --- claims ---------------------------------------------------------------------------------------------------


@always("SPAN-20", "SPAN-27")
def records_are_the_bytes_received(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The records delivered and what is gathered are the bytes received, in order, none lost and none twice."""
    if isinstance(event, Clear):
        return True
    records = b"".join(encode_record(seen.payload) for seen in outcome.observations if isinstance(seen, Record))
    return records + compute_unconsumed(outcome.state) == compute_unconsumed(before) + event.data


@always("SPAN-22", "SPAN-23")
def gathered_is_part_of_one_record(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Only bytes of a record that is not complete are kept, and nothing else of a buffer."""
    gathered = outcome.state.gathered
    return len(gathered) < HEADER_BYTES or len(gathered) - HEADER_BYTES < decode_length(gathered)


@always("SPAN-20")
def results_in_order(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Each buffer gives any number of intermediate records and then one last record or one partial."""
    results = [seen.result if isinstance(seen, Record) else Result.PARTIAL for seen in outcome.observations]
    if isinstance(event, Clear):
        return not results
    return results[-1] is not Result.INTERMEDIATE and set(results[:-1]) <= {Result.INTERMEDIATE}


@always("SPAN-21")
def last_leaves_nothing(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """After a last record the deserializer is as new; an empty buffer changes nothing."""
    if isinstance(event, Clear):
        return True
    ended = Partial() not in outcome.observations
    kept = bool(event.data) or outcome.state == before
    return kept and (not ended or outcome.state == State())


@always("SPAN-29")
def clear_forgets_everything(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """After a clear the next buffer is read from a record boundary."""
    return not isinstance(event, Clear) or (outcome.state == State() and not outcome.observations)


@sometimes("SPAN-20", "SPAN-22")
def a_later_buffer_completes_a_record(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A record is delivered of which an earlier buffer brought the beginning."""
    return bool(before.gathered) and any(isinstance(seen, Record) for seen in outcome.observations)
