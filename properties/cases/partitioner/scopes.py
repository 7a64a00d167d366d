"""Scopes of the partitioner.

Where the specification leaves a channel free (shuffle, latency markers), the choice changes nothing that comes after
it, so that any allowed channel counts as the same answer. Rebalance may start at any channel: every case of it begins
with a record, and where that one goes tells the start.
"""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope
from tidegate.reference.elements import MAX, MIN, LatencyMarker, Long, Status, StatusChange, Watermark
from tidegate.reference.partitioning.keys import IntKey, Key, LongKey, StringKey
from tidegate.reference.partitioning.partitioner import Config, Event, Partitioner, Record, State

OTHERS: tuple[Event, ...] = (
    Watermark(Long(1)),
    StatusChange(Status.IDLE),
    StatusChange(Status.ACTIVE),
    LatencyMarker(),
)
WITHOUT_KEYS: tuple[Event, ...] = (Record(), *OTHERS)

TEXTS = ("", "a", "b", " a ", "Aa", "BB", "hello", "é", "e\u0301", "中", "\U0001f600", "polygenelubricants")

#: Each type of key; hash codes that are negative, that fold to the most negative number, that overflow; UTF-16 pairs.
KEYS: tuple[Key, ...] = (
    *(StringKey(text) for text in (TEXTS)),
    *(IntKey(value) for value in (0, 1, -1, 97, 2**31 - 1, -(2**31), -2089875627, 1814469223, 994512208)),
    *(LongKey(Long(value)) for value in (0, 1, -1, 2**31, 2**32 - 1, 2**53 + 1, MIN, MAX)),
)
WITH_KEYS: tuple[Event, ...] = (*(Record(key) for key in KEYS), Watermark(MIN), Watermark(MAX), *OTHERS)

FREE = "a channel that is left free counts as the same answer whichever it is, and is taken to change nothing"


def without_keys(_config: Config, _state: State) -> tuple[Event, ...]:
    return WITHOUT_KEYS


def with_keys(_config: Config, _state: State) -> tuple[Event, ...]:
    return WITH_KEYS


def without_records(_config: Config, _state: State) -> tuple[Event, ...]:
    return OTHERS


def make_scopes(most_channels: int, hashes: tuple[tuple[int, int], ...], extra_states: int) -> Iterator[Scope]:
    counts = range(1, most_channels + 1)
    fixed = (Partitioner.FORWARD, Partitioner.RESCALE, Partitioner.GLOBAL, Partitioner.BROADCAST, Partitioner.SHUFFLE)
    elements = "records, a watermark, both statuses and latency markers"
    yield Scope(
        name="kinds",
        component="partitioner",
        configs=tuple(Config(kind, channels) for kind in fixed for channels in counts),
        alphabet=without_keys,
        covers=f"{', '.join(fixed)} with 1 to {most_channels} channels; {elements}; {FREE}",
        extra_states=extra_states,
    )
    wide = (Partitioner.FORWARD, Partitioner.GLOBAL, Partitioner.BROADCAST, Partitioner.SHUFFLE)
    yield Scope(
        name="wide",
        component="partitioner",
        configs=tuple(Config(kind, 300) for kind in wide),
        alphabet=without_keys,
        covers=f"{', '.join(wide)} with 300 channels; {elements}; {FREE}",
    )
    yield Scope(
        name="rebalance",
        component="partitioner",
        configs=tuple(Config(Partitioner.REBALANCE, channels) for channels in counts),
        alphabet=without_keys,
        opening=lambda _config: (Record(),),
        covers=(
            f"rebalance with 1 to {most_channels} channels, after a first record that tells where it starts; "
            f"{elements}; {FREE}"
        ),
        extra_states=extra_states,
    )
    yield Scope(
        name="rebalance-start",
        component="partitioner",
        configs=tuple(Config(Partitioner.REBALANCE, channels) for channels in counts),
        alphabet=without_records,
        covers=(
            f"rebalance with 1 to {most_channels} channels before its first record; a watermark, both statuses and "
            f"latency markers; {FREE}"
        ),
        extra_states=extra_states,
    )
    yield Scope(
        name="hash",
        component="partitioner",
        configs=tuple(Config(Partitioner.HASH, channels, most) for channels, most in hashes),
        alphabet=with_keys,
        covers=(
            f"hash with {len(hashes)} pairs of channels and key groups; {len(KEYS)} keys of all types, watermarks "
            f"up to MIN and MAX, both statuses and latency markers; {FREE}"
        ),
    )


def small() -> Iterator[Scope]:
    hashes = ((1, 128), (2, 128), (3, 128), (7, 128), (128, 128), (5, 3), (2, 1), (60, 127), (3, 129), (9, 32768))
    return make_scopes(3, hashes, extra_states=2)


def thorough() -> Iterator[Scope]:
    counts = (1, 2, 3, 4, 5, 7, 8, 57, 60, 127, 128)
    hashes = tuple((channels, most) for channels in counts for most in (1, 3, 127, 128, 129, 256, 1000, 32768))
    return make_scopes(5, hashes, extra_states=2)
