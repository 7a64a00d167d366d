"""Scopes of several subpartitions that are read as one."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.subpartition import union_view as union


def is_up_to_the_engine(state: union.State, event: union.Event) -> bool:
    """The last view is registered, and several others have something: their order is open."""
    missing = {number for number, view in enumerate(state.views) if not view.registered}
    return isinstance(event, union.RegisterView) and missing == {event.view} and len(state.early) > 1


def make_scope(views: int, most: int) -> Scope:
    numbers = range(views)
    events: tuple[union.Event, ...] = (
        *(union.WriteItem(view, item) for view in numbers for item in union.Item),
        *(union.TellAvailable(view) for view in range(views + 1)),
        *(union.RegisterView(view) for view in numbers),
        union.PollItem(),
        union.PeekView(),
        union.QueryAvailable(credit=True),
        union.QueryAvailable(credit=False),
        union.ReleaseAll(),
    )
    return Scope(
        name=f"{views}-views",
        component="union_view",
        configs=(union.Config(views),),
        alphabet=lambda _config, state: (event for event in events if not is_up_to_the_engine(state, event)),
        covers=(
            f"{counted(views, 'view')}, items of all kinds, at most one view that has some before all are registered; "
            "refused: what is said twice, late, or of no view"
        ),
        expand=lambda state: sum(view.written for view in state.views) < most,
        cap=f"at most {counted(most, 'item')} written",
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 3)
    yield make_scope(2, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope(2, 3)
