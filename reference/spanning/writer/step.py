"""What the record writer of many channels does: where it starts, and what each event leads to."""

from collections.abc import Iterator
from itertools import product

import attrs

from tidegate.reference.claims import law
from tidegate.reference.model import InvalidInputError, Outcome, follow, rejected
from tidegate.reference.spanning.builders import UNLIMITED
from tidegate.reference.spanning.dated_writers import write_to_shared_memory
from tidegate.reference.spanning.records import encode_record
from tidegate.reference.spanning.writer import values
from tidegate.reference.spanning.writer.values import Config, Event, Kind, Observation, State
from tidegate.reference.spanning.writer.writing import Progress, finish_all, flush, get_readers, write_record
from tidegate.reference.tuples import replace

#: So many emits may pass after the flusher failed, no more.
MOST_EMITS_UNAWARE = 100

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """No buffer is open, no reader has asked for a size, and the pool is not exhausted."""
    n = config.channels
    return (State(config, (None,) * n, (b"",) * n, (UNLIMITED,) * n),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, values.Record | values.Hint) and not 0 <= event.channel < state.config.channels:
        return rejected(state, "SPAN-12")
    if isinstance(event, values.Measure) and state.config.extension != values.MEASURES:
        raise InvalidInputError(f"{event.type} belongs to the extension {values.MEASURES}")
    if state.finished and not isinstance(event, values.Hint | values.Pool | values.Flush | values.Elapse):
        return rejected(state, "SPAN-14")
    match event:
        case values.Record() | values.Broadcast():
            return on_emit(state, event)
        case values.ControlEvent():
            return (on_event(state),)
        case values.Hint(channel, size):
            hints = replace(state.hints, channel, size)
            return (Outcome(attrs.evolve(state, hints=hints), (), ("SPAN-8",)),)
        case values.Pool(available):
            return (Outcome(attrs.evolve(state, pool=available), (), ("SPAN-9",)),)
        case values.Flush():
            return (conclude(flush(Progress(state), get_readers(state, None)), "SPAN-6", "SPAN-10"),)
        case values.Elapse(milliseconds):
            return (on_elapse(state, milliseconds),)
        case values.Fail():
            return on_fail(state)
        case values.Measure():
            return (Outcome(state, (values.Queued(tuple(map(len, state.pending))),), ("SPAN-34",)),)
        case values.Finish():
            over = attrs.evolve(state, finished=True)
            return (conclude(finish_all(Progress(over)), "SPAN-14"),)


def conclude(progress: Progress, *first: str) -> Outcome[State, Observation]:
    return Outcome(progress.state, progress.seen, tuple(dict.fromkeys((*first, *progress.rules))))


def on_emit(state: State, event: values.Record | values.Broadcast) -> tuple[Outcome[State, Observation], ...]:
    if state.unaware is None:
        return (write(state, event),)
    surfaced = attrs.evolve(state, unaware=MOST_EMITS_UNAWARE)
    failure = Outcome[State, Observation](surfaced, (values.IoError(),), ("SPAN-11",))
    if state.unaware == MOST_EMITS_UNAWARE:
        return (failure,)
    passed = write(attrs.evolve(state, unaware=state.unaware + 1), event)
    return (failure, Outcome(passed.state, passed.observations, ("SPAN-11", *passed.rules)))


def write(state: State, event: values.Record | values.Broadcast) -> Outcome[State, Observation]:
    encoded = encode_record(event.payload)
    every = get_readers(state, None)
    progress = Progress(state)
    if isinstance(event, values.Broadcast) and state.config.kind is Kind.BROADCAST:
        progress = flush_if_always(write_record(progress, None, encoded), every)
    else:
        for channel in every if isinstance(event, values.Broadcast) else (event.channel,):
            progress = flush_if_always(write_record(progress, channel, encoded), (channel,))
    return conclude(progress.because("SPAN-12"))


