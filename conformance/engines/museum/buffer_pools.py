"""Buffer pools, POOL: one global list of segments, and pools that take from it."""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong


class Pool:
    def __init__(self, event: wire.Json) -> None:
        self.required = wire.get_integer(event, "required")
        self.maximum = wire.get_integer(event, "maximum")
        self.overdraft = wire.get_at_least(event, "overdraft", 0) if "overdraft" in event else 0
        self.channels = wire.get_at_least(event, "channels", 0) if "channels" in event else 0
        self.limit = wire.get_at_least(event, "per_channel", 1) if "per_channel" in event else None
        self.size = self.required
        self.taken = self.ready = self.listeners = 0
        #: in use, by channel; -1 is none
        self.used: dict[int, int] = {}
        self.waiting = self.destroyed = False

    def full(self) -> bool:
        return self.limit is not None and any(n >= self.limit for one, n in self.used.items() if one >= 0)


class Pools:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.total = self.free = wire.get_at_least(config, "total", 1)
        self.pools: dict[int, Pool] = {}

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in ("create", "destroy", "request", "recycle", "listen"):
            raise wire.unknown_type(event)
        number = wire.get_integer(event, "pool")
        channel = wire.get_integer(event, "channel") if "channel" in event and kind in ("request", "recycle") else None
        before = {one: (pool.size, self.available(pool)) for one, pool in self.pools.items()}
        if kind == "create":
            pool = Pool(event)
            shown = self.create(number, pool)
        elif number not in self.pools:
            return wire.rejected()
        else:
            shown = self.act(kind, self.pools[number], channel)
        if shown == wire.rejected():
            return shown
        for one in [one for one, pool in self.pools.items() if pool.destroyed and not pool.taken]:
            del self.pools[one]
        return [*shown, *self.changes(before)]

    def act(self, kind: Any, pool: Pool, channel: int | None) -> wire.Observations:
        if kind == "destroy":
            return self.destroy(pool)
        if kind == "listen":
            return self.listen(pool)
        if channel is not None and not 0 <= channel < pool.channels:
            return wire.rejected()
        place = -1 if channel is None else channel
        return self.request(pool, place) if kind == "request" else self.recycle(pool, place)

    def changes(self, before: dict[int, tuple[int, bool]]) -> wire.Observations:
        alive = {number: self.pools[number] for number in sorted(self.pools) if not self.pools[number].destroyed}
        sizes: wire.Observations = [
            {"type": "resized", "pool": number, "size": pool.size}
            for number, pool in alive.items()
            if number not in before or before[number][0] != pool.size
        ]
        turned: wire.Observations = [
            {"type": "available" if self.available(pool) else "unavailable", "pool": number}
            for number, pool in alive.items()
            if (number in before and before[number][1]) != self.available(pool)
        ]
        return [*sizes, *turned]

    def available(self, pool: Pool) -> bool:
        return pool.ready > 0 and not pool.full() and not pool.destroyed

    def required(self) -> int:
        return sum(pool.required for pool in self.pools.values() if not pool.destroyed)

    def create(self, number: int, pool: Pool) -> wire.Observations:
        too_much = self.required() + pool.required > self.total
        if number in self.pools or too_much or not 1 <= pool.required <= pool.maximum:
            return wire.rejected()
        self.pools[number] = pool
        self.check(pool)
        self.share()
        return []

    def share(self) -> None:
        rest = max(self.total - self.required(), 0)
        pools = [one for one in self.pools.values() if not one.destroyed and one.maximum > one.required]
        wants = [min(rest, one.maximum - one.required) for one in pools]
        given = parts = 0
        for pool, want in zip(pools, wants, strict=True):
            parts += want
            mine = min(rest, sum(wants)) * parts // sum(wants) - given if sum(wants) else 0
            given += mine
            self.resize(pool, pool.required + mine)

    def resize(self, pool: Pool, size: int) -> None:
        pool.size = size
        while pool.taken > pool.size and pool.ready:
            pool.ready -= 1
            self.give_back(pool)
        self.check(pool)

    def give_back(self, pool: Pool) -> None:
        pool.taken -= 1
        self.free += 1
        if self.free > 1:
            return
        for other in [one for one in self.pools.values() if one.waiting]:
            other.waiting = False
            if not self.available(other) and not other.destroyed:
                self.check(other)

    def check(self, pool: Pool) -> None:
        if pool.ready or pool.taken >= pool.size:
            return
        if not self.free:
            pool.waiting = True
            return
        self.free -= 1
        pool.ready += 1
        pool.taken += 1

    def request(self, pool: Pool, channel: int) -> wire.Observations:
        if pool.destroyed:
            return wire.rejected()
        if pool.ready:
            pool.ready -= 1
        elif self.may_overdraw(pool):
            self.free -= 1
            pool.taken += 1
        else:
            return [{"type": "denied"}]
        pool.used[channel] = pool.used.get(channel, 0) + 1
        self.check(pool)
        return [{"type": "granted"}]

    def may_overdraw(self, pool: Pool) -> bool:
        return self.free > 0 and 0 <= pool.taken - pool.size < pool.overdraft

    def recycle(self, pool: Pool, channel: int) -> wire.Observations:
        if not pool.used.get(channel):
            return wire.rejected()
        pool.used[channel] -= 1
        if pool.destroyed or pool.taken > pool.size:
            self.give_back(pool)
        elif pool.listeners:
            pool.listeners -= 1
            pool.used[channel] += 1
            return [{"type": "handed"}]
        else:
            pool.ready += 1
        return []

    def listen(self, pool: Pool) -> wire.Observations:
        if pool.channels:
            return wire.rejected()
        if pool.ready or pool.destroyed:
            return [{"type": "denied"}]
        pool.listeners += 1
        return [{"type": "granted"}]

    def destroy(self, pool: Pool) -> wire.Observations:
        if pool.destroyed:
            return []
        listeners = pool.listeners
        while pool.ready:
            pool.ready -= 1
            self.give_back(pool)
        pool.listeners, pool.waiting, pool.destroyed = 0, False, True
        self.share()
        return [{"type": "dismissed"}] * listeners


