"""The receiving side of one gate: credit, floating buffers, announcements. CREDIT-1 … CREDIT-12, CREDIT-14 … CREDIT-16,
CREDIT-32, CREDIT-33.
"""

from collections import deque

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

EXTENSIONS = ("failures",)


class Channel:
    __slots__ = (
        "broken", "exclusive", "failed", "floating", "held", "released", "required", "unannounced", "waiting",
    )  # fmt: skip

    def __init__(self, exclusive: int) -> None:
        self.exclusive = exclusive
        self.floating = 0
        self.required = 0
        self.waiting = False
        self.unannounced = 0
        #: Data buffers received and not recycled, oldest first: true for a floating one.
        self.held: deque[bool] = deque()
        self.broken = self.failed = self.released = False

    def is_satisfied(self) -> bool:
        return self.exclusive + self.floating >= self.required


class CreditReceiver:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        channels = wire.get_at_least(config, "channels", 1)
        self.exclusive = wire.get_at_least(config, "exclusive", 0)
        self.free = wire.get_at_least(config, "floating", 1)
        self.channels = [Channel(self.exclusive) for _ in range(channels)]
        self.waiters: deque[int] = deque()
        self.may_fail = wire.get_extension(config, EXTENSIONS) is not None

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        index = wire.get_integer(event, "channel")
        if self.may_fail and kind in {"fail", "release"}:
            if not 0 <= index < len(self.channels):
                return wire.rejected()
            return self.settle(self.on_fail(index) if kind == "fail" else self.on_release(index), None)
        if not self.may_fail or not 0 <= index < len(self.channels):
            return self.react(event, kind, index)
        channel = self.channels[index]
        if kind != "recycle" and (channel.released or channel.failed):
            return wire.rejected()
        own = kind != "recycle" or (bool(channel.held) and not channel.held[0])
        return self.settle(self.react(event, kind, index), index if own else None)

    def settle(self, seen: wire.Observations, caller: int | None) -> wire.Observations:
        """What is said of channels whose connection broke is a failure instead."""
        kept: wire.Observations = []
        called: wire.Observations = []
        read: wire.Observations = []
        for one in seen:
            channel = self.channels[one["channel"]] if one["type"] == "notify" else None
            if channel is None or not channel.broken:
                kept.append(one)
                continue
            channel.failed = True
            by_caller = one["channel"] == caller
            failure = {"type": "failed", "channel": one["channel"], "told": "caller" if by_caller else "reader"}
            (called if by_caller else read).append(failure)
        return kept + called + sorted(read, key=lambda one: one["channel"])

    def on_fail(self, index: int) -> wire.Observations:
        if self.channels[index].released:
            return wire.rejected()
        self.channels[index].broken = True
        return []

    def on_release(self, index: int) -> wire.Observations:
        channel = self.channels[index]
        if channel.released:
            return []
        channel.released, channel.exclusive = True, 0
        out: wire.Observations = []
        for _ in range(channel.floating):
            channel.floating -= 1
            out += self.give_back()
        return out

    def react(self, event: wire.Json, kind: str | None, index: int) -> wire.Observations:
        if kind in {"data", "event", "backlog"}:
            backlog = wire.get_integer(event, "backlog")
            lowest = 1 if kind == "backlog" else 0
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
        channel = self.channels[index]
        if channel.exclusive + channel.floating <= 0:
            return wire.rejected()
        floating = channel.floating > 0
        if floating:
            channel.floating -= 1
        else:
            channel.exclusive -= 1
        channel.held.append(floating)
        return self.on_backlog(index, backlog)

    def on_event(self, index: int, backlog: int) -> wire.Observations:
        return self.on_backlog(index, backlog)

    def on_backlog(self, index: int, backlog: int) -> wire.Observations:
        self.channels[index].required = backlog + self.exclusive
        return self.gain(index, self.ask(index))

    def ask(self, index: int) -> int:
        """Take floating buffers until there are enough, or wait in the line; the number taken."""
        channel = self.channels[index]
        taken = 0
        while not channel.is_satisfied() and not channel.waiting:
            if self.free == 0:
                channel.waiting = True
                self.waiters.append(index)
                break
            self.free -= 1
            channel.floating += 1
            taken += 1
        return taken

    def gain(self, index: int, gained: int) -> wire.Observations:
        if not gained:
            return []
        channel = self.channels[index]
        silent = channel.unannounced > 0
        channel.unannounced += gained
        if silent:
            return []
        return [{"type": "notify", "channel": index}]

    def on_recycle(self, index: int) -> wire.Observations:
        channel = self.channels[index]
        if not channel.held:
            return wire.rejected()
        if channel.held.popleft():
            return self.give_back()
        if channel.released:
            return []
        channel.exclusive += 1
        surplus = channel.exclusive + channel.floating > channel.required
        if surplus and channel.floating:
            channel.floating -= 1
            return self.give_back()
        return self.gain(index, 1)

    def give_back(self) -> wire.Observations:
        """One floating buffer to the pool, which hands it to the longest-waiting channel that wants it."""
        while self.waiters:
            index = self.waiters.popleft()
            channel = self.channels[index]
            channel.waiting = False
            if channel.released or channel.is_satisfied():
                continue
            channel.floating += 1
            return self.gain(index, 1 + self.ask(index))
        self.free += 1
        return []

    def on_announce(self, index: int) -> wire.Observations:
        channel = self.channels[index]
        amount = channel.unannounced
        channel.unannounced -= amount
        return [{"type": "credit", "channel": index, "amount": amount}] if amount else []

    def on_barrier(self, index: int) -> wire.Observations:
        channel = self.channels[index]
        out: wire.Observations = []
        if self.exclusive == 0:
            channel.required = 0
            for _ in range(channel.floating):
                channel.floating -= 1
                out += self.give_back()
        return out + self.on_backlog(index, 0)

    def on_resume(self, index: int) -> wire.Observations:
        if self.exclusive == 0:
            self.channels[index].unannounced = 0
        return [{"type": "resume", "channel": index}]


