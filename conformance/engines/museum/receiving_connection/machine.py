"""The receiving end of a connection, CONN-1 … CONN-7."""

from typing import Any

from tidegate.conformance.engines import wire

_BREAKS = {"error": "local", "reset": "remote", "closed": "remote", "fatal": "remote"}
_MOST = 5


class ReceivingConnection:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("receiving-connection-")
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
        if (self.is_open or self.bug == "cancels-before-it-is-open") and not self.is_broken:
            self.say("cancelled", channel)
        return True

    def writable(self, event: wire.Json) -> bool:
        value = wire.get_boolean(event, "value")
        if not self.is_open:
            return False
        self.has_room = value
        return self.speak()

    def speak(self) -> bool:
        if not self.has_room and self.bug != "sends-into-a-full-connection":
            return True
        line, self.line = self.line, []
        if self.bug == "last-is-heard-first":
            line.reverse()
        for place, channel in enumerate(line):
            if channel in self.gone:
                if self.bug == "stops-at-a-released-one":
                    self.line = line[place + 1 :]
                    return True
                continue
            amount = 1 if self.bug == "announces-one-at-a-time" else self.unsaid[channel]
            self.unsaid[channel] = 0
            self.say("credit", channel, amount=amount)
        return True

    def request(self, channel: int) -> bool:
        if channel in self.asked or self.is_left or (self.is_broken and self.bug != "asks-over-a-broken-one"):
            return False
        self.asked.add(channel)
        return self.say("requested", channel, credit=0 if self.bug == "requests-without-credit" else self.own)

    def knows(self, channel: int) -> bool:
        return channel in self.asked and channel not in self.gone

    def data(self, channel: int, parts: int, backlog: int) -> bool:
        if self.is_broken:
            return True
        if not self.knows(channel):
            return self.bug == "drops-silently" or self.stop_producer(channel)
        buffers = 1 if self.bug == "parts-are-one-buffer" else max(parts, 1)
        if self.take(channel, buffers, max(parts, 1) if self.bug == "memory-for-each-part" else 1):
            self.learn(channel, backlog)
        return True

    def take(self, channel: int, buffers: int, memory: int = 1) -> bool:
        self.wanted[channel] = max(self.wanted[channel] - 1, 0)
        if not self.free[channel]:
            self.fail(channel, "own")
            return False
        self.free[channel] = max(self.free[channel] - memory, 0)
        self.queued[channel] += buffers
        return True

    def unsaved(self, channel: int) -> bool:
        if self.is_broken:
            return True
        if not self.knows(channel):
            return self.stop_producer(channel)
        if self.take(channel, 1):
            if self.bug == "unsaved-data-is-given-back":
                self.queued[channel] -= 1
                self.free[channel] += 1
            if self.bug == "one-failure-breaks-all":
                return self.break_with("own")
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
        self.wanted[channel] = backlog + (0 if self.bug == "forgets-its-own" else self.own)
        lacking = max(self.wanted[channel] - self.free[channel], 0)
        self.free[channel] += lacking
        self.memory[channel] += lacking
        before = self.unsaid[channel]
        self.unsaid[channel] += lacking
        silent = channel in self.faulty and self.bug != "announces-after-an-error"
        if lacking and not before and not silent:
            self.line.append(channel)
            if len(self.line) == 1 or self.bug == "sends-into-a-full-connection":
                self.speak()

    def fail(self, channel: int, cause: str) -> None:
        if channel not in self.faulty or self.bug == "last-error-stays":
            self.say("failed", channel, cause=cause)
        self.faulty.add(channel)

    def not_found(self, channel: int) -> bool:
        if not self.is_broken and self.knows(channel):
            if self.bug == "not-found-is-an-error":
                self.fail(channel, "remote")
            else:
                self.say("state_asked", channel)
        return True

    def error(self, channel: int) -> bool:
        if not self.is_broken and self.knows(channel):
            self.fail(channel, "local" if self.bug == "blames-this-end" else "remote")
        return True

    def release(self, channel: int) -> bool:
        if not self.knows(channel):
            return False
        self.gone.add(channel)
        self.queued[channel] = self.free[channel] = 0
        self.memory[channel] = self.own if self.bug == "keeps-its-own-buffers" else 0
        if any(self.knows(one) for one in range(self.count)) or self.bug == "connection-stays":
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
        if self.bug == "reset-is-an-error-here" and how == "reset":
            return self.break_with("local")
        return self.break_with(_BREAKS[how])

    def break_with(self, cause: str) -> bool:
        if self.is_broken:
            return True
        for channel in range(self.count):
            if self.knows(channel):
                self.fail(channel, cause)
        self.is_broken = True
        self.line = []
        if self.bug != "stays-open":
            self.out.append({"type": "closed"})
        return True


make = ReceivingConnection
