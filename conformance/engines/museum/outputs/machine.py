"""The outputs of an operator, OUT-1 … OUT-11, OUT-13 … OUT-16.

Each output is an object that takes things and appends what is seen to a common log; a `FailedError` ends the round.
"""

from collections.abc import Callable

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.outputs.ports import FailedError, Port, Tag, read_ports, read_tag

SEMANTICS = ("flink-2.3", "flink-1.5")

_MOST = 1_000_000
_STATUSES = ("active", "idle")


class Outputs:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("outputs-")
        self.host = host
        self.old = wire.get_semantics(config, SEMANTICS) == "flink-1.5"
        if ("selectors" in config) != self.old:
            raise wire.BadRequestError("selectors belongs to flink-1.5, and to no other")
        self.selects = self.old and wire.get_boolean(config, "selectors")
        self.reuse = wire.get_boolean(config, "object_reuse")
        self.ports = read_ports(config.get("outputs"), self.bug, old=self.old, selects=self.selects)
        if self.selects and not self.ports:
            raise wire.BadRequestError("an operator with selectors has at least one output")
        self.network = [port for port in self.ports if port.is_network]
        self.chained = [port for port in self.ports if not port.is_network]
        self.order = self.chained + self.network if self.bug == "chained-first" else self.network + self.chained
        if self.bug == "edges-as-they-stand":
            self.order = list(self.ports)
        self.watermark = wire.LOWEST
        self.records_out = 0
        self.task_records_out = 0

    def step(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "record":
                return self.on_record(event)
            case "watermark":
                return self.on_watermark(wire.get_long(event, "timestamp"))
            case "status":
                return self.on_status(wire.get_choice(event, "status", _STATUSES))
            case "latency_marker":
                return self.on_latency_marker()
            case "record_attributes":
                return wire.rejected() if self.old else self.serve(self.order, self.hand_attributes)
            case "barrier":
                return self.on_barrier(unaligned=wire.get_boolean(event, "unaligned"))
            case "end_of_data":
                told = self.order if self.bug == "chained-told-end-of-data" else self.network
                return self.serve(told, lambda port, out: port.broadcast(out, {"type": "end_of_data"}))
            case "fault":
                return self.on_fault(wire.get_integer(event, "output"), wire.get_at_least(event, "hops", 0))
            case "read_metrics":
                return self.on_read_metrics()
        raise wire.unknown_type(event)

    def serve(self, ports: list[Port], hand: Callable[[Port, wire.Observations], None]) -> wire.Observations:
        """Hand something to one output after the other; the first that fails is the last."""
        out: wire.Observations = []
        for port in ports:
            try:
                hand(port, out)
            except FailedError as error:
                out.append(error.seen)
                if self.bug != "others-served-after-failure":
                    break
        return out

    # --- records

    def on_record(self, event: wire.Json) -> wire.Observations:
        content = wire.get_integer(event, "content")
        if not 0 <= content <= _MOST:
            raise wire.BadRequestError(f"content must be in 0..{_MOST}")
        tag = read_tag(event) if "tag" in event else None
        if tag is not None and self.bug == "tags-stripped":
            tag = (tag[0].strip(), tag[1])
        if ("selected" in event) != self.selects:
            raise wire.BadRequestError("a record has selected names where the operator has selectors, and only there")
        if not self.selects:
            return self.emit(content, tag, self.order)
        if tag is not None and self.bug != "selectors-take-side-records":
            return wire.rejected()
        return self.emit(content, None, self.select(event["selected"]))

    def select(self, names: object) -> list[Port]:
        bug = self.bug
        if type(names) is not list or not all(type(name) is str for name in names):
            raise wire.BadRequestError("selected must be a list of names")
        chosen = []
        for port in self.ports:
            hits = [name for name in names if name in port.names]
            if not port.names and bug != "unnamed-need-selection":
                chosen.append(port)
            elif hits:
                chosen += [port] * (len(hits) if bug == "selected-twice-served-twice" else 1)
        if bug == "first-selected-only":
            return chosen[:1]
        self.host.random.shuffle(chosen)
        return chosen

    def emit(self, content: int, tag: Tag | None, order: list[Port]) -> wire.Observations:
        bug = self.bug
        takers = [port for port in order if port.wants(tag)]
        objects = 0
        now = content

        def hand(port: Port, out: wire.Observations) -> None:
            nonlocal objects, now
            self.count_at(port)
            if not port.active and bug == "idle-record-dropped":
                return
            if not port.active and bug in {"idle-record-flaps", "idle-record-activates"}:
                self.say_status(port, out, "active")
            if port.is_network:
                port.write(out, now)
            else:
                record, value, objects = self.choose_objects(objects, is_last=port is order[-1])
                # With object reuse those that come later find what those before them did.
                found = now
                now += self.is_seen_changed(port.changes)
                port.process(out, record, value, found, tells_key=self.old)
            if not port.active and bug == "idle-record-flaps":
                out.append({"type": "status", "output": port.index, "status": "idle"})

        out = self.serve(takers, hand)
        self.count_after(out, tag)
        return out

    def is_seen_changed(self, changes: str) -> bool:
        """Whether what a chained operator does to its record shows in what the next ones are given."""
        bug = self.bug
        if changes == "record":
            return self.reuse and bug == "records-shared-with-reuse"
        shared = self.reuse or bug == "values-shared-without-reuse"
        return changes == "value" and shared and bug != "reuse-hides-changes"

    def say_status(self, port: Port, out: wire.Observations, status: str) -> None:
        out.append({"type": "status", "output": port.index, "status": status})
        if self.bug == "idle-record-activates":
            port.active = True

    def choose_objects(self, given: int, *, is_last: bool) -> tuple[int, int, int]:
        """Which record and value a chained operator gets, and how many copies were given then."""
        bug = self.bug
        if not self.reuse:
            value = 0 if bug == "values-shared-without-reuse" else given + 1
            return given + 1, value, given + 1
        if (is_last and bug != "last-gets-a-copy") or bug == "records-shared-with-reuse":
            return 0, 0, given
        return given + 1, 0, given + 1

    # --- counters

    def count_at(self, port: Port) -> None:
        if self.old or port.is_network:
            return
        if port is self.chained[0] or self.bug == "counted-for-each-output":
            self.records_out += 1

    def count_after(self, out: wire.Observations, tag: Tag | None) -> None:
        bug = self.bug
        failed = bool(out) and out[-1]["type"] == "failed"
        if self.old:
            self.records_out += 1
            self.task_records_out += not self.chained
            return
        if bug == "side-records-not-counted" and tag is not None:
            self.records_out -= any(one["type"] == "process" and one["output"] == self.chained[0].index for one in out)
            return
        if not self.chained and not (bug == "unwanted-not-counted" and not out):
            self.records_out += 1
        if bug == "failed-records-not-counted" and failed and self.chained:
            self.records_out -= out[-1]["output"] == self.chained[0].index
        written = sum(one["type"] == "write" for one in out)
        if failed and bug != "task-counts-failed":
            return
        self.task_records_out += written if bug == "task-counts-each-write" else bool(written)
        if bug == "task-counts-chained" and not written and out:
            self.task_records_out += 1

    # --- time

    def on_watermark(self, timestamp: int) -> wire.Observations:
        bug = self.bug
        several = len(self.ports) != 1 and not self.selects
        order = self.order
        if self.old and several and not all(port.active for port in self.ports):
            order = []
        late = timestamp < self.watermark
        if bug != "operator-gauge-by-what-passed" or all(port.active for port in self.ports):
            self.watermark = timestamp
        if bug == "late-watermarks-dropped" and late:
            return []

        def hand(port: Port, out: wire.Observations) -> None:
            if bug == "tagged-outputs-without-time" and port.tag is not None:
                return
            if not port.active and bug != "watermarks-pass-while-idle":
                if self.old or bug == "gauge-moves-while-idle":
                    port.watermark = timestamp
                return
            if bug != "failed-watermark-not-noted" or not port.hops:
                port.watermark = timestamp
            port.emit_watermark(out, timestamp)

        return self.serve(order, hand)

    def on_status(self, status: str) -> wire.Observations:
        bug, active = self.bug, status == "active"
        if self.old:
            return self.on_chain_status(status)

        def hand(port: Port, out: wire.Observations) -> None:
            if port.active == active and bug != "statuses-repeated" and not (port.fresh and bug == "first-status-told"):
                return
            port.fresh = False
            if bug == "failed-status-not-noted" and port.hops:
                port.give(out, {"type": "status", "status": status})
            port.active = active
            if bug == "status-to-network-only" and not port.is_network:
                return
            port.give(out, {"type": "status", "status": status})

        return self.serve(self.order, hand)

    def on_chain_status(self, status: str) -> wire.Observations:
        active = status == "active"
        if all(port.active == active for port in self.ports):
            return []
        for port in self.ports:
            port.active = active
        told = self.order if self.bug == "old-chained-told-status" else self.network
        return self.serve(told, lambda port, out: port.give(out, {"type": "status", "status": status}))

    # --- others

    def on_latency_marker(self) -> wire.Observations:
        bug = self.bug
        ports = [port for port in self.ports if port.tag is None] if bug == "marker-needs-main-stream" else self.ports
        if not ports:
            return []
        chosen = ports if bug == "marker-on-every-output" else [self.host.random.choice(ports)]
        if bug == "marker-dropped-while-idle":
            chosen = [port for port in chosen if port.active]
        return self.serve(chosen, lambda port, out: port.give(out, {"type": "latency_marker"}))

    def hand_attributes(self, port: Port, out: wire.Observations) -> None:
        if port.subpartitions is None or self.bug == "attributes-to-unknown-consumers":
            port.give(out, {"type": "record_attributes"})

    def on_barrier(self, *, unaligned: bool) -> wire.Observations:
        bug = self.bug

        def hand(port: Port, out: wire.Observations) -> None:
            overtakes = unaligned and (port.unaligned or bug == "unaligned-everywhere")
            first = overtakes or (unaligned and bug == "aligned-barrier-overtakes")
            port.broadcast(out, {"type": "barrier", "unaligned": overtakes, "priority": first})

        return self.serve(self.network, hand)

    def on_fault(self, output: int, hops: int) -> wire.Observations:
        if not 0 <= output < len(self.ports) or (self.ports[output].is_network and hops > 1):
            return wire.rejected()
        self.ports[output].hops = hops
        return []

    def on_read_metrics(self) -> wire.Observations:
        gauges = [str(port.watermark) for port in self.ports]
        single = len(gauges) == 1 and not self.selects and self.bug != "operator-gauge-of-its-own"
        seen = {"records_out": self.records_out, "task_records_out": self.task_records_out}
        gauge = gauges[0] if single else str(self.watermark)
        return [{"type": "metrics", **seen, "watermark": gauge, "output_watermarks": gauges}]


make = Outputs