make = CreditReceiver

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("CREDIT-1", "CREDIT-5", "CREDIT-6")
class ReceiverInitialCreditAnnouncedAgain(CreditReceiver):
    """The initial credit, which the request has already carried, is announced once more."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        for channel in self.channels:
            channel.unannounced = self.exclusive


@wrong("CREDIT-2", "CREDIT-7", "CREDIT-8", "CREDIT-9")
class ReceiverExclusiveFirst(CreditReceiver):
    """Data takes exclusive buffers before floating ones."""

    on_data = changed(CreditReceiver.on_data, "channel.floating > 0", "channel.exclusive == 0")


@wrong("CREDIT-2", "CREDIT-4", "CREDIT-5", "CREDIT-18")
class ReceiverDataNeedsAnnouncedCredit(CreditReceiver):
    """Data is accepted only against announced credit, though a buffer is free."""

    on_data = changed(CreditReceiver.on_data, "<= 0", "<= channel.unannounced")


@wrong("CREDIT-2", "CREDIT-4", "CREDIT-7", "CREDIT-9", "CREDIT-10")
class ReceiverRejectedDataCounts(CreditReceiver):
    """Data that finds no buffer is refused, but its backlog is taken over."""

    on_data = changed(
        CreditReceiver.on_data,
        "return wire.rejected()",
        "channel.required = backlog + self.exclusive\nreturn wire.rejected()",
    )


@wrong("CREDIT-3", "CREDIT-2", "CREDIT-4", "CREDIT-5", "CREDIT-7", "CREDIT-12")
class ReceiverEventTakesBuffer(CreditReceiver):
    """Events take a buffer."""

    def on_event(self, index: int, backlog: int) -> wire.Observations:
        channel = self.channels[index]
        if channel.floating:
            channel.floating -= 1
            self.free += 1
        elif channel.exclusive:
            channel.exclusive -= 1
        return super().on_event(index, backlog)


@wrong("CREDIT-3", "CREDIT-4", "CREDIT-5", "CREDIT-11", "CREDIT-12")
class ReceiverBacklogOfEventIgnored(CreditReceiver):
    """The backlog that an event carries is ignored."""

    def on_event(self, index: int, backlog: int) -> wire.Observations:
        return []


@wrong("CREDIT-4", "CREDIT-2", "CREDIT-5", "CREDIT-7", "CREDIT-12")
class ReceiverBacklogOfDataIgnored(CreditReceiver):
    """Only announcements count; the backlog that data carries is ignored."""

    on_data = changed(CreditReceiver.on_data, "self.on_backlog(index, backlog)", "[]")


@wrong("CREDIT-4", "CREDIT-5", "CREDIT-7", "CREDIT-12")
class ReceiverExclusiveNotToppedUp(CreditReceiver):
    """Floating buffers are asked for up to the backlog, not up to backlog plus exclusive."""

    on_backlog = changed(CreditReceiver.on_backlog, "backlog + self.exclusive", "backlog")


@wrong("CREDIT-4", "CREDIT-5", "CREDIT-6", "CREDIT-9")
class ReceiverOneFloatingPerMessage(CreditReceiver):
    """Each message asks for one floating buffer at most."""

    ask = changed(CreditReceiver.ask, "taken += 1", "taken += 1\nbreak")


@wrong("CREDIT-4", "CREDIT-8", "CREDIT-9", "CREDIT-10")
class ReceiverWaitsTwice(CreditReceiver):
    """A channel that already waits gets in line again."""

    ask = changed(
        CreditReceiver.ask, "not channel.is_satisfied() and not channel.waiting", "not channel.is_satisfied()"
    )


@wrong("CREDIT-4", "CREDIT-5", "CREDIT-6", "CREDIT-8", "CREDIT-9", "CREDIT-12")
class ReceiverLastFloatingReserved(CreditReceiver):
    """The pool never gives its last buffer away."""

    ask = changed(CreditReceiver.ask, "self.free == 0", "self.free <= 1")


@wrong("CREDIT-5", "CREDIT-4", "CREDIT-7", "CREDIT-9")
class ReceiverNotifiesEveryGain(CreditReceiver):
    """Every gain is notified, though the last one was not announced yet."""

    gain = changed(CreditReceiver.gain, "channel.unannounced > 0", "False")


@wrong("CREDIT-5", "CREDIT-4", "CREDIT-9")
class ReceiverNotifiesPerBuffer(CreditReceiver):
    """Several buffers gained at once are notified one by one."""

    gain = changed(CreditReceiver.gain, '"channel": index}]', '"channel": index}] * gained')


@wrong("CREDIT-6", "CREDIT-5")
class ReceiverAnnouncesAgain(CreditReceiver):
    """Announced credit stays unannounced and is announced again."""

    on_announce = changed(CreditReceiver.on_announce, "channel.unannounced -= amount", "pass")


@wrong("CREDIT-6")
class ReceiverAnnouncesNothing(CreditReceiver):
    """A message is sent even if there is no credit to announce."""

    on_announce = changed(CreditReceiver.on_announce, " if amount else []", "")


@wrong("CREDIT-6", "CREDIT-5")
class ReceiverAnnouncesOneByOne(CreditReceiver):
    """A message announces one unit of credit at a time."""

    on_announce = changed(CreditReceiver.on_announce, "= channel.unannounced", "= min(channel.unannounced, 1)")


@wrong("CREDIT-7", "CREDIT-5", "CREDIT-8", "CREDIT-9")
class ReceiverSurplusKept(CreditReceiver):
    """A channel with more than it requires keeps its floating buffers."""

    on_recycle = changed(CreditReceiver.on_recycle, "surplus and channel.floating", "False")


@wrong("CREDIT-7", "CREDIT-5", "CREDIT-8", "CREDIT-9")
class ReceiverSurplusNotStrict(CreditReceiver):
    """A channel with exactly what it requires already gives a floating buffer back."""

    on_recycle = changed(
        CreditReceiver.on_recycle, "channel.exclusive + channel.floating > channel.required", "channel.is_satisfied()"
    )


@wrong("CREDIT-7", "CREDIT-5", "CREDIT-6")
class ReceiverSurplusAlsoCredited(CreditReceiver):
    """A floating buffer goes back and the recycled one is credited all the same."""

    on_recycle = changed(
        CreditReceiver.on_recycle,
        "channel.floating -= 1\n        return self.give_back()",
        "channel.floating -= 1\nout = self.give_back()\nreturn self.gain(index, 1) + out",
    )


@wrong("CREDIT-7", "CREDIT-2", "CREDIT-5", "CREDIT-8", "CREDIT-9")
class ReceiverNewestRecycled(CreditReceiver):
    """Recycling takes the newest buffer received instead of the oldest."""

    on_recycle = changed(CreditReceiver.on_recycle, "channel.held.popleft", "channel.held.pop")


@wrong("CREDIT-8", "CREDIT-5", "CREDIT-7")
class ReceiverEmptyRecycleGivesCredit(CreditReceiver):
    """Recycling with nothing to recycle creates credit."""

    on_recycle = changed(CreditReceiver.on_recycle, "wire.rejected()", "self.gain(index, 1)")


@wrong("CREDIT-8", "CREDIT-5", "CREDIT-7", "CREDIT-9")
class ReceiverFloatingStaysWithChannel(CreditReceiver):
    """A recycled floating buffer stays with its channel."""

    on_recycle = changed(
        CreditReceiver.on_recycle,
        "if channel.held.popleft():\n        return self.give_back()",
        "if channel.held.popleft():\n    channel.floating += 1\n    return self.gain(index, 1)",
    )


@wrong("CREDIT-8", "CREDIT-5", "CREDIT-9")
class ReceiverHandOverNamesRecycler(CreditReceiver):
    """The notification names the channel that recycled, not the one that gained."""

    on_recycle = changed(
        CreditReceiver.on_recycle,
        "if channel.held.popleft():\n        return self.give_back()",
        'if channel.held.popleft():\n    return [{"type": "notify", "channel": index} for _ in self.give_back()]',
    )


@wrong("CREDIT-8", "CREDIT-9")
class ReceiverPoolForgetsWaiters(CreditReceiver):
    """A buffer that comes back is stored though somebody waits for it."""

    def give_back(self) -> wire.Observations:
        self.free += 1
        return []


@wrong("CREDIT-8", "CREDIT-9")
class ReceiverNewestWaiterFirst(CreditReceiver):
    """The channel that came last in line is served first."""

    give_back = changed(CreditReceiver.give_back, "self.waiters.popleft", "self.waiters.pop")


@wrong("CREDIT-9", "CREDIT-4", "CREDIT-10", origin="FLINK-8747")
class ReceiverDeclinerKeepsWaitingFlag(CreditReceiver):
    """A channel that declines leaves the line but still takes itself for waiting, and never asks again."""

    give_back = changed(CreditReceiver.give_back, "continue", "channel.waiting = True\ncontinue")


@wrong("CREDIT-9", "CREDIT-4", "CREDIT-8", "CREDIT-10", origin="FLINK-10367")
class ReceiverDeclinedBufferLost(CreditReceiver):
    """A buffer that a channel declines gets lost."""

    give_back = changed(CreditReceiver.give_back, "continue", "if channel.released:\n    continue\nreturn []")


@wrong("CREDIT-9", "CREDIT-8", "CREDIT-10")
class ReceiverDeclineEndsSearch(CreditReceiver):
    """After one channel has declined the next in line is not asked."""

    give_back = changed(CreditReceiver.give_back, "continue", "if channel.released:\n    continue\nbreak")


@wrong("CREDIT-9", "CREDIT-5", "CREDIT-8", "CREDIT-10")
class ReceiverSatisfiedWaiterTakes(CreditReceiver):
    """A channel that has enough by now takes the buffer all the same."""

    give_back = changed(CreditReceiver.give_back, " or channel.is_satisfied()", "")


@wrong("CREDIT-9", "CREDIT-4", "CREDIT-8", origin="FLINK-23466")
class ReceiverOneHandOverOnly(CreditReceiver):
    """A channel that still needs more is not put back in line after it was served once."""

    give_back = changed(CreditReceiver.give_back, "1 + self.ask(index)", "1")


@wrong("CREDIT-9", "CREDIT-4", "CREDIT-8")
class ReceiverWaiterStaysInFront(CreditReceiver):
    """A channel that still needs more stays at the front of the line."""

    give_back = changed(
        CreditReceiver.give_back,
        "return self.gain(index, 1 + self.ask(index))",
        "if not channel.is_satisfied():\n"
        "    channel.waiting = True\n"
        "    self.waiters.appendleft(index)\n"
        "return self.gain(index, 1 + self.ask(index))",
    )


@wrong("CREDIT-10", "CREDIT-4", "CREDIT-8", "CREDIT-9", "CREDIT-11")
class ReceiverSatisfiedStopsWaiting(CreditReceiver):
    """A channel whose requirement falls to what it has leaves the line at once, and loses its place."""

    def ask(self, index: int) -> int:
        channel = self.channels[index]
        if channel.waiting and channel.is_satisfied():
            channel.waiting = False
            self.waiters.remove(index)
        return super().ask(index)


@wrong("CREDIT-11", "CREDIT-4", "CREDIT-7", "CREDIT-8", "CREDIT-9")
class ReceiverFallingBacklogReleases(CreditReceiver):
    """A falling backlog releases floating buffers that were promised already."""

    def on_backlog(self, index: int, backlog: int) -> wire.Observations:
        channel = self.channels[index]
        channel.required = backlog + self.exclusive
        out: wire.Observations = []
        while channel.floating and channel.exclusive + channel.floating > channel.required:
            channel.floating -= 1
            out += self.give_back()
        return out + super().on_backlog(index, backlog)


@wrong("CREDIT-11", "CREDIT-4", "CREDIT-7", "CREDIT-9", "CREDIT-10")
class ReceiverRequiredNeverFalls(CreditReceiver):
    """A falling backlog does not lower the requirement."""

    def on_backlog(self, index: int, backlog: int) -> wire.Observations:
        return super().on_backlog(index, max(backlog, self.channels[index].required - self.exclusive))


@wrong("CREDIT-14", "CREDIT-4", "CREDIT-8", "CREDIT-9", origin="FLINK-16404")
class ReceiverBarrierKeepsFloating(CreditReceiver):
    """Without exclusive buffers a blocked channel keeps its floating ones, and the others starve."""

    on_barrier = changed(CreditReceiver.on_barrier, "self.exclusive == 0", "False")


@wrong("CREDIT-14", "CREDIT-4", "CREDIT-7", "CREDIT-8", "CREDIT-9", "CREDIT-11")
class ReceiverBarrierAlwaysReturnsFloating(CreditReceiver):
    """A barrier returns floating buffers also where there are exclusive ones."""

    on_barrier = changed(CreditReceiver.on_barrier, "self.exclusive == 0", "True")


@wrong("CREDIT-14", "CREDIT-5", "CREDIT-6", "CREDIT-15")
class ReceiverBarrierDropsUnannounced(CreditReceiver):
    """A barrier drops unannounced credit, which should wait for resume."""

    def on_barrier(self, index: int) -> wire.Observations:
        if self.exclusive == 0:
            self.channels[index].unannounced = 0
        return super().on_barrier(index)


@wrong("CREDIT-14", "CREDIT-5", "CREDIT-8", "CREDIT-9")
class ReceiverBarrierReturnsBeforeReset(CreditReceiver):
    """Floating buffers go back before the requirement is reset, so the blocked channel is handed its own."""

    on_barrier = changed(CreditReceiver.on_barrier, "channel.required = 0", "pass")


@wrong("CREDIT-15", "CREDIT-5", "CREDIT-6", "CREDIT-14")
class ReceiverResumeKeepsUnannounced(CreditReceiver):
    """Without exclusive buffers unannounced credit survives resume, though its buffers are gone."""

    def on_resume(self, index: int) -> wire.Observations:
        return [{"type": "resume", "channel": index}]


@wrong("CREDIT-15", "CREDIT-5", "CREDIT-6")
class ReceiverResumeAlwaysDropsUnannounced(CreditReceiver):
    """Resume drops unannounced credit also where there are exclusive buffers."""

    def on_resume(self, index: int) -> wire.Observations:
        self.channels[index].unannounced = 0
        return super().on_resume(index)


@wrong("CREDIT-15")
class ReceiverResumeNeedsBarrier(CreditReceiver):
    """Resume is refused unless a barrier came before."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.barriers = [0] * len(self.channels)

    def on_barrier(self, index: int) -> wire.Observations:
        self.barriers[index] += 1
        return super().on_barrier(index)

    def on_resume(self, index: int) -> wire.Observations:
        if not self.barriers[index]:
            return wire.rejected()
        self.barriers[index] -= 1
        return super().on_resume(index)


