"""Cases for several inputs: the traces of network inputs, spread over the inputs of one task."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.cases import network_input as one_input
from tidegate.properties.cases.network_input import RECORD, encode
from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.input.multiple_inputs import (
    SELECTION,
    Buffer,
    ChannelEvent,
    Config,
    Event,
    Select,
    State,
    start,
    step,
)
from tidegate.reference.input.network_input import values as network_input_values
from tidegate.reference.input.network_input.values import Kind, Process


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    writers = [
        one_input.Writer(stream(random, f"elements of {index}"), network_input_values.Config(channels))
        for index, channels in enumerate(config.inputs)
    ]
    drains = random.choice((1, 0.7))
    batches = random.choice((0, 0, 0.3, 1))
    refused = random.choice((0, 0, 0.03))
    ends = pick(random, "share of the ends", ((0.3, 0.1), (1, 0.5), (2, 2)))
    draw_kind = among(
        random,
        {"buffer": 4, "process": 6, "barrier": 0.3, "end_of_data": ends[0], "end_of_partition": ends[1], "drain": 0.5},
    )
    favourite = random.choice((None, *range(len(writers))))
    selects = random.choice((0, 0.1, 0.3)) if config.extension == SELECTION else 0
    walk = Walk(random, start(config), step, is_fair=is_fair)
    for writer, state in zip(writers, walk.state.inputs, strict=True):
        writer.go_on_from(state)
    for _ in walk.rounds():
        own, kind = draw_kind()
        index = favourite if favourite is not None and own.random() < 0.5 else own.randrange(len(writers))
        if own.random() < selects:
            walk.play_one(draw_selection(own, len(writers), refused))
        if own.random() < refused:
            drawn = [one_input.draw_refused(own, walk.state.inputs[index])]
            index = own.choice((index, -1, len(writers)))
        else:
            drawn = one_input.draw_events(own, kind, walk.state.inputs[index], writers[index], drains)
        for event in drawn:
            walk.play_one(address(event, index, batch=own.random() < batches))
    return config, walk.events


def draw_config(random: Random) -> Config:
    own = stream(random, "inputs")
    inputs = tuple(own.choice((1, 1, 2)) for _ in range(own.choice((2, 2, 3, 3, 4))))
    return Config(inputs, stream(random, "extension").choice((None, None, SELECTION)))


def draw_selection(random: Random, inputs: int, refused: float) -> Select:
    """Mostly one input or all but one; at times none, all, or a nonexistent one."""
    if random.random() < refused:
        return Select((0, random.choice((-1, inputs))))
    count = random.choice((0, 1, 1, 1, 1, inputs - 1, inputs - 1, inputs))
    return Select(tuple(sorted(random.sample(range(inputs), count))))


def draw_ports(random: Random, inputs: int) -> tuple[Config, tuple[Event, ...]]:
    """Of many inputs, each with something to read, one is selected, or all but one, the last above all."""
    config = Config((1,) * inputs, SELECTION)
    last = inputs - 1
    far = [one for one in (0, 1, 7, 8, 15, 16, 31, 32, last) if one < inputs]
    walk = Walk(random, start(config), step, length=0, is_fair=is_fair)
    for index, state in enumerate(walk.state.inputs):
        writer = one_input.Writer(stream(random, f"elements of {index}"), state.config)
        writer.go_on_from(state)
        walk.play(Buffer(index, 0, writer.cut(0)) for _ in range(2))
    walk.play([Process(batch=False)] * 2)
    for chosen in (last, *random.sample(far, len(far)), last):
        selected = random.choice(((chosen,), (chosen,), tuple(one for one in range(inputs) if one != chosen)))
        walk.play([Select(selected), *[Process(batch=False)] * random.randint(2, 4)])
    walk.play([Select(tuple(range(inputs))), *[Process(batch=False)] * 3])
    walk.play(ChannelEvent(last, 0, kind) for kind in ENDS)
    walk.play([Process(batch=False)] * 4)
    return config, walk.events


ENDS = (Kind.END_OF_DATA, Kind.END_OF_PARTITION)
#: Limits of bit masks, and the maximum.
PORTS = (8, 9, 16, 17, 31, 32, 33, 62, 63)
ONCE = tuple(partial(draw_ports, inputs=inputs) for inputs in (*PORTS, PORTS[-1]))


def is_fair(state: State, event: Event) -> bool:
    """False if a channel gets bytes that are not elements."""
    if not isinstance(event, Buffer) or not 0 <= event.input < len(state.inputs):
        return True
    return one_input.is_fair(state.inputs[event.input], network_input_values.Buffer(event.channel, event.data))


def address(event: network_input_values.Event, index: int, *, batch: bool) -> Event:
    if isinstance(event, Process):
        return Process(batch)
    if isinstance(event, network_input_values.Buffer):
        return Buffer(index, event.channel, event.data)
    return ChannelEvent(index, event.channel, event.kind)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE, is_fair=is_fair)


# --- scopes ---------------------------------------------------------------------------------------------------


RECORDS = encode(RECORD)


def make_scope(
    name: str, inputs: int, kinds: tuple[Kind, ...], waiting: int, selections: tuple[tuple[int, ...], ...] = ()
) -> Scope:
    def play(_config: Config, _state: State) -> Iterator[Event]:
        for index in range(inputs):
            yield Buffer(index, 0, RECORDS)
            yield from (ChannelEvent(index, 0, kind) for kind in kinds)
        yield from map(Select, selections)
        yield from (Process(batch=False), *([] if selections else [Process(batch=True)]))
        yield from (Buffer(inputs, 0, RECORDS), ChannelEvent(-1, 0, Kind.BARRIER), Buffer(0, 1, RECORDS))

    def expand(state: State) -> bool:
        return sum(len(one.waiting[0]) for one in state.inputs) <= waiting

    return Scope(
        name=name,
        component="multiple_inputs",
        configs=(Config((1,) * inputs, SELECTION if selections else None),),
        alphabet=play,
        covers=(
            f"{inputs} inputs of one channel each; {', '.join(('a record', *kinds))} on each, "
            f"{'selections of each input, calls' if selections else 'calls for one element and for a batch'}"
            "; refused: what comes after an end, inputs and channels out of range"
        ),
        cap=f"at most {counted(waiting, 'item')} waiting",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope("ends-of-data", 2, (Kind.END_OF_DATA, Kind.STOP), 1)
    yield make_scope("ends", 2, (Kind.END_OF_PARTITION,), 1)
    yield make_scope("three", 3, (), 1)
    yield make_scope("selection", 2, (Kind.END_OF_PARTITION,), 1, ((0,), (1,)))


def thorough() -> Iterator[Scope]:
    yield make_scope("all", 2, tuple(Kind), 1)
    yield make_scope("ends", 2, (Kind.END_OF_PARTITION,), 2)
    yield make_scope("three", 3, (Kind.END_OF_PARTITION,), 1)
    yield make_scope("selection", 2, (Kind.END_OF_DATA, Kind.END_OF_PARTITION), 1, ((0,), (1,)))
