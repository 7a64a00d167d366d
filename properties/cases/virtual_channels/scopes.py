"""Scopes of virtual channels."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.recovery import virtual_channels as virtual

#: Of two subtasks the first has the key c, and the second the key a.
MINE, OTHER = virtual.Record("c"), virtual.Record("a")


def play(config: virtual.Config, state: virtual.State) -> Iterator[virtual.Event]:
    """Every virtual channel and one that does not exist; buffers with one element, with several, and with halves.

    Where nothing is filtered there is one watermark, and no record is cut.
    """
    yield from (virtual.SelectChannel(one.subtask, one.channel) for one in state.channels)
    yield virtual.SelectChannel(9, 9)
    elements = (OTHER, Watermark(Long(1)), StatusChange(Status.IDLE), StatusChange(Status.ACTIVE))
    rest = state.selected is not None and state.channels[state.selected].begun is not None
    yield from (virtual.ReadBuffer(rest, (element,)) for element in elements)
    yield from (virtual.ReadBuffer(either, ()) for either in (False, True))
    if config.filtered:
        yield virtual.ReadBuffer(rest, (OTHER, MINE, Watermark(Long(2)), MINE))
        if not any(one.begun for one in state.channels):
            yield virtual.ReadBuffer(rest, (), "a")


def make_scope(name: str, covers: str, *configs: virtual.Config) -> Scope:
    return Scope(
        name=name,
        component="virtual_channels",
        configs=configs,
        alphabet=play,
        covers=f"{covers}; two keys, both statuses; where one is filtered two watermarks, and one record that is cut",
    )


def small() -> Iterator[Scope]:
    yield make_scope(
        "two-connections",
        "two old consumers of which one is filtered, two old producers, one of each, and none",
        virtual.Config((0, 1), (3,), (1,), 0, 2, 128),
        virtual.Config((1,), (2, 3), (), 0, 2, 128),
        virtual.Config((1,), (2,), (1,), 1, 2, 128),
        virtual.Config((), (2,), (), 0, 1, 128),
        virtual.Config((2,), (), (), 0, 1, 128),
    )


def thorough() -> Iterator[Scope]:
    yield make_scope(
        "three-connections",
        "three old consumers of which two are filtered",
        virtual.Config((0, 1, 2), (0,), (1, 2), 0, 2, 128),
    )