make = Pools

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("POOL-1")
class PoolsPromisesMoreThanThereIs(Pools):
    """Pools are created however much the others require."""

    create = changed(Pools.create, "self.required() + pool.required > self.total", "False")


@wrong("POOL-1")
class PoolsPoolsOfNothing(Pools):
    """A pool that requires nothing is created."""

    create = changed(Pools.create, "not 1 <=", "not 0 <=")


@wrong("POOL-2", "POOL-10")
class PoolsNeverShared(Pools):
    """What nobody requires is used by nobody."""

    def share(self) -> None:
        return


@wrong("POOL-2", "POOL-10")
class PoolsEqualShares(Pools):
    """Pools get equal shares, whatever they can use."""

    share = changed(Pools.share, "min(rest, one.maximum - one.required) for one", "1 for one")


@wrong("POOL-10")
class PoolsDestroyedPoolsCount(Pools):
    """What a pool required is not shared when it is destroyed."""

    destroy = changed(Pools.destroy, "self.share()", "")


@wrong("POOL-3", "POOL-2", "POOL-6")
class PoolsKeepsWhatIsReady(Pools):
    """A pool that shrinks keeps what it has ready."""

    resize = changed(Pools.resize, "pool.taken > pool.size and pool.ready", "False")


@wrong("POOL-4", "POOL-3", "POOL-10", origin="FLINK-16972: releases before 1.12")
class PoolsFetchesWhenAsked(Pools):
    """A pool takes a segment when it is asked for one, so nobody knows before whether it is available."""

    request = changed(Pools.request, "self.check(pool)", "if pool.taken >= pool.size:\n    self.check(pool)")
    may_overdraw = changed(Pools.may_overdraw, "0 <= pool.taken", "pool.taken")


@wrong("POOL-5", "POOL-2", "POOL-3", "POOL-4", "POOL-10")
class PoolsNobodyIsWoken(Pools):
    """A pool that waits for a free segment waits for ever."""

    def give_back(self, pool: Pool) -> None:
        pool.taken -= 1
        self.free += 1


@wrong("POOL-5", "POOL-10")
class PoolsOneIsWokenAtATime(Pools):
    """Of all pools that wait only one is woken when a segment is free, though it may not need it."""

    give_back = changed(
        Pools.give_back,
        "[one for one in self.pools.values() if one.waiting]",
        "[one for one in self.pools.values() if one.waiting][:1]",
    )


