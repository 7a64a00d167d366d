"""Metamorphic relations: how the answers of any engine to two related cases must be related.

They need no oracle. The variation of a case must not change the answers, or only in one known way: channels renamed,
timestamps moved, buffers cut elsewhere, a grant of credit split. So they check the reference, too.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import attrs

from tidegate.reference.credit import credit_sender as sender
from tidegate.reference.elements import MAX, MIN, Long, Status, Watermark
from tidegate.reference.spanning import serializer
from tidegate.reference.spanning.deserializer import step as deserializer
from tidegate.reference.watermarks import valve
from tidegate.traces.cases import Case

Json = Any
Steps = list[list[Json]]


@attrs.frozen
class Relation:
    """`vary` returns the other case, or None if there is nothing to vary; `agree` compares the two answers."""

    name: str
    component: str
    statement: str
    rules: tuple[str, ...]
    vary: Callable[[Case, Random], Case | None]
    agree: Callable[[Case, Case, Steps, Steps], bool]


def flat(steps: Steps) -> list[Json]:
    return [seen for step in steps for seen in step]


def same(_case: Case, _other: Case, first: Steps, second: Steps) -> bool:
    return first == second


# --- renaming channels ----------------------------------------------------------------------------------------


def rotate(event: Any, field: str, count: int) -> Any:
    index = getattr(event, field, None)
    if index is None or not 0 <= index < count:
        return event
    return attrs.evolve(event, **{field: (index + 1) % count})


def rename(field: str, size: str) -> Callable[[Case, Random], Case | None]:
    def vary(case: Case, _random: Random) -> Case | None:
        count = getattr(case.config, size)
        if count < 2:
            return None
        return attrs.evolve(case, events=tuple(rotate(event, field, count) for event in case.events))

    return vary


def rename_outputs(case: Case, _random: Random) -> Case | None:
    """Ids are names: others work as well, also in another order."""
    if not any(hasattr(event, "output") for event in case.events):
        return None
    renamed = [
        attrs.evolve(event, output=7 - event.output) if hasattr(event, "output") else event for event in case.events
    ]
    return attrs.evolve(case, events=tuple(renamed))


def same_on_renamed_channels(case: Case, _other: Case, first: Steps, second: Steps) -> bool:
    count = case.config.channels

    def renamed(seen: Json) -> Json:
        return {**seen, "channel": (seen["channel"] + 1) % count} if "channel" in seen else seen

    return [[renamed(seen) for seen in step] for step in first] == second


# --- moving timestamps ----------------------------------------------------------------------------------------


def move_timestamps(case: Case, _random: Random) -> Case | None:
    """Move timestamps by one if there is room: only their order counts."""
    stamps = [event.timestamp for event in case.events if hasattr(event, "timestamp")]
    # Every channel starts at MIN: MIN must stay, and no other timestamp may become MIN.
    if not stamps or max(stamps) == MAX or min(stamps) == MIN:
        return None
    moved = [
        attrs.evolve(event, timestamp=Long(event.timestamp + 1)) if hasattr(event, "timestamp") else event
        for event in case.events
    ]
    return attrs.evolve(case, events=tuple(moved))


def same_but_later(_case: Case, _other: Case, first: Steps, second: Steps) -> bool:
    def later(seen: Json) -> Json:
        return {**seen, "timestamp": str(int(seen["timestamp"]) + 1)} if "timestamp" in seen else seen

    return [[later(seen) for seen in step] for step in first] == second


# --- the order in which channels turn idle --------------------------------------------------------------------


def idle_in_another_order(case: Case, random: Random) -> Case | None:
    """All channels turn idle at the end, in one order or the other."""
    if case.config.semantics != "flink-40475":
        return None
    channels = list(range(case.config.channels))
    random.shuffle(channels)
    return attrs.evolve(case, events=(*events_before_idle(case), *turn_idle(channels)))


def events_before_idle(case: Case) -> tuple[Any, ...]:
    return case.events[: len(case.events) - case.config.channels]


def turn_idle(channels: list[int]) -> list[valve.Event]:
    return [valve.ChannelStatus(channel, Status.IDLE) for channel in channels]


def same_last_watermark(_case: Case, _other: Case, first: Steps, second: Steps) -> bool:
    def last(steps: Steps) -> Json:
        return [seen for seen in flat(steps) if seen["type"] == "watermark"][-1:]

    return bool(last(first) == last(second))


# --- cutting buffers and splitting grants ---------------------------------------------------------------------


def cut_elsewhere(case: Case, random: Random) -> Case | None:
    """The same bytes between two clears, cut into other buffers."""
    events: list[deserializer.Event] = []
    pending = b""
    for event in (*case.events, None):
        if isinstance(event, deserializer.Buffer):
            pending += event.data
            continue
        while pending:
            size = random.randint(1, max(1, len(pending)))
            events.append(deserializer.Buffer(pending[:size]))
            pending = pending[size:]
        if event is not None:
            events.append(event)
    return attrs.evolve(case, events=tuple(events))


def same_records(_case: Case, _other: Case, first: Steps, second: Steps) -> bool:
    def payloads(steps: Steps) -> list[Json]:
        return [seen["payload"] for seen in flat(steps) if seen["type"] == "record"]

    return payloads(first) == payloads(second)


def flush_more(case: Case, random: Random) -> Case | None:
    events: list[serializer.Event] = []
    for event in case.events:
        events.append(event)
        if random.random() < 0.5:
            events.append(serializer.Flush())
    return attrs.evolve(case, events=(*events, serializer.Flush()))


def same_bytes(_case: Case, _other: Case, first: Steps, second: Steps) -> bool:
    def data(steps: Steps) -> str:
        return "".join(seen["data"] for seen in flat(steps) if seen["type"] == "buffer")

    # The last flush may emit more than the case did, but never different bytes.
    return data(second).startswith(data(first))


def split_grants(case: Case, _random: Random) -> Case | None:
    events: list[sender.Event] = []
    for event in case.events:
        if isinstance(event, sender.Credit) and event.amount > 1:
            events += [sender.Credit(1), sender.Credit(event.amount - 1)]
        else:
            events.append(event)
    return attrs.evolve(case, events=tuple(events))


def same_messages(_case: Case, _other: Case, first: Steps, second: Steps) -> bool:
    def sent(steps: Steps) -> list[Json]:
        return [(seen["kind"], seen["sequence"]) for seen in flat(steps) if seen["type"] == "send"]

    return sent(first) == sent(second)


def more_watermarks(case: Case, random: Random) -> Case | None:
    if case.config.kind not in {"forward", "rescale", "global", "broadcast", "hash"}:
        return None
    events: list[Any] = []
    for event in case.events:
        if random.random() < 0.5:
            events.append(Watermark(Long(random.randint(0, 9))))
        events.append(event)
    return attrs.evolve(case, events=tuple(events))


def same_channels_of_records(case: Case, other: Case, first: Steps, second: Steps) -> bool:
    def channels(one: Case, steps: Steps) -> list[Json]:
        return [seen for event, seen in zip(one.events, steps, strict=True) if event.type == "record"]

    return channels(case, first) == channels(other, second)


RELATIONS = (
    Relation(
        "renamed", "valve", "The names of channels do not matter.", ("VALVE-17",), rename("channel", "channels"), same
    ),
    Relation("later", "valve", "Only the order of timestamps counts.", ("VALVE-5",), move_timestamps, same_but_later),
    Relation(
        "idle-order",
        "valve",
        "In flink-40475 the last watermark does not depend on the order in which channels turn idle.",
        ("VALVE-13", "VALVE-10"),
        idle_in_another_order,
        same_last_watermark,
    ),
    Relation("renamed", "combiner", "The names of inputs do not matter.", ("COMB-2",), rename("input", "inputs"), same),
    Relation("later", "combiner", "Only the order of timestamps counts.", ("COMB-4",), move_timestamps, same_but_later),
    Relation("renamed", "multiplexer", "The ids of outputs do not matter.", ("MUX-6",), rename_outputs, same),
    Relation(
        "later", "multiplexer", "Only the order of timestamps counts.", ("MUX-6",), move_timestamps, same_but_later
    ),
    Relation(
        "renamed",
        "gate",
        "The names of channels do not matter.",
        ("GATE-8",),
        rename("channel", "channels"),
        same_on_renamed_channels,
    ),
    Relation(
        "renamed",
        "credit_receiver",
        "The names of channels do not matter.",
        ("CREDIT-8",),
        rename("channel", "channels"),
        same_on_renamed_channels,
    ),
    Relation(
        "cut",
        "deserializer",
        "Records do not depend on where buffers are cut.",
        ("SPAN-20",),
        cut_elsewhere,
        same_records,
    ),
    Relation("flushed", "serializer", "More flushes change no byte.", ("SPAN-3",), flush_more, same_bytes),
    Relation("split", "credit_sender", "Two grants equal their sum.", ("CREDIT-20",), split_grants, same_messages),
    Relation(
        "watermarks",
        "partitioner",
        "Watermarks do not move the partitioner on.",
        ("OUT-12",),
        more_watermarks,
        same_channels_of_records,
    ),
)


def relations_of(component: str) -> tuple[Relation, ...]:
    return tuple(relation for relation in RELATIONS if relation.component == component)


def pairs(relation: Relation, cases: Iterator[Case], random: Random) -> Iterator[tuple[Case, Case]]:
    """Each case with its variation; the relation of idle orders applies to cases that end idle."""
    for drawn in cases:
        case = drawn
        if relation.name == "idle-order":
            case = attrs.evolve(drawn, events=(*drawn.events, *turn_idle(list(range(drawn.config.channels)))))
        other = relation.vary(case, random)
        if other is not None:
            yield case, attrs.evolve(other, name=f"{case.name}-{relation.name}")
