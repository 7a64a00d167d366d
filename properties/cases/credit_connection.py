"""Cases for a shared connection: readers that queue up while nothing can be written, and readers that end."""

from collections.abc import Iterator
from functools import partial
from random import Random

import attrs

from tidegate.properties.drawing.boundaries import FAR
from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import COUNTS, among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.credit import credit_connection
from tidegate.reference.credit.credit_sender import Writable
from tidegate.reference.credit.readers import Added, Reader

ITEMS = {"data": Added.DATA, "empty": Added.EMPTY, "event": Added.EVENT, "barrier": Added.BARRIER, "end": Added.END}


def draw(
    random: Random, config: credit_connection.Config | None = None
) -> tuple[credit_connection.Config, tuple[credit_connection.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random,
        data=5,
        empty=0.5,
        event=1.5,
        barrier=0.6,
        end=0.1,
        flush=1.5,
        credit=2.5,
        resume=0.8,
        writable=1,
        congestion=0.4,
        cancel=0.1,
        fail=0.15,
        fatal=0.02,
        unknown=0.1,
    )
    draw_kind = among(random, weights)
    walk = Walk(random, credit_connection.start(config), credit_connection.step)
    for _ in walk.up_to_length():
        walk.play(draw_events(*draw_kind(), walk.state))
        if walk.state.closed and random.random() < 0.3:
            break
    return config, walk.events


def draw_config(random: Random) -> credit_connection.Config:
    own = stream(random, "initial_credits")
    readers = own.choice((1, 2, 2, 2, 3, 3, 4))
    return credit_connection.Config(tuple(own.choice((0, 0, 1, 2, 3)) for _ in range(readers)))


def draw_events(random: Random, kind: str, state: credit_connection.State) -> list[credit_connection.Event]:
    reader = random.randrange(len(state.readers))
    if kind == "unknown":
        reader = random.choice((-1, len(state.readers)))
        return [
            random.choice(
                (
                    credit_connection.Cancel(reader),
                    credit_connection.Credit(reader, 1),
                    credit_connection.Resume(reader),
                    credit_connection.Add(reader, Added.DATA),
                    credit_connection.Fail(reader),
                )
            )
        ]
    if kind in ITEMS:
        return [credit_connection.Add(reader, ITEMS[kind])]
    if kind == "congestion":
        # All readers get data while nothing can be written; then their turns are visible.
        everybody = random.sample(range(len(state.readers)), len(state.readers))
        items = [
            credit_connection.Add(one, random.choice((Added.DATA, Added.EVENT))) for one in everybody for _ in range(3)
        ]
        grants = [credit_connection.Credit(one, random.randint(1, 3)) for one in everybody]
        return [Writable(value=False), *grants, *items, Writable(value=True)]
    if kind == "writable":
        return [Writable(not state.writable)]
    if kind == "resume":
        blocked = [index for index, one in enumerate(state.readers) if one.subpartition.blocked]
        return [credit_connection.Resume(random.choice(blocked))] if blocked else [credit_connection.Credit(reader, 1)]
    others: dict[str, credit_connection.Event] = {
        "flush": credit_connection.Flush(reader),
        "credit": credit_connection.Credit(reader, random.choice((1, 1, 1, 2, 2, 5, 5, 300, 2 * FAR))),
        "cancel": credit_connection.Cancel(reader),
        "fail": credit_connection.Fail(reader),
        "fatal": credit_connection.Break(),
    }
    return [others[kind]]


def draw_all_go(random: Random, readers: int) -> tuple[credit_connection.Config, tuple[credit_connection.Event, ...]]:
    """All readers have data while nothing can be written, and fail, are cancelled, or continue."""
    order = random.sample(range(readers), readers)
    going = (credit_connection.Fail, credit_connection.Fail, credit_connection.Cancel, credit_connection.Flush)
    again: list[credit_connection.Event] = [
        credit_connection.Credit(order[0], 300), credit_connection.Resume(order[-1]), credit_connection.Flush(order[0]),
    ]  # fmt: skip
    return credit_connection.Config((1,) * readers), (
        Writable(value=False),
        *(credit_connection.Add(one, Added.DATA) for one in order),
        *(random.choice(going)(one) for one in order),
        credit_connection.Fail(readers - 1),
        Writable(value=True),
        *again * 4,
        *[credit_connection.Break()] * 12,
        *again * 4,
        *[Writable(value=False), Writable(value=True)] * 6,
    )


ONCE = tuple(partial(draw_all_go, readers=readers) for readers in COUNTS)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


WRITABLE = (Writable(value=False), Writable(value=True))


#: Events that concern no existing reader.
ELSEWHERE = (credit_connection.Break(), credit_connection.Credit(1, 1), credit_connection.Cancel(-1))


def on_one(items: tuple[Added, ...]) -> tuple[credit_connection.Event, ...]:
    """Events of a single reader."""
    added = tuple(credit_connection.Add(0, item) for item in items)
    return (
        *added,
        credit_connection.Flush(0),
        credit_connection.Credit(0, 1),
        credit_connection.Resume(0),
        credit_connection.Cancel(0),
        credit_connection.Fail(0),
    )


def on_each(readers: int, item: Added) -> tuple[credit_connection.Event, ...]:
    """Events that give a reader its turn, or take it away."""
    turns = (
        event
        for reader in range(readers)
        for event in (credit_connection.Add(reader, item), credit_connection.Cancel(reader))
    )
    return (*turns, credit_connection.Fail(0), *WRITABLE, credit_connection.Break())


def number_from_zero(state: credit_connection.State) -> credit_connection.State:
    return attrs.evolve(state, readers=tuple(map(number_reader_from_zero, state.readers)))


def number_reader_from_zero(reader: Reader) -> Reader:
    return attrs.evolve(reader, subpartition=attrs.evolve(reader.subpartition, sequence=0))


@attrs.frozen(kw_only=True)
class Cap:
    """The cap of a reader."""

    queued: int
    credit: int

    def holds(self, state: credit_connection.State) -> bool:
        return all(
            len(reader.subpartition.items) <= self.queued and reader.credit <= self.credit for reader in state.readers
        )


def make_scope(
    name: str,
    configs: tuple[credit_connection.Config, ...],
    events: tuple[credit_connection.Event, ...],
    cap: Cap,
    played: str,
) -> Scope:
    initial = " or ".join(" and ".join(map(str, config.initial_credits)) for config in configs)
    return Scope(
        name=name,
        component="credit_connection",
        configs=configs,
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(len(configs[0].initial_credits), 'reader')} with initial credit {initial}; {played}. States "
            "that differ only in the next sequence numbers count as equal"
        ),
        cap=f"at most {counted(cap.queued, 'item')} queued and {cap.credit} credit a reader",
        expand=cap.holds,
        canonical=number_from_zero,
    )


