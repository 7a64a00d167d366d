"""The receiving end of a connection, CONN-1 … CONN-7."""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_BREAKS = {"error": "local", "reset": "remote", "closed": "remote", "fatal": "remote"}
_MOST = 5


class ReceivingConnection:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.count = wire.get_at_least(config, "channels", 1)
        self.own = self.amount(config, "exclusive", 0)
        self.is_open = self.is_broken = self.is_left = False
        self.has_room = True
        self.asked: set[int] = set()
        self.gone: set[int] = set()
        self.faulty: set[int] = set()
        self.queued = [0] * self.count
        self.memory = [self.own] * self.count
        self.free = [self.own] * self.count
        self.wanted = [0] * self.count
        self.unsaid = [0] * self.count
        self.line: list[int] = []
        self.out: wire.Observations = []

    @staticmethod
    def amount(source: wire.Json, name: str, least: int) -> int:
        value = wire.get_at_least(source, name, least)
        if value > _MOST:
            raise wire.BadRequestError(f"{name} is at most {_MOST}")
        return value

    def step(self, event: wire.Json) -> wire.Observations:
        self.out = []
        kind = str(event.get("type"))
        plain = {"open": self.open, "writable": self.writable, "break": self.break_all, "cancel": self.cancel}
        if kind in plain:
            return self.out if plain[kind](event) else wire.rejected()
        handlers: dict[str, Any] = {
            "request": self.request,
            "data": self.data,
            "unsaved": self.unsaved,
            "backlog": self.backlog,
            "not_found": self.not_found,
            "error": self.error,
            "release": self.release,
            "measure": self.measure,
        }
        if kind not in handlers:
            raise wire.unknown_type(event)
        channel = wire.get_integer(event, "channel")
        numbers = {"parts": 0, "backlog": 0} if kind == "data" else {"backlog": 1} if kind == "backlog" else {}
        given = [self.amount(event, name, least) for name, least in numbers.items()]
        if not self.is_open or not 0 <= channel < self.count:
            return wire.rejected()
        return self.out if handlers[kind](channel, *given) else wire.rejected()

    def say(self, kind: str, channel: int, **more: object) -> bool:
        self.out.append({"type": kind, "channel": channel, **more})
        return True

    def open(self, _event: wire.Json) -> bool:
        known, self.is_open = self.is_open, True
        return not known

    def cancel(self, event: wire.Json) -> bool:
        channel = wire.get_integer(event, "channel")
        if not -1 <= channel < self.count:
            return False
        return channel < 0 or self.stop_producer(channel)

    def stop_producer(self, channel: int) -> bool:
        if self.is_open and not self.is_broken:
            self.say("cancelled", channel)
        return True

    def writable(self, event: wire.Json) -> bool:
        value = wire.get_boolean(event, "value")
        if not self.is_open:
            return False
        self.has_room = value
        return self.speak()

    def speak(self) -> bool:
        if not self.has_room:
            return True
        line, self.line = self.line, []
        for channel in line:
            if channel not in self.gone:
                self.say("credit", channel, amount=self.unsaid[channel])
                self.unsaid[channel] = 0
        return True

    def request(self, channel: int) -> bool:
        if channel in self.asked or self.is_left or self.is_broken:
            return False
        self.asked.add(channel)
        return self.say("requested", channel, credit=self.own)

    def knows(self, channel: int) -> bool:
        return channel in self.asked and channel not in self.gone

    def data(self, channel: int, parts: int, backlog: int) -> bool:
        if self.is_broken:
            return True
        if not self.knows(channel):
            return self.stop_producer(channel)
        if self.take(channel, max(parts, 1)):
            self.learn(channel, backlog)
        return True

    def take(self, channel: int, buffers: int) -> bool:
        self.wanted[channel] = max(self.wanted[channel] - 1, 0)
        if not self.free[channel]:
            self.fail(channel, "own")
            return False
        self.free[channel] -= 1
        self.queued[channel] += buffers
        return True

    def unsaved(self, channel: int) -> bool:
        if self.is_broken:
            return True
        if not self.knows(channel):
            return self.stop_producer(channel)
        if self.take(channel, 1):
            self.fail(channel, "own")
        return True

    def backlog(self, channel: int, backlog: int) -> bool:
        if self.is_broken:
            return True
        if not self.knows(channel):
            return self.stop_producer(channel)
        self.learn(channel, backlog)
        return True

    def learn(self, channel: int, backlog: int) -> None:
        self.wanted[channel] = backlog + self.own
        lacking = max(self.wanted[channel] - self.free[channel], 0)
        self.free[channel] += lacking
        self.memory[channel] += lacking
        before = self.unsaid[channel]
        self.unsaid[channel] += lacking
        if lacking and not before and channel not in self.faulty:
            self.line.append(channel)
            if len(self.line) == 1:
                self.speak()

    def fail(self, channel: int, cause: str) -> None:
        if channel not in self.faulty:
            self.say("failed", channel, cause=cause)
        self.faulty.add(channel)

    def not_found(self, channel: int) -> bool:
        if not self.is_broken and self.knows(channel):
            self.say("state_asked", channel)
        return True

    def error(self, channel: int) -> bool:
        if not self.is_broken and self.knows(channel):
            self.fail(channel, "remote")
        return True

    def release(self, channel: int) -> bool:
        if not self.knows(channel):
            return False
        self.gone.add(channel)
        self.queued[channel] = self.free[channel] = self.memory[channel] = 0
        if any(self.knows(one) for one in range(self.count)):
            return self.stop_producer(channel)
        self.is_left = True
        if not self.is_broken:
            self.out.append({"type": "close_sent"})
        return True

    def measure(self, channel: int) -> bool:
        shown = {"queued": self.queued[channel], "required": self.wanted[channel], "held": sum(self.memory)}
        self.out.append({"type": "measured", **shown})
        return True

    def break_all(self, event: wire.Json) -> bool:
        how = wire.get_choice(event, "how", tuple(_BREAKS))
        if not self.is_open:
            return False
        return self.break_with(_BREAKS[how])

    def break_with(self, cause: str) -> bool:
        if self.is_broken:
            return True
        for channel in range(self.count):
            if self.knows(channel):
                self.fail(channel, cause)
        self.is_broken = True
        self.line = []
        self.out.append({"type": "closed"})
        return True