@wrong("CREDIT-4", "CREDIT-11", "CREDIT-12")
class ReceiverEmptyBacklogAccepted(CreditReceiver):
    """An announcement of no backlog is accepted."""

    react = changed(CreditReceiver.react, '1 if kind == "backlog" else 0', "0")


@wrong("CREDIT-32")
class ReceiverHandOverFailsTheGiver(CreditReceiver):
    """A buffer that is handed to a channel whose connection broke fails whoever gave it back."""

    settle = changed(CreditReceiver.settle, 'one["channel"] == caller', "True")


@wrong("CREDIT-32")
class ReceiverOwnFailureIsSwallowed(CreditReceiver):
    """A message whose credit cannot be announced does not fail."""

    settle = changed(CreditReceiver.settle, 'one["channel"] == caller', "False")


@wrong("CREDIT-32")
class ReceiverFailureIsLost(CreditReceiver):
    """Nobody is told that a hand-over failed, and the task waits for ever."""

    settle = changed(
        CreditReceiver.settle,
        "(called if by_caller else read).append(failure)",
        "if by_caller:\n    called.append(failure)",
    )


@wrong("CREDIT-32")
class ReceiverBrokenIsNotified(CreditReceiver):
    """The network thread is told of credit although the connection broke."""

    def settle(self, seen: wire.Observations, caller: int | None) -> wire.Observations:
        return seen


