"""Rescaling with data in flight: which subtasks restore what was saved of an exchange, and where it is sent.

An unaligned checkpoint saves data that lies between old subtasks. When there are fewer or more subtasks afterwards, a
new one takes the place of several old ones, or an old one has several heirs. Each side of the exchange has a mapping
of its own; a saved buffer of the connection of two old subtasks goes where both lead. Where an old consumer has
several heirs, each of them gets the buffer and keeps the records that belong to it: `virtual_channels` reads what is
sent so.

Choices. SubtaskStateMapper, RescaleMappings and TaskStateAssignment of Flink 2.3, for one exchange of which something
was saved. Ranges of keys are compared as if there were 32768 key groups, whatever their number. That finds every heir
as long as the product of both parallelisms is at most 32768; beyond that one can be missed, and with it records. So
at most 128 subtasks are modelled.
"""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, law, sometimes
from tidegate.reference.elements import Index, Position, between
from tidegate.reference.model import Component, Outcome, rejected
from tidegate.reference.partitioning.keygroups import MOST_KEY_GROUPS, compute_owned_range, compute_owner

#: No heir is missed up to here: 128 * 128 intervals, and twice as many key groups to tell them apart.
MOST_SUBTASKS = 128

# --- config ---------------------------------------------------------------------------------------------------


# Those of `partitioner` and `CUSTOM`: what may be said here, and an enumeration cannot be added to.
class Partitioner(StrEnum):
    FORWARD = "forward"
    REBALANCE = "rebalance"
    RESCALE = "rescale"
    SHUFFLE = "shuffle"
    GLOBAL = "global"
    BROADCAST = "broadcast"
    HASH = "hash"
    CUSTOM = "custom"


#: Nothing is saved of these: their barriers do not overtake.
ALIGNED = (Partitioner.FORWARD, Partitioner.RESCALE, Partitioner.BROADCAST)


@attrs.frozen
class Parallelism:
    """How many subtasks there were when the checkpoint was taken, and how many there are."""

    before: Annotated[int, "How many there were when the checkpoint was taken."] = attrs.field(
        validator=between(1, MOST_SUBTASKS)
    )
    after: Annotated[int, "How many there are now."] = attrs.field(validator=between(1, MOST_SUBTASKS))


@attrs.frozen
class Config:
    """An exchange, and how many subtasks are at its ends."""

    partitioner: Annotated[Partitioner, "How a record finds its consumer."]
    producers: Annotated[Parallelism, "How many producers."]
    consumers: Annotated[Parallelism, "How many consumers."]


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """Nothing is remembered."""

    config: Config


# --- events ---------------------------------------------------------------------------------------------------


class Side(StrEnum):
    """Where data was saved: in the queues of the producer, or in the channels of the consumer."""

    OUTPUT = "output"
    INPUT = "input"


@attrs.frozen
class AskForProducer:
    """A new producer is told what it restores."""

    type: ClassVar[str] = "producer"
    subtask: Annotated[Index, "Its number."]


@attrs.frozen
class AskForConsumer:
    """A new consumer is told what it restores."""

    type: ClassVar[str] = "consumer"
    subtask: Annotated[Index, "Its number."]


@attrs.frozen
class FindHeirs:
    """A buffer was saved of the connection of an old producer and an old consumer."""

    type: ClassVar[str] = "saved"
    side: Annotated[Side, "Where it was saved: in the queues of the producer, or in the channels of the consumer."]
    producer: Annotated[Index, "The old producer."]
    consumer: Annotated[Index, "The old consumer."]


Event = AskForProducer | AskForConsumer | FindHeirs

# --- observations ---------------------------------------------------------------------------------------------

Mapping = tuple[tuple[Position, ...], ...]


@attrs.frozen
class Restores:
    """The old subtasks whose place it takes, the old ones behind each of its channels, and those that it filters."""

    type: ClassVar[str] = "restores"
    subtasks: Annotated[tuple[Position, ...], "The old subtasks whose place it takes, ascending."]
    channels: Annotated[
        Mapping,
        "For each new subtask at the other end, the old ones whose place that takes, ascending.",
    ]
    filtered: Annotated[
        tuple[Position, ...],
        "Of a consumer: all old ones that several new ones restore, ascending. Of a producer: none.",
    ]


@attrs.frozen
class Unchanged:
    """The subtask and each of its channels restore at most what has the same number."""

    type: ClassVar[str] = "unchanged"


@attrs.frozen
class Goes:
    """The buffer is restored on the connection of these new subtasks. One observation each, by consumer ascending."""

    type: ClassVar[str] = "goes"
    producer: Annotated[Position, "The new producer."]
    consumer: Annotated[Position, "The new consumer."]