make = ReceivingConnection

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("CONN-1")
class ReceivingConnectionRequestsWithoutCredit(ReceivingConnection):
    """A request does not say how many buffers its channel has, and the producer waits for credit."""

    request = changed(ReceivingConnection.request, "self.own", "0")


@wrong("CONN-1")
class ReceivingConnectionAsksOverABrokenOne(ReceivingConnection):
    """A channel asks over a connection that is broken, and waits for ever."""

    request = changed(ReceivingConnection.request, " or self.is_broken", "")


@wrong("CONN-2")
class ReceivingConnectionPartsAreOneBuffer(ReceivingConnection):
    """The parts of a message are queued as one buffer."""

    data = changed(ReceivingConnection.data, "max(parts, 1)", "1")


@wrong("CONN-2")
class ReceivingConnectionMemoryForEachPart(ReceivingConnection):
    """Each part of a message counts as a buffer of memory, and credit is granted for it again."""

    take = changed(
        ReceivingConnection.take,
        "self.free[channel] -= 1",
        "self.free[channel] = max(self.free[channel] - buffers, 0)",
    )


@wrong("CONN-2")
class ReceivingConnectionForgetsItsOwn(ReceivingConnection):
    """A channel requires the backlog alone, without the number of its own buffers."""

    learn = changed(ReceivingConnection.learn, "self.own", "0")


@wrong("CONN-3")
class ReceivingConnectionDropsSilently(ReceivingConnection):
    """Data for a released channel is dropped, and its producer sends on."""

    data = changed(ReceivingConnection.data, "self.stop_producer(channel)", "True")


@wrong("CONN-3")
class ReceivingConnectionCancelsBeforeItIsOpen(ReceivingConnection):
    """A request is cancelled over a connection that is not there."""

    stop_producer = changed(ReceivingConnection.stop_producer, "self.is_open and ", "")


