"""Cases for a shared connection: readers that queue up while nothing can be written, and readers that end."""

from functools import partial
from random import Random

from tidegate.properties.cases.boundaries import FAR
from tidegate.properties.cases.values import COUNTS, among, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.credit import credit_connection
from tidegate.reference.credit.credit_sender import Writable
from tidegate.reference.credit.readers import Item

ITEMS = {"data": Item.DATA, "empty": Item.EMPTY, "event": Item.EVENT, "barrier": Item.BARRIER, "end": Item.END}


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
        walk.play(draw_events(random, draw_kind(), walk.state))
        if walk.state.closed and random.random() < 0.3:
            break
    return config, walk.events


def draw_config(random: Random) -> credit_connection.Config:
    readers = random.choice((1, 2, 2, 2, 3, 3, 4))
    return credit_connection.Config(tuple(random.choice((0, 0, 1, 2, 3)) for _ in range(readers)))


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
                    credit_connection.Add(reader, Item.DATA),
                    credit_connection.Fail(reader),
                )
            )
        ]
    if kind in ITEMS:
        return [credit_connection.Add(reader, ITEMS[kind])]
    if kind == "congestion":
        # Everybody gets something to send while nothing can be written; then the turns can be seen.
        everybody = random.sample(range(len(state.readers)), len(state.readers))
        items = [
            credit_connection.Add(one, random.choice((Item.DATA, Item.EVENT))) for one in everybody for _ in range(3)
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
    """Everybody has something to send while nothing can be written, and fails, or is cancelled, or goes on."""
    order = random.sample(range(readers), readers)
    going = (credit_connection.Fail, credit_connection.Fail, credit_connection.Cancel, credit_connection.Flush)
    again: list[credit_connection.Event] = [
        credit_connection.Credit(order[0], 300), credit_connection.Resume(order[-1]), credit_connection.Flush(order[0]),
    ]  # fmt: skip
    return credit_connection.Config((1,) * readers), (
        Writable(value=False),
        *(credit_connection.Add(one, Item.DATA) for one in order),
        *(random.choice(going)(one) for one in order),
        credit_connection.Fail(readers - 1),
        Writable(value=True),
        *again * 4,
        *[credit_connection.Break()] * 12,
        *again * 4,
        *[Writable(value=False), Writable(value=True)] * 6,
    )


ONCE = tuple(partial(draw_all_go, readers=readers) for readers in COUNTS)