@wrong("POOL-6", origin="FLINK-26762: releases before 1.16")
class PoolsNoOverdraft(Pools):
    """There is no overdraft."""

    def may_overdraw(self, pool: Pool) -> bool:
        return False


@wrong("POOL-6", origin="FLINK-31763, of the same condition")
class PoolsOverdraftOneTooMany(Pools):
    """A pool may be beyond its size by one more than its overdraft."""

    may_overdraw = changed(Pools.may_overdraw, "< pool.overdraft", "<= pool.overdraft")


@wrong("POOL-3", "POOL-4", "POOL-6")
class PoolsOverdraftIsKept(Pools):
    """Segments beyond the size are ready again when they are recycled, and the pool never shrinks."""

    recycle = changed(Pools.recycle, "pool.taken > pool.size", "False")


@wrong("POOL-6", "POOL-2", "POOL-3", "POOL-4", origin="FLINK-29298, of the same idea")
class PoolsOverdraftCounts(Pools):
    """A pool is available while it can be overdrawn."""

    def available(self, pool: Pool) -> bool:
        if pool.ready or pool.destroyed:
            return super().available(pool)
        spare = pool.size <= pool.taken < pool.size + pool.overdraft and self.free > 0
        return spare and not pool.full()


@wrong("POOL-7", "POOL-4", "POOL-8", origin="FLINK-16645")
class PoolsFullChannelsAreAvailable(Pools):
    """A channel may take the whole pool."""

    available = changed(Pools.available, " and not pool.full()", "")


@wrong("POOL-7", "POOL-4", "POOL-6")
class PoolsFullChannelsAreDenied(Pools):
    """A request for a channel at its limit is denied, in the midst of a record."""

    def request(self, pool: Pool, channel: int) -> wire.Observations:
        if channel >= 0 and pool.full() and not pool.destroyed:
            return [{"type": "denied"}]
        return super().request(pool, channel)


@wrong("POOL-3", "POOL-2", "POOL-4", "POOL-6", "POOL-10")
class PoolsLosesWhatIsGivenBack(Pools):
    """What is given back is lost."""

    def give_back(self, pool: Pool) -> None:
        pool.taken -= 1


@wrong("POOL-8", "POOL-9")
class PoolsListenersUnheard(Pools):
    """A segment that is recycled is ready in the pool, although somebody listens."""

    recycle = changed(Pools.recycle, "elif pool.listeners:", "elif False:")


@wrong("POOL-9", "POOL-8", "POOL-10")
class PoolsListenersForEver(Pools):
    """Who has listened once gets every segment."""

    recycle = changed(Pools.recycle, "pool.listeners -= 1", "")


@wrong("POOL-9")
class PoolsAlwaysListening(Pools):
    """Who listens while a segment is ready waits for another."""

    listen = changed(Pools.listen, "pool.ready or ", "")


@wrong("POOL-9", "POOL-10")
class PoolsNobodyIsDismissed(Pools):
    """Who listens is not told that the pool is destroyed."""

    destroy = changed(Pools.destroy, "listeners = pool.listeners", "listeners = 0")


@wrong("POOL-10", "POOL-1", "POOL-2", "POOL-4", "POOL-6")
class PoolsDestroyedPoolsKeep(Pools):
    """A pool that is destroyed keeps what it had ready."""

    destroy = changed(Pools.destroy, "while pool.ready:", "while False:")


@wrong("POOL-3", "POOL-2", "POOL-4", "POOL-6", "POOL-10")
class PoolsFreeInTwoBytes(Pools):
    """Free segments are counted in two bytes: where 65,536 are free there is none."""

    give_back = changed(Pools.give_back, "self.free += 1", "self.free = (self.free + 1) & 0xFFFF")


@wrong("POOL-1", "POOL-2", "POOL-3", "POOL-4")
class PoolsRequirementsInAByte(Pools):
    """What a pool requires is read into a byte: one that requires 257 is promised 1."""

    def create(self, number: int, pool: Pool) -> wire.Observations:
        pool.required &= 0xFF
        return super().create(number, pool)