@wrong("CREDIT-33")
class ReceiverFailureLosesTheBuffer(CreditReceiver):
    """The buffer that could not be announced is lost."""

    settle = changed(
        CreditReceiver.settle,
        "channel.failed = True",
        "channel.failed = True\nchannel.floating = max(0, channel.floating - 1)",
    )


@wrong("CREDIT-33")
class ReceiverFailedGoesOn(CreditReceiver):
    """Messages on a channel that has failed are taken as before."""

    step = changed(CreditReceiver.step, "channel.released or channel.failed", "channel.released")


@wrong("CREDIT-33")
class ReceiverFailedKeepsFloating(CreditReceiver):
    """The floating buffers of a channel that has failed are lost with its release."""

    on_release = changed(
        CreditReceiver.on_release, "out += self.give_back()", "if not channel.failed:\n    out += self.give_back()"
    )


@wrong("CREDIT-16")
class ReceiverReleasedHears(CreditReceiver):
    """A channel that is released takes messages as before."""

    step = changed(CreditReceiver.step, "channel.released or channel.failed", "channel.failed")


@wrong("CREDIT-16")
class ReceiverReleaseFreesForNobody(CreditReceiver):
    """Buffers of a channel that is released become free, and those that wait are not told."""

    on_release = changed(CreditReceiver.on_release, "out += self.give_back()", "self.free += 1")


@wrong("CREDIT-16", "CREDIT-33")
class ReceiverReleaseKeepsFloating(CreditReceiver):
    """The floating buffers of a channel that is released are lost."""

    on_release = changed(CreditReceiver.on_release, "out += self.give_back()", "pass")


@wrong("CREDIT-16")
class ReceiverReleasedGetsItsOwnBack(CreditReceiver):
    """An exclusive buffer that is recycled after the release makes credit of a channel that is gone."""

    on_recycle = changed(CreditReceiver.on_recycle, "channel.released", "False")


@wrong("CREDIT-16")
class ReceiverReleasedIsHandedMore(CreditReceiver):
    """A channel that is released is still handed the buffer that it waited for."""

    give_back = changed(CreditReceiver.give_back, "channel.released or ", "")


@wrong("CREDIT-7", "CREDIT-5", "CREDIT-8", "CREDIT-9", "CREDIT-10")
class ReceiverExclusiveInAByte(CreditReceiver):
    """Exclusive buffers that were recycled are counted in one byte."""

    on_recycle = changed(
        CreditReceiver.on_recycle, "channel.exclusive += 1", "channel.exclusive = (channel.exclusive + 1) & 0xFF"
    )
