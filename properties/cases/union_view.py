"""Cases for several subpartitions that are read as one: cut records, late views, empty views."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
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
        walk.play_one(draw_event(*draw_kind(), walk.state, cut))
    return config, walk.events


def draw_config(random: Random) -> union.Config:
    return union.Config(stream(random, "views").choice((1, 2, 2, 2, 3)))


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


GENERATOR = Generator(draw=draw, draw_config=draw_config)


# --- scopes ---------------------------------------------------------------------------------------------------


def last_to_register(state: union.State) -> int | None:
    """The last unregistered view, if several others have data: their order then is free."""
    missing = [number for number, view in enumerate(state.views) if not view.registered]
    return missing[0] if len(missing) == 1 and len(state.early) > 1 else None


def make_scope(views: int, most: int, items: tuple[union.Item, ...] = tuple(union.Item)) -> Scope:
    numbers = range(views)
    events: tuple[union.Event, ...] = (
        *(union.WriteItem(view, item) for view in numbers for item in items),
        *(union.TellAvailable(view) for view in range(views + 1)),
        *(union.RegisterView(view) for view in numbers),
        union.PollItem(),
        union.PeekView(),
        union.QueryAvailable(credit=True),
        union.QueryAvailable(credit=False),
        union.ReleaseAll(),
    )
    closed: dict[int | None, tuple[union.Event, ...]] = {
        None: events,
        **{view: tuple(event for event in events if event != union.RegisterView(view)) for view in numbers},
    }
    return Scope(
        name=f"{views}-views" + ("" if union.Item.EVENT in items else "-data"),
        component="union_view",
        configs=(union.Config(views),),
        alphabet=lambda _config, state: closed[last_to_register(state)],
        covers=(
            f"{counted(views, 'view')}, items of the kinds {', '.join(items)}, at most one view that has some before "
            "all are registered; refused: what is said twice, late, or of no view"
        ),
        expand=lambda state: sum(view.written for view in state.views) < most,
        cap=f"at most {counted(most, 'item')} written",
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 3)
    yield make_scope(2, 2, (union.Item.PARTIAL, union.Item.WHOLE))


def thorough() -> Iterator[Scope]:
    yield make_scope(2, 2)
    yield make_scope(2, 3, (union.Item.PARTIAL, union.Item.WHOLE))