def flush_if_always(progress: Progress, channels: tuple[int, ...]) -> Progress:
    if progress.state.config.timeout != 0:
        return progress
    return flush(progress.because("SPAN-10"), channels)


def on_event(state: State) -> Outcome[State, Observation]:
    progress = finish_all(Progress(state))
    return conclude(progress.then(progress.state, *map(values.EventSent, get_readers(state, None))), "SPAN-14")


def on_elapse(state: State, milliseconds: int) -> Outcome[State, Observation]:
    timeout = state.config.timeout
    if timeout <= 0 or state.unaware is not None:
        return Outcome(state, (), ("SPAN-10",))
    elapsed = state.elapsed + milliseconds
    progress = Progress(attrs.evolve(state, elapsed=elapsed % timeout))
    return conclude(flush(progress, get_readers(state, None)) if elapsed >= timeout else progress, "SPAN-10")


def on_fail(state: State) -> tuple[Outcome[State, Observation], ...]:
    if state.config.timeout <= 0 or state.unaware is not None:
        return rejected(state, "SPAN-11")
    return (Outcome(attrs.evolve(state, unaware=0, elapsed=0), (), ("SPAN-11",)),)


# --- laws -----------------------------------------------------------------------------------------------------

Emits = tuple[tuple[int | None, bytes], ...]


def write_all(config: Config, emits: Emits) -> tuple[bytes, ...]:
    """The bytes that each channel sees in the end; an emit without a channel is for all."""
    (state,) = start(config)
    channels = [b""] * config.channels
    events: list[Event] = [values.Broadcast(data) if to is None else values.Record(to, data) for to, data in emits]
    for outcome in follow(step, state, (*events, values.Finish())):
        for seen in outcome.observations:
            if isinstance(seen, values.Buffer):
                channels[seen.channel] += seen.data
    return tuple(channels)


def short_emits() -> Iterator[tuple[Emits]]:
    """Every sequence of up to four emits to one of two channels or to both, with payloads that tell them apart."""
    for count in range(1, 5):
        for targets in product((0, 1, None), repeat=count):
            yield (tuple((to, bytes([n]) * n) for n, to in enumerate(targets, 1)),)


@law("SPAN-12", "SPAN-13", samples=short_emits)
def both_kinds_write_the_same_bytes(emits: Emits) -> bool:
    """Whether a writer selects channels or broadcasts, each channel sees the same bytes."""
    return write_all(Config(Kind.SELECTING, 2, 7, -1), emits) == write_all(Config(Kind.BROADCAST, 2, 7, 0), emits)


@law("SPAN-16", samples=short_emits)
def shared_memory_has_the_same_bytes(emits: Emits) -> bool:
    """The way of 1.10, where other channels start behind a record for one, shows every channel the same bytes."""
    encoded = tuple((to, encode_record(data)) for to, data in emits)
    return write_to_shared_memory(2, encoded) == write_all(Config(Kind.BROADCAST, 2, 7, -1), emits)


def emits_of_each_kind() -> Iterator[tuple[values.Record | values.Broadcast]]:
    yield (values.Record(1, b"a"),)
    yield (values.Broadcast(b"a"),)


@law("SPAN-11", samples=emits_of_each_kind)
def a_failed_flusher_surfaces_in_time(event: values.Record | values.Broadcast) -> bool:
    """Any emit after the failure may fail; after 100 that did not the next one must; and all after one that did."""
    (state,) = start(Config(Kind.SELECTING, 2, 7, 100))
    outcomes = step(state, values.Fail())
    for _ in range(MOST_EMITS_UNAWARE):
        outcomes = step(outcomes[-1].state, event)
        if outcomes[0].observations != (values.IoError(),):
            return False
    late = step(outcomes[-1].state, event)
    early = step(outcomes[0].state, event)
    return [outcome.observations for outcome in (*late, *early)] == [(values.IoError(),), (values.IoError(),)]