def make_writable_scope(configs: tuple[credit_connection.Config, ...], items: tuple[Added, ...], cap: Cap) -> Scope:
    names = " and ".join(item.value.replace("_", " ") for item in items)
    played = (
        f"as items {names}; flush, credit, resume, cancel, failures of the producer, writable or not; refused: resume "
        "while not blocked, events of a reader that was cancelled"
    )
    return make_scope("writable", configs, (*on_one(items), *WRITABLE), cap, played)


def make_items_scope(configs: tuple[credit_connection.Config, ...], cap: Cap) -> Scope:
    played = (
        "each item, flush, credit, resume, cancel, failures of the producer and of the connection, always writable; "
        "refused: resume while not blocked, what is added after the end, credit for unknown readers"
    )
    return make_scope("items", configs, (*on_one(tuple(Added)), *ELSEWHERE), cap, played)


def make_turns_scope(configs: tuple[credit_connection.Config, ...], item: Added, cap: Cap) -> Scope:
    readers = len(configs[0].initial_credits)
    played = (
        f"as items {item.value}; cancel, failures of the first producer and of the connection, writable or not; "
        "refused: what is added for a reader that was cancelled"
    )
    return make_scope(f"turns-of-{readers}", configs, on_each(readers, item), cap, played)


ALONE = (credit_connection.Config((0,)), credit_connection.Config((1,)))


def small() -> Iterator[Scope]:
    yield make_writable_scope(ALONE[:1], (Added.DATA, Added.BARRIER), Cap(queued=1, credit=1))
    yield make_items_scope(ALONE, Cap(queued=1, credit=1))
    yield make_turns_scope((credit_connection.Config((1, 1)),), Added.EVENT, Cap(queued=2, credit=1))


def thorough() -> Iterator[Scope]:
    yield make_writable_scope((*ALONE, credit_connection.Config((2,))), tuple(Added), Cap(queued=2, credit=2))
    yield make_items_scope((*ALONE, credit_connection.Config((2,))), Cap(queued=2, credit=2))
    yield make_turns_scope((credit_connection.Config((1, 1)),), Added.EVENT, Cap(queued=3, credit=1))
    yield make_turns_scope((credit_connection.Config((1, 1, 1)),), Added.EVENT, Cap(queued=1, credit=1))
