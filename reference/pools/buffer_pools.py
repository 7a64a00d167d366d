"""Buffer pools: the memory of a machine's network in segments, shared by the pools of all gates and partitions on it.

Each pool has what it requires, and up to its maximum a share of what nobody requires, which changes whenever pools come
and go. A pool keeps one segment ready as long as it may, so that whoever writes can ask whether there is one before it
begins; what cannot wait may take a few segments beyond the size of the pool, the overdraft. A segment that comes back
goes to whoever is short of one.

Choices. Segments are counted, not told apart. What requests would block for is left out: they are denied, and whoever
asks waits until the pool is available. In which order pools are resized and woken is up to the engine. Listeners, which
gates have, and limits per channel, which partitions have, do not meet in one pool.
"""

from collections.abc import Callable
from itertools import permutations, product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.elements import MOST_CONSUMERS, Amount, Count, Counted, Index, at_least, between
from tidegate.reference.model import Component, Outcome, Rejected, rejected
from tidegate.reference.tuples import replace

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """How many segments there are in all."""

    total: Annotated[Count, "How many segments there are.", Counted.BUFFERS] = attrs.field(validator=at_least(1))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Pool:
    """`requested` segments belong to the pool, of which `ready` are with it, and `used` in use, by channel.

    The last of `used` are those of no channel. `waiting`: to be woken when a segment is free.
    """

    id: int
    required: int
    maximum: int
    overdraft: int
    per_channel: int | None
    used: tuple[int, ...]
    size: int
    ready: int = 0
    listeners: int = 0
    waiting: bool = False
    destroyed: bool = False

    @property
    def requested(self) -> int:
        return self.ready + sum(self.used)

    @property
    def is_available(self) -> bool:
        limit = self.per_channel
        is_full = limit is not None and any(count >= limit for count in self.used[:-1])
        return self.ready > 0 and not is_full and not self.destroyed


@attrs.frozen
class State:
    """The pools by their ids, those that are destroyed as long as some of their segments are in use."""

    config: Config
    free: int
    pools: tuple[Pool, ...] = ()


# --- events ---------------------------------------------------------------------------------------------------

PoolId = Annotated[
    int,
    "The id of a pool, any number: it is a name. One that does not exist: observe `rejected`. A pool that was "
    "destroyed is there until its last segment was recycled.",
]


