"""Several subpartitions that are read as one: whose turn it is, when there is something to read, and the end.

What is to be read is fetched ahead, a few items of all views in turn; so the view knows what is next, and from which
subpartition. A view stays with a subpartition while it is in the middle of a record.

Choices. UnionResultSubpartitionView and RoundRobinSubpartitionSelector of Flink 2.3. In which order views that had data
before all were registered get their first turn is up to the engine.
"""

from enum import StrEnum
from itertools import permutations
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.elements import Index, Nothing, Position, between
from tidegate.reference.model import Component, Outcome, rejected
from tidegate.reference.tuples import replace

#: How many items are fetched ahead.
MOST_FETCHED = 10
MOST_VIEWS = 6

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """How many subpartitions are read as one. None of their views is there yet."""

    views: Annotated[int, "How many subpartitions are read as one."] = attrs.field(validator=between(1, MOST_VIEWS))


# --- state ----------------------------------------------------------------------------------------------------


class Item(StrEnum):
    """A buffer that may end in the middle of a record, one that does not, an event."""

    PARTIAL = "partial"
    WHOLE = "whole"
    EVENT = "event"


@attrs.frozen
class View:
    """What waits in a subpartition, and what was written to it so far."""

    items: tuple[tuple[int, Item], ...] = ()
    written: int = 0
    registered: bool = False


@attrs.frozen
class Fetched:
    view: int
    number: int
    item: Item


@attrs.frozen
class State:
    """`turns` are the views that had something when they were last looked at, `last` is the one that was looked at.

    `midway`: the last item of that view may have ended in the middle of a record. `early` had something to read before
    they were registered.
    """

    config: Config
    views: tuple[View, ...]
    turns: tuple[int, ...] = ()
    last: int | None = None
    midway: bool = False
    fetched: tuple[Fetched, ...] = ()
    early: frozenset[int] = frozenset()
    released: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class WriteItem:
    """Something is written to a subpartition; nobody is told."""

    type: ClassVar[str] = "write"
    view: Index
    item: Item


@attrs.frozen
class TellAvailable:
    """A subpartition tells that it has something to read."""

    type: ClassVar[str] = "tell"
    view: Index


@attrs.frozen
class RegisterView:
    """The view of a subpartition is there."""

    type: ClassVar[str] = "register"
    view: Index


@attrs.frozen
class PollItem:
    """The next item is taken."""

    type: ClassVar[str] = "poll"


@attrs.frozen
class PeekView:
    """Somebody asks from which subpartition the next item comes."""

    type: ClassVar[str] = "peek"


@attrs.frozen
class QueryAvailable:
    """Somebody asks whether there is something to read, with credit or without."""

    type: ClassVar[str] = "query"
    credit: Annotated[bool, "The reader has credit."]


@attrs.frozen
class ReleaseAll:
    """The reader is gone."""

    type: ClassVar[str] = "release"


Event = WriteItem | TellAvailable | RegisterView | PollItem | PeekView | QueryAvailable | ReleaseAll

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class WokenUp:
    """The reader is told that there is something to read."""

    type: ClassVar[str] = "woken"


@attrs.frozen
class GotItem:
    """An item of a subpartition, by its number there; `backlog` is how much more was fetched."""

    type: ClassVar[str] = "got"
    view: Position
    number: Annotated[Position, "The items of a view are numbered from 0."]
    backlog: Position


@attrs.frozen
class NextView:
    """Whose item is next; -1 if there is none."""

    type: ClassVar[str] = "next"
    view: Annotated[int, "-1 if there is no item.", between(-1, 5)]


@attrs.frozen
class Availability:
    """Whether the reader may read, and how many buffers were fetched."""

    type: ClassVar[str] = "available"
    value: Annotated[bool, "Something can be read."]
    backlog: Position


@attrs.frozen
class ViewReleased:
    """The view of a subpartition is released. Several in one step are a set, shown in ascending order."""

    type: ClassVar[str] = "released"
    view: Position


@attrs.frozen
class Recycled:
    """So many items that were fetched are given back."""

    type: ClassVar[str] = "recycled"
    count: Position


Observation = WokenUp | GotItem | NextView | Availability | ViewReleased | Recycled | Nothing
Seen = Outcome[State, Observation]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """No view is registered."""
    return (State(config, (View(),) * config.views),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Seen, ...]:
    if isinstance(event, WriteItem | TellAvailable | RegisterView):
        if state.released or not 0 <= event.view < state.config.views:
            return rejected(state, "UNION-1")
        if isinstance(event, WriteItem):
            return (write(state, event),)
        if isinstance(event, TellAvailable):
            after, woken = tell(state, event.view)
            return (Outcome(after, (WokenUp(),) if woken else (), ("UNION-2",)),)
        return register(state, event.view)
    if isinstance(event, ReleaseAll):
        return (release(state),)
    state = fetch(state)
    if isinstance(event, PollItem):
        if not state.fetched:
            return (Outcome(state, (Nothing(),), ("UNION-3",)),)
        first, *rest = state.fetched
        got = GotItem(first.view, first.number, len(rest))
        return (Outcome(attrs.evolve(state, fetched=tuple(rest)), (got,), ("UNION-3",)),)
    if isinstance(event, PeekView):
        number = state.fetched[0].view if state.fetched else -1
        return (Outcome(state, (NextView(number),), ("UNION-3",)),)
    buffers = sum(one.item is not Item.EVENT for one in state.fetched)
    may = bool(state.fetched) and (event.credit or state.fetched[0].item is Item.EVENT)
    return (Outcome(state, (Availability(may, buffers),), ("UNION-4",)),)


