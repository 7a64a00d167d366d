"""Scopes of buffer pools."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope
from tidegate.reference.pools import buffer_pools as pools


def make_scope(
    name: str, total: int, kinds: tuple[pools.CreatePool, ...], covers: str, *, listening: bool = False
) -> Scope:
    """Each of these pools comes and goes, and takes all that it can get."""
    events: list[pools.Event] = [pools.CreatePool(9, total + 1, total + 1), pools.CreatePool(9, 0, 1)]
    for kind in kinds:
        channels = [*range(kind.channels), None]
        events += [kind, pools.DestroyPool(kind.pool)]
        events += [pools.RequestSegment(kind.pool, channel) for channel in channels]
        events += [pools.RecycleSegment(kind.pool, channel) for channel in channels]
        if listening:
            events.append(pools.Listen(kind.pool))
    alphabet = tuple(events)
    return Scope(
        name=name,
        component="buffer_pools",
        configs=(pools.Config(total),),
        alphabet=lambda _config, _state: alphabet,
        covers=f"{covers}; refused: pools that cannot be",
        cap="more than one listener at a time" if listening else "listeners",
        expand=lambda state: all(one.listeners < 2 for one in state.pools),
    )


def small() -> Iterator[Scope]:
    yield make_scope(
        "one-pool",
        3,
        (pools.CreatePool(0, 1, 2, overdraft=1),),
        "one pool of 1 to 2 of 3 segments, with an overdraft and listeners",
        listening=True,
    )
    yield make_scope(
        "channels",
        2,
        (pools.CreatePool(0, 1, 2, channels=1, per_channel=1),),
        "one pool of 1 to 2 of 2 segments, with a channel that may have one",
    )
    yield make_scope(
        "two-pools",
        3,
        (pools.CreatePool(0, 1, 3, overdraft=1), pools.CreatePool(1, 1, 1)),
        "two pools, of 1 to 3 of 3 segments with an overdraft, and of 1",
    )


def thorough() -> Iterator[Scope]:
    yield make_scope(
        "two-shares", 4, (pools.CreatePool(0, 1, 3), pools.CreatePool(1, 1, 3)), "two pools of 1 to 3 of 4 segments"
    )