@attrs.frozen
class CreatePool:
    """A pool is created. Observe `rejected` if it cannot be."""

    type: ClassVar[str] = "create"
    pool: PoolId
    required: Annotated[Amount, "How many segments it must have."]
    maximum: Annotated[Amount, "How many it can use."]
    overdraft: Annotated[int, "How many it may have beyond its size."] = attrs.field(default=0, validator=at_least(0))
    channels: Annotated[int, "How many channels it writes for."] = attrs.field(
        default=0, validator=between(0, MOST_CONSUMERS)
    )
    per_channel: Annotated[
        Count | None,
        "When one channel uses this many, the pool is not available; left out for no limit.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(at_least(1)))


@attrs.frozen
class DestroyPool:
    """A pool is not needed any more."""

    type: ClassVar[str] = "destroy"
    pool: PoolId


@attrs.frozen
class RequestSegment:
    """Somebody asks for a segment, for a channel or for none."""

    type: ClassVar[str] = "request"
    pool: PoolId
    channel: Annotated[
        Index | None,
        "For which channel; left out for none. One that the pool has not: observe `rejected`.",
    ] = None


@attrs.frozen
class RecycleSegment:
    """A segment is recycled. If none is in use there: observe `rejected`."""

    type: ClassVar[str] = "recycle"
    pool: PoolId
    channel: Annotated[
        Index | None,
        "For which channel; left out for none. One that the pool has not: observe `rejected`.",
    ] = None


@attrs.frozen
class Listen:
    """Somebody wants the next segment that is recycled; it is then in use as before."""

    type: ClassVar[str] = "listen"
    pool: PoolId


Event = CreatePool | DestroyPool | RequestSegment | RecycleSegment | Listen

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Granted:
    """Here is a segment; or: you will hear of the next."""

    type: ClassVar[str] = "granted"


@attrs.frozen
class Denied:
    """There is no segment; or: you need not listen."""

    type: ClassVar[str] = "denied"


@attrs.frozen
class Handed:
    """A listener gets the segment."""

    type: ClassVar[str] = "handed"


@attrs.frozen
class Dismissed:
    """A listener is told that the pool is destroyed; once for each."""

    type: ClassVar[str] = "dismissed"


@attrs.frozen
class Resized:
    """A pool has another size, or its first. After what the event itself shows, by the ids of pools."""

    type: ClassVar[str] = "resized"
    pool: int
    size: Count


@attrs.frozen
class Available:
    """A pool has become available. After all sizes, by the ids of pools."""

    type: ClassVar[str] = "available"
    pool: int


@attrs.frozen
class Unavailable:
    """A pool is not available any more. Among those that are."""

    type: ClassVar[str] = "unavailable"
    pool: int


Observation = Granted | Denied | Handed | Dismissed | Resized | Available | Unavailable

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """POOL-1: no pools, and every segment free."""
    return (State(config, config.total),)


# --- step -----------------------------------------------------------------------------------------------------

Order = tuple[int, ...]
#: Does something to a state, in an order of resizing and in an order of waking.
Run = Callable[[State, Order, Order], State]


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    pool = find(state, event.pool)
    if isinstance(event, CreatePool):
        return create(state, event) if pool is None else rejected(state, "POOL-1")
    if pool is None:
        return rejected(state, "POOL-1")
    if isinstance(event, DestroyPool):
        return destroy(state, pool)
    if isinstance(event, Listen):
        return listen(state, pool)
    place = len(pool.used) - 1 if event.channel is None else event.channel
    if not 0 <= place < len(pool.used) or (event.channel is not None and place == len(pool.used) - 1):
        return rejected(state, "POOL-7")
    if isinstance(event, RequestSegment):
        return request(state, pool, place)
    return recycle(state, pool, place)


def create(state: State, event: CreatePool) -> tuple[Outcome[State, Observation], ...]:
    required = required_of(state) + event.required
    if not 1 <= event.required <= event.maximum or required > state.config.total:
        return rejected(state, "POOL-1")
    used = (0,) * (event.channels + 1)
    pool = Pool(event.pool, event.required, event.maximum, event.overdraft, event.per_channel, used, event.required)
    added = State(state.config, state.free, tuple(sorted((*state.pools, pool), key=lambda one: one.id)))
    return in_any_order(state, check(added, pool.id), redistribute, "POOL-2", "POOL-1")


def destroy(state: State, pool: Pool) -> tuple[Outcome[State, Observation], ...]:
    if pool.destroyed:
        return (Outcome(state, (), ("POOL-10",)),)

    def run(state: State, sizes: Order, wakes: Order) -> State:
        while (mine := get(state, pool.id)).ready:
            state = give_back(put(state, attrs.evolve(mine, ready=mine.ready - 1)), wakes)
        gone = attrs.evolve(get(state, pool.id), destroyed=True, listeners=0, waiting=False)
        return redistribute(put(state, gone), sizes, wakes)

    dismissed: tuple[Observation, ...] = (Dismissed(),) * pool.listeners
    outcomes = in_any_order(state, state, run, "POOL-10")
    rules = ("POOL-10", "POOL-9") if dismissed else ("POOL-10",)
    return tuple(
        Outcome(forget_destroyed(one.state), dismissed + one.observations, (*rules, "POOL-2")) for one in outcomes
    )


def listen(state: State, pool: Pool) -> tuple[Outcome[State, Observation], ...]:
    if len(pool.used) > 1:
        return rejected(state, "POOL-9")
    if pool.ready or pool.destroyed:
        return (Outcome(state, (Denied(),), ("POOL-9",)),)
    return (Outcome(put(state, attrs.evolve(pool, listeners=pool.listeners + 1)), (Granted(),), ("POOL-9",)),)


def request(state: State, pool: Pool, place: int) -> tuple[Outcome[State, Observation], ...]:
    if pool.destroyed:
        return rejected(state, "POOL-10")
    used = replace(pool.used, place, pool.used[place] + 1)
    if pool.ready:
        taken, rule = put(state, attrs.evolve(pool, ready=pool.ready - 1, used=used)), "POOL-4"
    elif pool.requested < pool.size:
        return (Outcome(state, (Denied(),), ("POOL-5",)),)
    elif pool.requested - pool.size >= pool.overdraft or not state.free:
        return (Outcome(state, (Denied(),), ("POOL-6",)),)
    else:
        taken, rule = attrs.evolve(put(state, attrs.evolve(pool, used=used)), free=state.free - 1), "POOL-6"
    after = check(taken, pool.id)
    rules = (rule, "POOL-7") if pool.per_channel is not None else (rule,)
    return (Outcome(after, (Granted(), *changes(state, after)), rules),)


def recycle(state: State, pool: Pool, place: int) -> tuple[Outcome[State, Observation], ...]:
    if not pool.used[place]:
        return rejected(state, "POOL-8")
    back = attrs.evolve(pool, used=replace(pool.used, place, pool.used[place] - 1))
    if pool.destroyed or pool.requested > pool.size:
        rule = "POOL-10" if pool.destroyed else "POOL-3"
        outcomes = in_any_order(state, put(state, back), lambda one, _, wakes: give_back(one, wakes), rule, "POOL-5")
        return tuple(attrs.evolve(one, state=forget_destroyed(one.state)) for one in outcomes)
    if pool.listeners:
        used = replace(back.used, place, pool.used[place])
        handed = put(state, attrs.evolve(back, used=used, listeners=pool.listeners - 1))
        return (Outcome(handed, (Handed(),), ("POOL-9", "POOL-8")),)
    kept = put(state, attrs.evolve(back, ready=pool.ready + 1))
    rules = ("POOL-8", "POOL-7") if pool.per_channel is not None else ("POOL-8",)
    return (Outcome(kept, changes(state, kept), rules),)


def in_any_order(before: State, state: State, run: Run, *rules: str) -> tuple[Outcome[State, Observation], ...]:
    """Whoever resizes and wakes pools does so in an order of its own; those that come to the same are one."""
    resizable = [one.id for one in state.pools if is_resizable(one)]
    waiting = [one.id for one in state.pools if not one.destroyed]
    found = dict.fromkeys(run(state, *orders) for orders in product(permutations(resizable), permutations(waiting)))
    return tuple(Outcome(after, changes(before, after), rules) for after in found)


def redistribute(state: State, sizes: Order, wakes: Order) -> State:
    """POOL-2: what nobody requires is shared by the pools that can use it, as much as each of them can."""
    rest = state.config.total - required_of(state)
    pools = [get(state, one) for one in sizes if is_resizable(get(state, one))]
    capacity = sum(min(rest, one.maximum - one.required) for one in pools)
    parts = shared = 0
    for one in pools:
        parts += min(rest, one.maximum - one.required)
        share = min(rest, capacity) * parts // capacity - shared if capacity else 0
        shared += share
        state = resize(state, one.id, one.required + share, wakes)
    return state


def resize(state: State, number: int, size: int, wakes: Order) -> State:
    """POOL-3: a pool that shrinks gives back what is ready beyond its size; one that grows may take a segment."""
    state = put(state, attrs.evolve(get(state, number), size=size))
    while (pool := get(state, number)).ready and pool.requested > pool.size:
        state = give_back(put(state, attrs.evolve(pool, ready=pool.ready - 1)), wakes)
    return check(state, number)


def give_back(state: State, wakes: Order) -> State:
    """POOL-5: a segment is free; if none was, those that wait are woken, and take it or wait on."""
    woken = [one for one in wakes if get(state, one).waiting] if state.free == 0 else []
    state = attrs.evolve(state, free=state.free + 1)
    for number in woken:
        pool = attrs.evolve(get(state, number), waiting=False)
        state = put(state, pool)
        if not pool.is_available:
            state = check(state, number)
    return state


def check(state: State, number: int) -> State:
    """POOL-4, POOL-5: a pool without a ready segment that is below its size takes one, or waits for one."""
    pool = get(state, number)
    if pool.ready or pool.requested >= pool.size:
        return state
    if not state.free:
        return put(state, attrs.evolve(pool, waiting=True))
    return attrs.evolve(put(state, attrs.evolve(pool, ready=1)), free=state.free - 1)


def changes(before: State, after: State) -> tuple[Observation, ...]:
    """Sizes first, then availability, by the ids of pools."""
    pairs = [(find(before, one.id), one) for one in after.pools if not one.destroyed]
    resized = [Resized(new.id, new.size) for old, new in pairs if old is None or old.size != new.size]
    turned = [
        Available(new.id) if new.is_available else Unavailable(new.id)
        for old, new in pairs
        if new.is_available != (old is not None and old.is_available)
    ]
    return (*resized, *turned)


def is_resizable(pool: Pool) -> bool:
    return not pool.destroyed and pool.maximum > pool.required


def required_of(state: State) -> int:
    return sum(one.required for one in state.pools if not one.destroyed)


def forget_destroyed(state: State) -> State:
    return attrs.evolve(state, pools=tuple(one for one in state.pools if not one.destroyed or one.requested))


def find(state: State, number: int) -> Pool | None:
    return next((one for one in state.pools if one.id == number), None)


def get(state: State, number: int) -> Pool:
    return next(one for one in state.pools if one.id == number)


def put(state: State, pool: Pool) -> State:
    return attrs.evolve(state, pools=tuple(pool if one.id == pool.id else one for one in state.pools))


# --- claims ---------------------------------------------------------------------------------------------------


@invariant("POOL-12")
def no_segment_is_lost(state: State) -> bool:
    """Each segment is free or belongs to one pool."""
    return state.free >= 0 and state.free + sum(one.requested for one in state.pools) == state.config.total


@invariant("POOL-2")
def sizes_fit(state: State) -> bool:
    """Each pool has at least what it requires and at most its maximum, and all together no more than there is."""
    pools = [one for one in state.pools if not one.destroyed]
    return all(one.required <= one.size <= one.maximum for one in pools) and (
        sum(one.size for one in pools) <= state.config.total
    )


@invariant("POOL-3", "POOL-6")
def nothing_is_ready_beyond_the_size(state: State) -> bool:
    """A pool that has more segments than its size has none of them ready."""
    return all(one.ready == 0 for one in state.pools if one.requested > one.size)


@invariant("POOL-4", "POOL-5")
def nobody_is_short_while_segments_are_free(state: State) -> bool:
    """A pool that has none ready and may have more waits, and then no segment is free."""
    short = [one for one in state.pools if not (one.destroyed or one.ready) and one.requested < one.size]
    return not short or (state.free == 0 and all(one.waiting for one in short))


@invariant("POOL-11")
def recycling_is_enough(state: State) -> bool:
    """No deadlock: when all that is in use has come back, each pool is available, without anybody's help."""
    in_use = [(one.id, place) for one in state.pools for place, count in enumerate(one.used) for _ in range(count)]
    for number, place in in_use:
        pool = get(state, number)
        # Whoever listens gets a segment, and gives it back once it was read.
        unheard = put(state, attrs.evolve(pool, listeners=0))
        state = recycle(unheard, get(unheard, number), place)[0].state
    return all(one.is_available for one in state.pools)


@always("POOL-6")
def overdraft_is_bounded(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No request takes a pool further beyond its size than the overdraft allows."""
    old, new = find(before, event.pool), find(outcome.state, event.pool)
    if not isinstance(event, RequestSegment) or old is None or new is None or old.requested == new.requested:
        return True
    return new.requested <= new.size + new.overdraft


@always("POOL-4", "POOL-6")
def granted_means_one_more_in_use(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A request that is granted has one more segment in use, any other changes nothing."""
    if not isinstance(event, RequestSegment):
        return True
    in_use = [sum(sum(one.used) for one in state.pools) for state in (before, outcome.state)]
    if Granted() in outcome.observations:
        return in_use[1] == in_use[0] + 1
    return outcome.state == before and outcome.observations in ((Denied(),), (Rejected(),))


@sometimes("POOL-6")
def an_overdraft_is_granted(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A pool that has reached its size is granted one more."""
    pool = find(before, event.pool)
    return (
        isinstance(event, RequestSegment) and Granted() in outcome.observations and pool is not None and not pool.ready
    )


@sometimes("POOL-5")
def a_pool_is_woken(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A segment that comes back from one pool makes another available."""
    return isinstance(event, RecycleSegment) and any(
        isinstance(seen, Available) and seen.pool != event.pool for seen in outcome.observations
    )


@sometimes("POOL-3")
def a_pool_shrinks(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A pool has more segments in use than its new size."""
    return any(
        one.requested > one.size and (old := find(before, one.id)) is not None and old.size > one.size
        for one in outcome.state.pools
    )


COMPONENT = Component.of(__name__, title="Buffer pools")
