"""Cases for input gauges: watermarks that rise and fall, records on all kinds of inputs, backlogs that end."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import Long
from tidegate.reference.watermarks import input_gauges as gauges
from tidegate.reference.watermarks.input_gauges import InputKind


def draw(random: Random, config: gauges.Config | None = None) -> tuple[gauges.Config, tuple[gauges.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(random, watermark=4, measure=2, attributes=2, record=2)
    if config.extension is None:
        weights.pop("record", None)
    draw_kind, pool = among(random, weights), draw_longs(random)
    walk = Walk(random, gauges.start(config), gauges.step)
    for _ in walk.rounds():
        own, kind = draw_kind()
        number = own.randrange(len(config.inputs))
        if own.random() < 0.02:
            number = own.choice((-1, len(config.inputs)))
        match kind:
            case "watermark":
                event: gauges.Event = gauges.WatermarkArrives(number, own.choice(pool))
            case "record":
                event = gauges.RecordArrives(number)
            case "attributes":
                event = gauges.AttributesArrive(number, own.random() < 0.5)
            case _:
                event = gauges.ShowGauges()
        walk.play_one(event)
    return config, walk.events


def draw_config(random: Random) -> gauges.Config:
    kinds = list(gauges.InputKind)
    own = stream(random, "inputs")
    inputs = tuple(own.choice(kinds) for _ in range(own.choice((1, 2, 2, 3))))
    return gauges.Config(inputs, stream(random, "extension").choice((None, gauges.RECORDS)))


GENERATOR = Generator(draw=draw, draw_config=draw_config)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(inputs: tuple[InputKind, ...], extension: str | None, most: int) -> Scope:
    events: list[gauges.Event] = [gauges.ShowGauges()]
    for number in range(len(inputs) + 1):
        events += [gauges.WatermarkArrives(number, Long(timestamp)) for timestamp in (1, 2)]
        events += [gauges.AttributesArrive(number, backlog) for backlog in (True, False)]
        events += [gauges.RecordArrives(number)] if extension else []
    return Scope(
        name=f"{'-'.join(inputs)}{'-records' if extension else ''}",
        component="input_gauges",
        configs=(gauges.Config(inputs, extension),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(len(inputs), 'input')}, watermarks 1 and 2, backlogs"
            f"{', records' if extension else ''}; refused: an input that does not exist"
        ),
        expand=lambda state: sum(state.records) < most,
        cap=f"at most {most} records" if extension else "",
    )


def small() -> Iterator[Scope]:
    yield make_scope((InputKind.NETWORK, InputKind.NETWORK), None, 1)
    yield make_scope((InputKind.NETWORK,), gauges.RECORDS, 2)
    yield make_scope((InputKind.SOURCE,), gauges.RECORDS, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope((InputKind.NETWORK, InputKind.SOURCE), gauges.RECORDS, 2)