Observation = Restores | Unchanged | Goes
Seen = Outcome[State, Observation]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Seen, ...]:
    if isinstance(event, FindHeirs):
        return find_heirs(state, event)
    config = state.config
    is_consumer = isinstance(event, AskForConsumer)
    own = config.consumers if is_consumer else config.producers
    if not 0 <= event.subtask < own.after:
        return rejected(state, "RESC-8")
    if config.partitioner in ALIGNED:
        return rejected(state, "RESC-5") if is_rescaled(config) else (Outcome(state, (Unchanged(),), ("RESC-5",)),)
    mappings = map_producers(config.producers), map_consumers(config.partitioner, config.consumers)
    mine, others = mappings[::-1] if is_consumer else mappings
    rules = name_rules(config.partitioner, mine=mine, event=event)
    told = Seen(state, (tell(event.subtask, mine, others),), rules)
    if is_rescaled(config):
        return (told,)
    same = Seen(state, (Unchanged(),), ("RESC-7",))
    may_tell = config.partitioner is Partitioner.CUSTOM and told.observations != same.observations
    return (same, told) if may_tell else (same,)


def tell(subtask: int, mine: Mapping, others: Mapping) -> Restores | Unchanged:
    """RESC-7: nothing is said where old and new numbers are the same, or where nothing is restored."""
    if not mine[subtask] or (is_identity(mine) and is_identity(others)):
        return Unchanged()
    return Restores(mine[subtask], others, find_shared(mine))


def name_rules(partitioner: Partitioner, *, mine: Mapping, event: AskForProducer | AskForConsumer) -> tuple[str, ...]:
    of_consumers = CONSUMER_RULES[partitioner]
    if isinstance(event, AskForProducer):
        return tuple(dict.fromkeys(("RESC-1", "RESC-7", of_consumers)))
    is_shared = any(old in find_shared(mine) for old in mine[event.subtask])
    return (of_consumers, *(("RESC-6",) if is_shared else ()), "RESC-7")


def find_heirs(state: State, event: FindHeirs) -> tuple[Seen, ...]:
    """RESC-8: where both mappings lead. Of a custom partitioner data may stay where it is, if the consumers do."""
    config = state.config
    if not (0 <= event.producer < config.producers.before and 0 <= event.consumer < config.consumers.before):
        return rejected(state, "RESC-8")
    if config.partitioner in ALIGNED:
        return rejected(state, "RESC-5")
    if config.partitioner is Partitioner.GLOBAL and event.consumer:
        return rejected(state, "RESC-4")
    (producer,) = find_sources(map_producers(config.producers), event.producer)
    consumers = find_sources(map_consumers(config.partitioner, config.consumers), event.consumer)
    goes = tuple(Goes(producer, consumer) for consumer in consumers)
    outcome = Seen(state, goes, ("RESC-8", "RESC-1", CONSUMER_RULES[config.partitioner]))
    may_stay = config.partitioner is Partitioner.CUSTOM and config.consumers.before == config.consumers.after
    stays = Seen(state, (Goes(producer, event.consumer),), ("RESC-8", "RESC-1"))
    return (outcome, stays) if may_stay and len(consumers) > 1 else (outcome,)


def is_rescaled(config: Config) -> bool:
    return any(side.before != side.after for side in (config.producers, config.consumers))


# --- mappings: the old subtasks of each new one ---------------------------------------------------------------

CONSUMER_RULES = {
    Partitioner.HASH: "RESC-2",
    Partitioner.REBALANCE: "RESC-1",
    Partitioner.SHUFFLE: "RESC-1",
    Partitioner.GLOBAL: "RESC-4",
    Partitioner.CUSTOM: "RESC-3",
}


def map_producers(producers: Parallelism) -> Mapping:
    """RESC-1: in turn, whatever the partitioner."""
    return deal_out(producers)


def map_consumers(partitioner: Partitioner, consumers: Parallelism) -> Mapping:
    if partitioner is Partitioner.HASH:
        return tuple(find_overlapping(subtask, consumers) for subtask in range(consumers.after))
    everything = tuple(range(consumers.before))
    if partitioner is Partitioner.GLOBAL:
        return (everything, *((),) * (consumers.after - 1))
    return (everything,) * consumers.after if partitioner is Partitioner.CUSTOM else deal_out(consumers)


def deal_out(subtasks: Parallelism) -> Mapping:
    return tuple(tuple(range(new, subtasks.before, subtasks.after)) for new in range(subtasks.after))