def write(state: State, event: WriteItem) -> Seen:
    view = state.views[event.view]
    longer = attrs.evolve(view, items=(*view.items, (view.written, event.item)), written=view.written + 1)
    return Outcome(attrs.evolve(state, views=replace(state.views, event.view, longer)), (), ("UNION-3",))


def tell(state: State, number: int) -> tuple[State, bool]:
    """The state afterwards, and whether the reader is woken."""
    if not state.views[number].registered:
        return attrs.evolve(state, early=state.early | {number}), False
    if number in state.turns:
        return state, False
    state = attrs.evolve(state, turns=(*state.turns, number))
    if state.fetched or not all(view.registered for view in state.views):
        return state, False
    state = fetch(state)
    return state, bool(state.fetched)


def register(state: State, number: int) -> tuple[Seen, ...]:
    view = state.views[number]
    if view.registered:
        return rejected(state, "UNION-1")
    state = attrs.evolve(state, views=replace(state.views, number, attrs.evolve(view, registered=True)))
    if not all(one.registered for one in state.views):
        return (Outcome(state, (), ("UNION-2", "UNION-1")),)
    found: dict[tuple[State, bool], None] = {}
    for order in permutations(sorted(state.early)):
        after, woken = attrs.evolve(state, early=frozenset()), False
        for one in order:
            after, wakes = tell(after, one)
            woken = woken or wakes
        found[after, woken] = None
    return tuple(Outcome(after, (WokenUp(),) if woken else (), ("UNION-2", "UNION-1")) for after, woken in found)


def fetch(state: State) -> State:
    """UNION-3: items of all views in turn, as many as are fetched ahead."""
    while len(state.fetched) < MOST_FETCHED:
        state, number = take_turn(state)
        if number is None:
            return state
        view = state.views[number]
        if not view.items:
            turns = tuple(one for one in state.turns if one != number)
            state = attrs.evolve(state, turns=turns)
            if state.midway or not turns:
                return state
            continue
        (position, item), *rest = view.items
        turns = state.turns if number in state.turns else (*state.turns, number)
        state = attrs.evolve(
            state,
            views=replace(state.views, number, attrs.evolve(view, items=tuple(rest))),
            fetched=(*state.fetched, Fetched(number, position, item)),
            turns=turns,
            midway=item is Item.PARTIAL,
        )
    return state


def take_turn(state: State) -> tuple[State, int | None]:
    if state.midway:
        return state, state.last
    if not state.turns:
        return state, None
    first, *rest = state.turns
    if first == state.last:
        first, *rest = (*rest, first)
    return attrs.evolve(state, turns=tuple(rest), last=first), first


def release(state: State) -> Seen:
    if state.released:
        return Outcome(state, (), ("UNION-5",))
    registered = {number for number, view in enumerate(state.views) if view.registered}
    released = tuple(ViewReleased(number) for number in sorted(registered | state.early))
    views = tuple(attrs.evolve(view, items=()) for view in state.views)
    after = attrs.evolve(state, views=views, fetched=(), early=frozenset(), released=True)
    return Outcome(after, (*released, Recycled(len(state.fetched))), ("UNION-5",))


# --- claims ---------------------------------------------------------------------------------------------------


@invariant("UNION-3")
def each_turn_once(state: State) -> bool:
    """A view has one turn at a time, and no more is fetched than may be."""
    return len(set(state.turns)) == len(state.turns) and len(state.fetched) <= MOST_FETCHED


@always("UNION-3")
def items_of_a_view_keep_their_order(before: State, event: Event, outcome: Seen) -> bool:
    """What is read of a subpartition is its oldest item that is left."""
    got = [seen for seen in outcome.observations if isinstance(seen, GotItem)]
    fetched = [one for one in before.fetched if got and one.view == got[0].view]
    waiting = [number for number, _item in before.views[got[0].view].items] if got else []
    oldest = [one.number for one in fetched] + waiting
    return not isinstance(event, PollItem) or not got or got[0].number == oldest[0]


@always("UNION-2")
def nobody_is_woken_before_all_are_there(_before: State, _event: Event, outcome: Seen) -> bool:
    """The reader is woken only when all views are registered, and something was fetched."""
    ready = all(view.registered for view in outcome.state.views) and bool(outcome.state.fetched)
    return WokenUp() not in outcome.observations or ready


@sometimes("UNION-2")
def an_early_view_wakes_the_reader(_before: State, event: Event, outcome: Seen) -> bool:
    """A view that had something before it was registered is not forgotten."""
    return isinstance(event, RegisterView) and WokenUp() in outcome.observations


@sometimes("UNION-4")
def an_event_needs_no_credit(_before: State, event: Event, outcome: Seen) -> bool:
    """Without credit an event may still be read."""
    is_query = isinstance(event, QueryAvailable) and not event.credit
    return is_query and any(isinstance(seen, Availability) and seen.value for seen in outcome.observations)


COMPONENT = Component.of(__name__, title="Several subpartitions read as one")
