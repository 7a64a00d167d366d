"""Cases for the gauges of inputs: watermarks that rise and fall, records of all kinds of inputs, backlogs that end."""

from random import Random

from tidegate.properties.cases.values import among, draw_longs, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.watermarks import input_gauges as gauges


def draw(random: Random, config: gauges.Config | None = None) -> tuple[gauges.Config, tuple[gauges.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(random, watermark=4, measure=2, attributes=2, record=2)
    if config.extension is None:
        weights.pop("record", None)
    draw_kind, pool = among(random, weights), draw_longs(random)
    walk = Walk(random, gauges.start(config), gauges.step)
    for _ in walk.rounds():
        number = random.randrange(len(config.inputs))
        if random.random() < 0.02:
            number = random.choice((-1, len(config.inputs)))
        match draw_kind():
            case "watermark":
                event: gauges.Event = gauges.WatermarkArrives(number, random.choice(pool))
            case "record":
                event = gauges.RecordArrives(number)
            case "attributes":
                event = gauges.AttributesArrive(number, random.random() < 0.5)
            case _:
                event = gauges.ShowGauges()
        walk.play_one(event)
    return config, walk.events


def draw_config(random: Random) -> gauges.Config:
    kinds = list(gauges.InputKind)
    inputs = tuple(random.choice(kinds) for _ in range(random.choice((1, 2, 2, 3))))
    return gauges.Config(inputs, random.choice((None, gauges.RECORDS)))
