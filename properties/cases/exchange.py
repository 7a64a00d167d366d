"""Cases for push and pull exchange: consumers before, during and after production, bounds reached, results released."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.exchange import values as exchange
from tidegate.reference.exchange.step import start, step
from tidegate.reference.subpartition.values import Finish, Flush, Release


def draw(random: Random, config: exchange.Config | None = None) -> tuple[exchange.Config, tuple[exchange.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random, pull=5, produce=4, request=2, flush=1, finish=0.4, leave=0.3, release=0.1, end_job=0.08, drain=0.4,
        register=0.1, refused=0.2,
    )  # fmt: skip
    early = random.choice((0, 0, 0, 2))
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    for _ in walk.up_to_end(lambda state: state.released, 1, 4):
        if walk.played >= early and not walk.state.registered and not walk.state.released:
            walk.play_one(exchange.Register())
        else:
            walk.play(draw_events(*draw_kind(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> exchange.Config:
    return exchange.Config(
        result=stream(random, "result").choice(list(exchange.ResultType)),
        consumers=stream(random, "consumers").choice((1, 2, 2, 3)),
        limit=stream(random, "limit").choice((1, 2, 3, 5)),
    )


def draw_events(random: Random, kind: str, state: exchange.State) -> list[exchange.Event]:
    consumer = random.randrange(state.config.consumers)
    there = [index for index, one in enumerate(state.consumers) if one is not None and not one.left]
    match kind:
        case "produce" if not state.finished or random.random() < 0.1:
            return [exchange.Produce()] * random.choice((1, 1, 2, state.config.limit + 1))
        case "flush":
            return [Flush()]
        case "finish" if not state.finished or random.random() < 0.2:
            return [Finish()]
        case "release":
            return [Release()]
        case "end_job":
            return [exchange.EndJob()]
        case "register":
            return [exchange.Register()]
        case "refused":
            beyond = random.choice((-1, state.config.consumers))
            refused: tuple[exchange.Event, ...] = (
                exchange.Request(beyond),
                exchange.Pull(beyond, credit=True),
                exchange.Leave(beyond),
            )
            return [random.choice(refused)]
    if not there or kind == "request":
        return [draw_request(random, state, consumer)]
    if kind == "leave":
        return [exchange.Leave(random.choice(there))]
    if kind == "drain":
        return [exchange.Pull(random.choice(there), credit=True)] * (state.produced + 1)
    return [exchange.Pull(random.choice(there), random.random() < 0.8)]


def draw_request(random: Random, state: exchange.State, consumer: int) -> exchange.Event:
    """Mostly a valid request: from a new consumer, and for a blocking result only after it is finished."""
    if random.random() < 0.15:
        return exchange.Request(consumer)
    new = [index for index, one in enumerate(state.consumers) if one is None]
    early = state.finished or state.config.result not in (
        exchange.ResultType.BLOCKING,
        exchange.ResultType.BLOCKING_PERSISTENT,
    )
    if not early:
        return exchange.Produce() if random.random() < 0.8 else Finish()
    there = [index for index, one in enumerate(state.consumers) if one is not None]
    return exchange.Request(random.choice(new)) if new else exchange.Pull(random.choice(there), credit=True)


GENERATOR = Generator(draw=draw, draw_config=draw_config)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(consumers: int, produced: int) -> Scope:
    def play(_config: exchange.Config, _state: exchange.State) -> Iterator[exchange.Event]:
        yield from (
            exchange.Register(),
            exchange.Produce(),
            Flush(),
            Finish(),
            Release(),
            exchange.EndJob(),
            exchange.Request(-1),
            exchange.Leave(consumers),
        )
        for consumer in range(consumers):
            yield from (
                exchange.Request(consumer),
                exchange.Pull(consumer, credit=True),
                exchange.Pull(consumer, credit=False),
                exchange.Leave(consumer),
            )

    return Scope(
        name=f"{consumers}x{produced}",
        component="exchange",
        configs=tuple(exchange.Config(result, consumers, limit=1) for result in exchange.ResultType),
        alphabet=play,
        covers=(
            f"every type of result, of which a bounded one holds 1 buffer; {counted(consumers, 'consumer')} that ask, "
            "pull with credit and without, and leave; buffers, flush, finish, release and the end of the job; refused: "
            "what comes out of turn, consumers out of range"
        ),
        cap=f"at most {counted(produced, 'item')} produced",
        expand=lambda state: state.produced <= produced,
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope(1, 3)
    yield make_scope(2, 2)
