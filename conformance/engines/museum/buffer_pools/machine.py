"""Buffer pools, POOL: one global list of segments, and pools that take from it."""

from typing import Any

from tidegate.conformance.engines import wire


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
        self.bug = host.bug.removeprefix("pools-")
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
            if self.bug == "requirements-in-a-byte":
                pool.required &= 0xFF
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
        if self.bug == "overdraft-counts" and not pool.ready and not pool.destroyed:
            spare = pool.size <= pool.taken < pool.size + pool.overdraft and self.free > 0
            return spare and not pool.full()
        full = pool.full() and self.bug != "full-channels-are-available"
        return pool.ready > 0 and not full and not pool.destroyed

    def required(self) -> int:
        return sum(pool.required for pool in self.pools.values() if not pool.destroyed)

    def create(self, number: int, pool: Pool) -> wire.Observations:
        least = 0 if self.bug == "pools-of-nothing" else 1
        too_much = self.required() + pool.required > self.total and self.bug != "promises-more-than-there-is"
        if number in self.pools or too_much or not least <= pool.required <= pool.maximum:
            return wire.rejected()
        self.pools[number] = pool
        self.check(pool)
        self.share()
        return []

    def share(self) -> None:
        if self.bug == "never-shared":
            return
        rest = max(self.total - self.required(), 0)
        pools = [one for one in self.pools.values() if not one.destroyed and one.maximum > one.required]
        wants = [min(rest, one.maximum - one.required) for one in pools]
        if self.bug == "equal-shares":
            wants = [1] * len(pools)
        given = parts = 0
        for pool, want in zip(pools, wants, strict=True):
            parts += want
            mine = min(rest, sum(wants)) * parts // sum(wants) - given if sum(wants) else 0
            given += mine
            self.resize(pool, pool.required + mine)

    def resize(self, pool: Pool, size: int) -> None:
        pool.size = size
        while pool.taken > pool.size and pool.ready and self.bug != "keeps-what-is-ready":
            pool.ready -= 1
            self.give_back(pool)
        self.check(pool)

    def give_back(self, pool: Pool) -> None:
        pool.taken -= 1
        if self.bug == "loses-what-is-given-back":
            return
        self.free += 1
        if self.bug == "free-in-two-bytes":
            self.free &= 0xFFFF
        if self.free > 1 or self.bug == "nobody-is-woken":
            return
        for other in [one for one in self.pools.values() if one.waiting]:
            other.waiting = False
            if not self.available(other) and not other.destroyed:
                self.check(other)
            if self.bug == "one-is-woken-at-a-time":
                return

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
        if self.bug == "full-channels-are-denied" and channel >= 0 and pool.full():
            return [{"type": "denied"}]
        if pool.ready:
            pool.ready -= 1
        elif self.may_overdraw(pool):
            self.free -= 1
            pool.taken += 1
        else:
            return [{"type": "denied"}]
        pool.used[channel] = pool.used.get(channel, 0) + 1
        if self.bug != "fetches-when-asked" or not pool.taken < pool.size:
            self.check(pool)
        return [{"type": "granted"}]

    def may_overdraw(self, pool: Pool) -> bool:
        if not self.free:
            return False
        if self.bug == "fetches-when-asked" and pool.taken < pool.size:
            return True
        if pool.taken < pool.size or self.bug == "no-overdraft":
            return False
        beyond = pool.taken - pool.size
        return beyond <= pool.overdraft if self.bug == "overdraft-one-too-many" else beyond < pool.overdraft

    def recycle(self, pool: Pool, channel: int) -> wire.Observations:
        if not pool.used.get(channel):
            return wire.rejected()
        pool.used[channel] -= 1
        beyond = pool.taken > pool.size and self.bug != "overdraft-is-kept"
        if pool.destroyed or beyond:
            self.give_back(pool)
        elif pool.listeners and self.bug != "listeners-unheard":
            pool.listeners -= 0 if self.bug == "listeners-for-ever" else 1
            pool.used[channel] += 1
            return [{"type": "handed"}]
        else:
            pool.ready += 1
        return []

    def listen(self, pool: Pool) -> wire.Observations:
        if pool.channels:
            return wire.rejected()
        if (pool.ready and self.bug != "always-listening") or pool.destroyed:
            return [{"type": "denied"}]
        pool.listeners += 1
        return [{"type": "granted"}]

    def destroy(self, pool: Pool) -> wire.Observations:
        if pool.destroyed:
            return []
        listeners = 0 if self.bug == "nobody-is-dismissed" else pool.listeners
        while pool.ready and self.bug != "destroyed-pools-keep":
            pool.ready -= 1
            self.give_back(pool)
        pool.listeners, pool.waiting, pool.destroyed = 0, False, True
        if self.bug != "destroyed-pools-count":
            self.share()
        return [{"type": "dismissed"}] * listeners


make = Pools
