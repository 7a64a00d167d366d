"""Scopes of several subpartitions that are read as one."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.subpartition import union_view as union


def last_to_register(state: union.State) -> int | None:
    """The last view that is not registered, where several others have something: their order then is open."""
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