def find_overlapping(subtask: int, consumers: Parallelism) -> tuple[int, ...]:
    """RESC-2: the old consumers from the owner of its first key group to that of its last."""
    groups = compute_owned_range(subtask, consumers.after, MOST_KEY_GROUPS)
    first, last = (compute_owner(group, consumers.before, MOST_KEY_GROUPS) for group in (groups[0], groups[-1]))
    return tuple(range(first, last + 1))


def is_identity(mapping: Mapping) -> bool:
    """Each restores its own number, and those that are new nothing. All old ones have to be there for that."""
    olds = {old for targets in mapping for old in targets}
    return all(targets == ((new,) if new in olds else ()) for new, targets in enumerate(mapping))


def find_shared(mapping: Mapping) -> tuple[int, ...]:
    """RESC-6: the old ones that several new ones restore: consumers that read by key, or by a partitioner of users."""
    counts = Counter(old for targets in mapping for old in targets)
    return tuple(sorted(old for old, count in counts.items() if count > 1))


def find_sources(mapping: Mapping, old: int) -> tuple[int, ...]:
    """The new ones that restore an old one."""
    return tuple(new for new, targets in enumerate(mapping) if old in targets)


# --- claims ---------------------------------------------------------------------------------------------------


@always("RESC-8")
def nothing_saved_is_lost(before: State, event: Event, outcome: Seen) -> bool:
    """What was saved of an exchange that may be rescaled goes to one new producer and to at least one consumer."""
    config = before.config
    if not isinstance(event, FindHeirs) or config.partitioner in ALIGNED:
        return True
    is_known = 0 <= event.producer < config.producers.before and 0 <= event.consumer < config.consumers.before
    is_used = config.partitioner is not Partitioner.GLOBAL or event.consumer == 0
    producers = {seen.producer for seen in outcome.observations if isinstance(seen, Goes)}
    return len(producers) == int(is_known and is_used)


@always("RESC-8")
def both_ends_know_the_connection(before: State, event: Event, outcome: Seen) -> bool:
    """Who is given a buffer was told so: it restores the old producer, or the old consumer, of it."""
    config = before.config
    goes = [seen for seen in outcome.observations if isinstance(seen, Goes)]
    if not isinstance(event, FindHeirs):
        return True
    producers, consumers = map_producers(config.producers), map_consumers(config.partitioner, config.consumers)
    return all(event.producer in producers[one.producer] and event.consumer in consumers[one.consumer] for one in goes)


@always("RESC-6")
def who_does_not_filter_is_alone(before: State, event: Event, outcome: Seen) -> bool:
    """An old consumer that is not filtered has one heir."""
    config = before.config
    told = [seen for seen in outcome.observations if isinstance(seen, Restores)]
    if not told or not isinstance(event, AskForConsumer):
        return True
    mapping = map_consumers(config.partitioner, config.consumers)
    return all(len(find_sources(mapping, old)) == 1 for old in told[0].subtasks if old not in told[0].filtered)


def rescaled_key_groups() -> Iterator[tuple[int, int, int]]:
    yield from ((old, new, most) for old, new in product(range(1, 8), repeat=2) for most in (7, 8, 13, 128))
    yield from ((old, new, most) for old, new in ((128, 127), (127, 128)) for most in (128, 127 * 256, 2**15))


@law("RESC-2", samples=rescaled_key_groups)
def every_key_group_finds_its_heir(old: int, new: int, most: int) -> bool:
    """Whatever the number of key groups: the new owner of each restores what its old owner had saved."""
    mapping = map_consumers(Partitioner.HASH, Parallelism(old, new))
    return all(compute_owner(group, old, most) in mapping[compute_owner(group, new, most)] for group in range(most))


@law("RESC-1", samples=lambda: product(range(1, 8), repeat=2))
def dealt_out_once(old: int, new: int) -> bool:
    """Each old subtask has one heir, and no two new ones differ by more than one old one."""
    mapping = deal_out(Parallelism(old, new))
    sizes = [len(targets) for targets in mapping]
    return sorted(one for targets in mapping for one in targets) == list(range(old)) and max(sizes) - min(sizes) <= 1


@sometimes("RESC-6")
def an_old_consumer_has_several_heirs(_before: State, event: Event, outcome: Seen) -> bool:
    """A saved buffer is given to more than one consumer."""
    return isinstance(event, FindHeirs) and len(outcome.observations) > 1


@sometimes("RESC-7")
def more_subtasks_need_no_virtual_channels(before: State, _event: Event, outcome: Seen) -> bool:
    """There are more subtasks than before, and every old one has its number."""
    return Unchanged() in outcome.observations and is_rescaled(before.config)


COMPONENT = Component.of(__name__, title="Rescaling with data in flight")
