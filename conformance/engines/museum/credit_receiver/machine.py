"""The receiving side of one gate: credit, floating buffers, announcements. CREDIT-1 … CREDIT-12, CREDIT-14 … CREDIT-16,
CREDIT-32, CREDIT-33.
"""

from collections import deque

from tidegate.conformance.engines import wire

EXTENSIONS = ("failures",)


class Channel:
    __slots__ = (
        "barriers", "broken", "exclusive", "failed", "floating", "held", "released", "required", "unannounced",
        "waiting",
    )  # fmt: skip

    def __init__(self, exclusive: int) -> None:
        self.exclusive = exclusive
        self.floating = 0
        self.required = 0
        self.waiting = False
        self.unannounced = 0
        #: Data buffers received and not recycled, oldest first: true for a floating one.
        self.held: deque[bool] = deque()
        self.barriers = 0
        self.broken = self.failed = self.released = False

    def is_satisfied(self) -> bool:
        return self.exclusive + self.floating >= self.required


class CreditReceiver:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug
        channels = wire.get_at_least(config, "channels", 1)
        self.exclusive = wire.get_at_least(config, "exclusive", 0)
        self.free = wire.get_at_least(config, "floating", 1)
        self.channels = [Channel(self.exclusive) for _ in range(channels)]
        self.waiters: deque[int] = deque()
        self.may_fail = wire.get_extension(config, EXTENSIONS) is not None
        if self.bug == "receiver-initial-credit-announced-again":
            for channel in self.channels:
                channel.unannounced = self.exclusive

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        index = wire.get_integer(event, "channel")
        if self.may_fail and kind in {"fail", "release"}:
            if not 0 <= index < len(self.channels):
                return wire.rejected()
            return self.settle(self.on_fail(index) if kind == "fail" else self.on_release(index), None)
        if self.may_fail and 0 <= index < len(self.channels) and kind != "recycle":
            channel = self.channels[index]
            if (channel.released and self.bug != "receiver-released-hears") or (
                channel.failed and self.bug != "receiver-failed-goes-on"
            ):
                return wire.rejected()
        if not self.may_fail or not 0 <= index < len(self.channels):
            return self.react(event, kind, index)
        held = self.channels[index].held
        own = kind != "recycle" or (bool(held) and not held[0])
        return self.settle(self.react(event, kind, index), index if own else None)

    def settle(self, seen: wire.Observations, caller: int | None) -> wire.Observations:
        """What is said of channels whose connection broke is a failure instead."""
        bug = self.bug
        kept: wire.Observations = []
        called: wire.Observations = []
        read: wire.Observations = []
        for one in seen:
            channel = self.channels[one["channel"]] if one["type"] == "notify" else None
            if channel is None or not channel.broken or bug == "receiver-broken-is-notified":
                kept.append(one)
                continue
            channel.failed = True
            by_caller = one["channel"] == caller or bug == "receiver-hand-over-fails-the-giver"
            if bug == "receiver-own-failure-is-swallowed":
                by_caller = False
            if bug == "receiver-failure-is-lost" and not by_caller:
                continue
            if bug == "receiver-failure-loses-the-buffer":
                channel.floating = max(0, channel.floating - 1)
            failure = {"type": "failed", "channel": one["channel"], "told": "caller" if by_caller else "reader"}
            (called if by_caller else read).append(failure)
        return kept + called + sorted(read, key=lambda one: one["channel"])

    def on_fail(self, index: int) -> wire.Observations:
        if self.channels[index].released:
            return wire.rejected()
        self.channels[index].broken = True
        return []

    def on_release(self, index: int) -> wire.Observations:
        bug = self.bug
        channel = self.channels[index]
        if channel.released:
            return []
        channel.released, channel.exclusive = True, 0
        out: wire.Observations = []
        for _ in range(channel.floating):  # a wrong engine may hand them back to this one
            channel.floating -= 1
            if bug == "receiver-release-frees-for-nobody":
                self.free += 1
            elif bug != "receiver-release-keeps-floating" and not (
                bug == "receiver-failed-keeps-floating" and channel.failed
            ):
                out += self.give_back()
        return out

    def react(self, event: wire.Json, kind: str | None, index: int) -> wire.Observations:
        if kind in {"data", "event", "backlog"}:
            backlog = wire.get_integer(event, "backlog")
            lowest = 1 if kind == "backlog" and self.bug != "receiver-empty-backlog-accepted" else 0
            if not 0 <= index < len(self.channels) or backlog < lowest:
                return wire.rejected()
            if kind == "data":
                return self.on_data(index, backlog)
            return self.on_event(index, backlog) if kind == "event" else self.on_backlog(index, backlog)
        if kind not in {"recycle", "announce", "barrier", "resume"}:
            raise wire.unknown_type(event)
        if not 0 <= index < len(self.channels):
            return wire.rejected()
        if kind == "recycle":
            return self.on_recycle(index)
        if kind == "announce":
            return self.on_announce(index)
        return self.on_barrier(index) if kind == "barrier" else self.on_resume(index)

    def on_data(self, index: int, backlog: int) -> wire.Observations:
        bug = self.bug
        channel = self.channels[index]
        spare = channel.exclusive + channel.floating
        if bug == "receiver-data-needs-announced-credit":
            spare -= channel.unannounced
        if spare <= 0:
            if bug == "receiver-rejected-data-counts":
                channel.required = backlog + self.exclusive
            return wire.rejected()
        floating = channel.floating > 0
        if bug == "receiver-exclusive-first":
            floating = channel.exclusive == 0
        if floating:
            channel.floating -= 1
        else:
            channel.exclusive -= 1
        channel.held.append(floating)
        return [] if bug == "receiver-backlog-of-data-ignored" else self.on_backlog(index, backlog)

    def on_event(self, index: int, backlog: int) -> wire.Observations:
        bug = self.bug
        channel = self.channels[index]
        if bug == "receiver-event-takes-buffer":
            if channel.floating:
                channel.floating -= 1
                self.free += 1
            elif channel.exclusive:
                channel.exclusive -= 1
        if bug == "receiver-backlog-of-event-ignored":
            return []
        return self.on_backlog(index, backlog)

    def on_backlog(self, index: int, backlog: int) -> wire.Observations:
        bug = self.bug
        channel = self.channels[index]
        required = backlog if bug == "receiver-exclusive-not-topped-up" else backlog + self.exclusive
        if bug == "receiver-required-never-falls":
            required = max(required, channel.required)
        channel.required = required
        out: wire.Observations = []
        if bug == "receiver-falling-backlog-releases":
            while channel.floating and channel.exclusive + channel.floating > required:
                channel.floating -= 1
                out += self.give_back()
        elif bug == "receiver-satisfied-stops-waiting" and channel.waiting and channel.is_satisfied():
            channel.waiting = False
            self.waiters.remove(index)
        return out + self.gain(index, self.ask(index))

    def ask(self, index: int) -> int:
        """Take floating buffers until there are enough, or wait in the line; the number taken."""
        bug = self.bug
        channel = self.channels[index]
        taken = 0
        reserve = 1 if bug == "receiver-last-floating-reserved" else 0
        while not channel.is_satisfied() and (not channel.waiting or bug == "receiver-waits-twice"):
            if self.free <= reserve:
                channel.waiting = True
                self.waiters.append(index)
                break
            self.free -= 1
            channel.floating += 1
            taken += 1
            if bug == "receiver-one-floating-per-message":
                break
        return taken

    def gain(self, index: int, gained: int) -> wire.Observations:
        bug = self.bug
        if not gained:
            return []
        channel = self.channels[index]
        silent = channel.unannounced > 0 and bug != "receiver-notifies-every-gain"
        channel.unannounced += gained
        if silent:
            return []
        count = gained if bug == "receiver-notifies-per-buffer" else 1
        return [{"type": "notify", "channel": index} for _ in range(count)]

    def on_recycle(self, index: int) -> wire.Observations:
        bug = self.bug
        channel = self.channels[index]
        if not channel.held:
            if bug == "receiver-empty-recycle-gives-credit":
                return self.gain(index, 1)
            return wire.rejected()
        floating = channel.held.pop() if bug == "receiver-newest-recycled" else channel.held.popleft()
        if floating:
            if bug == "receiver-floating-stays-with-channel":
                channel.floating += 1
                return self.gain(index, 1)
            if bug == "receiver-hand-over-names-recycler":
                return [{"type": "notify", "channel": index} for _ in self.give_back()]
            return self.give_back()
        if channel.released and bug != "receiver-released-gets-its-own-back":
            return []
        channel.exclusive += 1
        if bug == "receiver-exclusive-in-a-byte":
            channel.exclusive &= 0xFF
        surplus = channel.exclusive + channel.floating > channel.required
        if bug == "receiver-surplus-not-strict":
            surplus = channel.is_satisfied()
        if surplus and channel.floating and bug != "receiver-surplus-kept":
            channel.floating -= 1
            out = self.give_back()
            return self.gain(index, 1) + out if bug == "receiver-surplus-also-credited" else out
        return self.gain(index, 1)

    def give_back(self) -> wire.Observations:
        """One floating buffer to the pool, which hands it to the longest-waiting channel that wants it."""
        bug = self.bug
        if bug == "receiver-pool-forgets-waiters":
            self.free += 1
            return []
        while self.waiters:
            index = self.waiters.pop() if bug == "receiver-newest-waiter-first" else self.waiters.popleft()
            channel = self.channels[index]
            channel.waiting = False
            if channel.released and bug != "receiver-released-is-handed-more":
                continue
            if channel.is_satisfied() and bug != "receiver-satisfied-waiter-takes":
                if bug == "receiver-decliner-keeps-waiting-flag":
                    channel.waiting = True
                elif bug == "receiver-declined-buffer-lost":
                    return []
                elif bug == "receiver-decline-ends-search":
                    break
                continue
            channel.floating += 1
            if bug == "receiver-one-hand-over-only":
                return self.gain(index, 1)
            if bug == "receiver-waiter-stays-in-front" and not channel.is_satisfied():
                channel.waiting = True
                self.waiters.appendleft(index)
            return self.gain(index, 1 + self.ask(index))
        self.free += 1
        return []

    def on_announce(self, index: int) -> wire.Observations:
        bug = self.bug
        channel = self.channels[index]
        amount = channel.unannounced
        if bug == "receiver-announces-one-by-one":
            amount = min(amount, 1)
        if bug != "receiver-announces-again":
            channel.unannounced -= amount
        if not amount and bug != "receiver-announces-nothing":
            return []
        return [{"type": "credit", "channel": index, "amount": amount}]

    def on_barrier(self, index: int) -> wire.Observations:
        bug = self.bug
        channel = self.channels[index]
        channel.barriers += 1
        out: wire.Observations = []
        if (self.exclusive == 0 and bug != "receiver-barrier-keeps-floating") or (
            self.exclusive and bug == "receiver-barrier-always-returns-floating"
        ):
            if bug != "receiver-barrier-returns-before-reset":
                channel.required = 0
            for _ in range(channel.floating):
                channel.floating -= 1
                out += self.give_back()
            if bug == "receiver-barrier-drops-unannounced":
                channel.unannounced = 0
        return out + self.on_backlog(index, 0)

    def on_resume(self, index: int) -> wire.Observations:
        bug = self.bug
        channel = self.channels[index]
        if bug == "receiver-resume-needs-barrier":
            if not channel.barriers:
                return wire.rejected()
            channel.barriers -= 1
        if bug == "receiver-resume-always-drops-unannounced" or (
            self.exclusive == 0 and bug != "receiver-resume-keeps-unannounced"
        ):
            channel.unannounced = 0
        return [{"type": "resume", "channel": index}]


make = CreditReceiver
