"""Cases for several subpartitions that are read as one: records that are cut, views that come late, empty ones."""

from random import Random

from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.subpartition import union_view as union


def draw(random: Random, config: union.Config | None = None) -> tuple[union.Config, tuple[union.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(random, write=5, tell=4, poll=4, peek=1, query=1.5, register=1, release=0.1, refused=0.1)
    draw_kind, cut = among(random, weights), random.choice((0, 0.2, 0.5))
    walk = Walk(random, union.start(config), union.step)
    late = random.choice((0, 0, 3, 8))
    for number in walk.rounds():
        if number == late:
            walk.play(union.RegisterView(one) for one in range(config.views) if not walk.state.views[one].registered)
        walk.play_one(draw_event(random, draw_kind(), walk.state, cut))
    return config, walk.events


def draw_config(random: Random) -> union.Config:
    return union.Config(random.choice((1, 2, 2, 2, 3)))


def draw_event(random: Random, kind: str, state: union.State, cut: float) -> union.Event:
    view = random.randrange(state.config.views)
    match kind:
        case "write":
            item = random.choice((union.Item.WHOLE, union.Item.WHOLE, union.Item.EVENT))
            return union.WriteItem(view, union.Item.PARTIAL if random.random() < cut else item)
        case "tell":
            return union.TellAvailable(view)
        case "register":
            return union.RegisterView(view)
        case "peek":
            return union.PeekView()
        case "query":
            return union.QueryAvailable(random.random() < 0.5)
        case "release":
            return union.ReleaseAll()
        case "refused":
            wrong = random.choice((-1, state.config.views))
            return random.choice((union.TellAvailable(wrong), union.RegisterView(wrong)))
        case _:
            return union.PollItem()