@wrong("CONN-4")
class ReceivingConnectionUnsavedDataIsGivenBack(ReceivingConnection):
    """Data that was not saved is given back at once, and again when its channel is released."""

    unsaved = changed(
        ReceivingConnection.unsaved,
        'self.fail(channel, "own")',
        'self.queued[channel] -= 1\nself.free[channel] += 1\nself.fail(channel, "own")',
    )


@wrong("CONN-4")
class ReceivingConnectionOneFailureBreaksAll(ReceivingConnection):
    """The failure of one channel breaks the connection of all."""

    unsaved = changed(ReceivingConnection.unsaved, 'self.fail(channel, "own")', 'return self.break_with("own")')


@wrong("CONN-4")
class ReceivingConnectionLastErrorStays(ReceivingConnection):
    """A channel reports every error, and the cause is lost under what followed from it."""

    def fail(self, channel: int, cause: str) -> None:
        self.say("failed", channel, cause=cause)
        self.faulty.add(channel)


@wrong("CONN-4")
class ReceivingConnectionNotFoundIsAnError(ReceivingConnection):
    """A partition that is not there yet is an error of the channel."""

    not_found = changed(
        ReceivingConnection.not_found, 'self.say("state_asked", channel)', 'self.fail(channel, "remote")'
    )


@wrong("CONN-4")
class ReceivingConnectionBlamesThisEnd(ReceivingConnection):
    """An error that the other end tells counts as one of this end."""

    error = changed(ReceivingConnection.error, '"remote"', '"local"')


@wrong("CONN-4")
class ReceivingConnectionAnnouncesAfterAnError(ReceivingConnection):
    """A channel with an error still announces credit, and its producer sends on."""

    learn = changed(ReceivingConnection.learn, " and channel not in self.faulty", "")


@wrong("CONN-5")
class ReceivingConnectionSendsIntoAFullConnection(ReceivingConnection):
    """Credit is sent although the connection takes no more."""

    speak = changed(ReceivingConnection.speak, "not self.has_room", "False")


@wrong("CONN-5")
class ReceivingConnectionLastIsHeardFirst(ReceivingConnection):
    """Whoever came last has the first turn."""

    speak = changed(ReceivingConnection.speak, "in line:", "in reversed(line):")


@wrong("CONN-5")
class ReceivingConnectionStopsAtAReleasedOne(ReceivingConnection):
    """The turn of a released channel ends the turns of all behind it."""

    speak = changed(
        ReceivingConnection.speak,
        "if channel not in self.gone:",
        "if channel in self.gone:\n    self.line = line[line.index(channel) + 1 :]\n    return True\nelse:",
    )


@wrong("CONN-5")
class ReceivingConnectionAnnouncesOneAtATime(ReceivingConnection):
    """A channel announces one buffer, whatever it has gained."""

    speak = changed(ReceivingConnection.speak, "amount=self.unsaid[channel]", "amount=1")


@wrong("CONN-6")
class ReceivingConnectionResetIsAnErrorHere(ReceivingConnection):
    """A connection that the other end has reset counts as an error of this end."""

    break_all = changed(ReceivingConnection.break_all, "_BREAKS[how]", '{**_BREAKS, "reset": "local"}[how]')


@wrong("CONN-6")
class ReceivingConnectionStaysOpen(ReceivingConnection):
    """A broken connection is not closed."""

    break_with = changed(ReceivingConnection.break_with, 'self.out.append({"type": "closed"})', "pass")


@wrong("CONN-7")
class ReceivingConnectionKeepsItsOwnBuffers(ReceivingConnection):
    """A released channel keeps its own buffers."""

    release = changed(
        ReceivingConnection.release, " = self.memory[channel] = 0", " = 0\nself.memory[channel] = self.own"
    )


@wrong("CONN-7")
class ReceivingConnectionConnectionStays(ReceivingConnection):
    """The last channel leaves, and the connection stays open for nobody."""

    release = changed(ReceivingConnection.release, "any(self.knows(one) for one in range(self.count))", "True")
