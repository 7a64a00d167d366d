"""The outputs of an operator, OUT-1 … OUT-11, OUT-13 … OUT-16.

What the outputs are given is appended to a common log; a `FailedError` ends the round.
"""

from collections.abc import Callable

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

SEMANTICS = ("flink-2.3", "flink-1.5")

_MOST = 1_000_000
_STATUSES = ("active", "idle")
_CHANGES = ("nothing", "value", "record")

#: The id of a side output and the type of its records.
Tag = tuple[str, str]


class FailedError(Exception):
    """An output failed; `seen` is what the operator gets."""

    def __init__(self, seen: wire.Json) -> None:
        super().__init__(str(seen))
        self.seen = seen


def read_tag(obj: wire.Json) -> Tag:
    tag = obj["tag"]
    if type(tag) is not dict or not wire.get_string(tag, "id"):
        raise wire.BadRequestError("a tag has an id that is not empty")
    return wire.get_string(tag, "id"), wire.get_string(tag, "of")


class Port:
    """One output of the operator."""

    def __init__(self, index: int, config: wire.Json) -> None:
        self.index = index
        self.is_network = wire.get_choice(config, "type", ("network", "chained")) == "network"
        self.unaligned = self.is_network and wire.get_boolean(config, "unaligned")
        self.keyed = not self.is_network and wire.get_boolean(config, "keyed")
        self.changes = "nothing" if self.is_network else wire.get_choice(config, "changes", _CHANGES)
        self.subpartitions: int | None = None
        if self.is_network and "subpartitions" in config:
            self.subpartitions = wire.get_at_least(config, "subpartitions", 1)
        self.tag = read_tag(config) if "tag" in config else None
        self.has_names = "names" in config
        self.names: list[str] = config.get("names", [])
        if type(self.names) is not list or not all(type(name) is str for name in self.names):
            raise wire.BadRequestError("names must be a list of names")
        self.active = True
        self.watermark = wire.LOWEST
        self.hops = 0


class Outputs:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.host = host
        self.old = wire.get_semantics(config, SEMANTICS) == "flink-1.5"
        if ("selectors" in config) != self.old:
            raise wire.BadRequestError("selectors belongs to flink-1.5, and to no other")
        self.selects = self.old and wire.get_boolean(config, "selectors")
        self.reuse = wire.get_boolean(config, "object_reuse")
        self.ports = self.read_ports(config.get("outputs"))
        if self.selects and not self.ports:
            raise wire.BadRequestError("an operator with selectors has at least one output")
        self.network = [port for port in self.ports if port.is_network]
        self.chained = [port for port in self.ports if not port.is_network]
        self.order = self.network + self.chained
        self.watermark = wire.LOWEST
        self.records_out = 0
        self.task_records_out = 0

    def read_ports(self, outputs: object) -> list[Port]:
        if type(outputs) is not list or not all(type(output) is dict for output in outputs):
            raise wire.BadRequestError("outputs must be a list of objects")
        ports = [Port(index, output) for index, output in enumerate(outputs)]
        for port in ports:
            if port.has_names != self.selects:
                raise wire.BadRequestError("names belongs to an operator with selectors, and to no other")
            if self.old and (port.unaligned or port.subpartitions is not None):
                raise wire.BadRequestError("flink-1.5 has no unaligned checkpoints, and knows the number of consumers")
        return ports

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
                return self.serve(self.network, lambda port, out: self.broadcast(port, out, {"type": "end_of_data"}))
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
                break
        return out

    # --- one output

    def wants(self, port: Port, tag: Tag | None) -> bool:
        return (port.tag or ("",))[0] == (tag or ("",))[0]

    def fail(self, port: Port, error: str, wrapped: int) -> FailedError:
        return FailedError({"type": "failed", "output": port.index, "error": error, "wrapped": wrapped})

    def give(self, port: Port, out: wire.Observations, *things: wire.Json) -> None:
        """A writer fails before it has written; a chained operator somewhere behind the call, once for each hop."""
        if port.hops and port.is_network:
            raise self.fail(port, "io", 1)
        out += [{"output": port.index, **thing} for thing in things]
        if port.hops:
            raise self.fail(port, "chained", port.hops)

    def broadcast(self, port: Port, out: wire.Observations, event: wire.Json) -> None:
        """What the task itself sends; its errors are not wrapped."""
        if port.hops:
            raise self.fail(port, "io", 0)
        out.append({"output": port.index, **event})

    def give_record(self, port: Port, out: wire.Observations, record: int, value: int, content: int) -> None:
        given = {"type": "process", "record": record, "value": value, "content": content}
        if port.keyed or self.old:
            self.give(port, out, {"type": "key_context"}, given)
        else:
            self.give(port, out, given)

    def give_watermark(self, port: Port, out: wire.Observations, timestamp: int) -> None:
        mark = {"type": "watermark", "timestamp": str(timestamp)}
        if port.subpartitions is None:
            self.give(port, out, mark)
        else:
            self.give(port, out, *[{**mark, "subpartition": number} for number in range(port.subpartitions)])

    # --- records

    def on_record(self, event: wire.Json) -> wire.Observations:
        content = wire.get_integer(event, "content")
        if not 0 <= content <= _MOST:
            raise wire.BadRequestError(f"content must be in 0..{_MOST}")
        tag = read_tag(event) if "tag" in event else None
        if ("selected" in event) != self.selects:
            raise wire.BadRequestError("a record has selected names where the operator has selectors, and only there")
        if not self.selects:
            return self.emit(content, tag, self.order)
        if tag is not None:
            return wire.rejected()
        return self.emit(content, None, self.select(event["selected"]))

    def select(self, names: object) -> list[Port]:
        if type(names) is not list or not all(type(name) is str for name in names):
            raise wire.BadRequestError("selected must be a list of names")
        chosen = [port for port in self.ports if not port.names or set(port.names) & set(names)]
        self.host.random.shuffle(chosen)
        return chosen

    def emit(self, content: int, tag: Tag | None, order: list[Port]) -> wire.Observations:
        takers = [port for port in order if self.wants(port, tag)]
        objects = 0
        now = content

        def hand(port: Port, out: wire.Observations) -> None:
            nonlocal objects, now
            self.count_at(port)
            if port.is_network:
                self.give(port, out, {"type": "write", "content": now})
            else:
                record, value, objects = self.choose_objects(objects, is_last=port is order[-1])
                # With object reuse those that come later find what those before them did.
                found = now
                now += self.is_seen_changed(port.changes)
                self.give_record(port, out, record, value, found)

        out = self.serve(takers, hand)
        self.count_after(out)
        return out

    def is_seen_changed(self, changes: str) -> bool:
        """Whether what a chained operator does to its record shows in what the next ones are given."""
        return changes == "value" and self.reuse

    def choose_objects(self, given: int, *, is_last: bool) -> tuple[int, int, int]:
        """Which record and value a chained operator gets, and how many copies were given then."""
        if not self.reuse:
            return given + 1, given + 1, given + 1
        if is_last:
            return 0, 0, given
        return given + 1, 0, given + 1

    # --- counters

    def count_at(self, port: Port) -> None:
        if not self.old and port in self.chained[:1]:
            self.records_out += 1

    def count_after(self, out: wire.Observations) -> None:
        if self.old:
            self.records_out += 1
            self.task_records_out += not self.chained
            return
        if not self.chained:
            self.records_out += 1
        failed = bool(out) and out[-1]["type"] == "failed"
        if not failed:
            self.task_records_out += any(one["type"] == "write" for one in out)

    # --- time

    def on_watermark(self, timestamp: int) -> wire.Observations:
        order = self.order
        several = len(self.ports) != 1 and not self.selects
        if self.old and several and not all(port.active for port in self.ports):
            order = []
        self.watermark = timestamp

        def hand(port: Port, out: wire.Observations) -> None:
            if port.active or self.old:
                port.watermark = timestamp
            if port.active:
                self.give_watermark(port, out, timestamp)

        return self.serve(order, hand)

    def on_status(self, status: str) -> wire.Observations:
        if self.old:
            return self.on_chain_status(status)
        active = status == "active"

        def hand(port: Port, out: wire.Observations) -> None:
            if port.active != active:
                port.active = active
                self.give(port, out, {"type": "status", "status": status})

        return self.serve(self.order, hand)

    def on_chain_status(self, status: str) -> wire.Observations:
        active = status == "active"
        if all(port.active == active for port in self.ports):
            return []
        for port in self.ports:
            port.active = active
        return self.serve(self.network, lambda port, out: self.give(port, out, {"type": "status", "status": status}))

    # --- others

    def on_latency_marker(self) -> wire.Observations:
        if not self.ports:
            return []
        chosen = [self.host.random.choice(self.ports)]
        return self.serve(chosen, lambda port, out: self.give(port, out, {"type": "latency_marker"}))

    def hand_attributes(self, port: Port, out: wire.Observations) -> None:
        if port.subpartitions is None:
            self.give(port, out, {"type": "record_attributes"})

    def on_barrier(self, *, unaligned: bool) -> wire.Observations:
        def hand(port: Port, out: wire.Observations) -> None:
            overtakes = unaligned and port.unaligned
            self.broadcast(port, out, {"type": "barrier", "unaligned": overtakes, "priority": overtakes})

        return self.serve(self.network, hand)

    def on_fault(self, output: int, hops: int) -> wire.Observations:
        if not 0 <= output < len(self.ports) or (self.ports[output].is_network and hops > 1):
            return wire.rejected()
        self.ports[output].hops = hops
        return []

    def on_read_metrics(self) -> wire.Observations:
        gauges = [str(port.watermark) for port in self.ports]
        single = len(gauges) == 1 and not self.selects
        seen = {"records_out": self.records_out, "task_records_out": self.task_records_out}
        gauge = gauges[0] if single else str(self.watermark)
        return [{"type": "metrics", **seen, "watermark": gauge, "output_watermarks": gauges}]


make = Outputs

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("OUT-1", "OUT-4")
class OutputsChainedFirst(Outputs):
    """Chained operators are served before the network, and with object reuse change what is sent."""

    __init__ = changed(Outputs.__init__, "self.network + self.chained", "self.chained + self.network")


@wrong("OUT-1", "OUT-4")
class OutputsEdgesAsTheyStand(Outputs):
    """Outputs are served in the order of their edges, whatever they lead to."""

    __init__ = changed(Outputs.__init__, "self.network + self.chained", "self.ports")


@wrong("OUT-2")
class OutputsKeyAfterRecord(Outputs):
    """A chained operator is told the key of a record after it was given it."""

    give_record = changed(Outputs.give_record, '{"type": "key_context"}, given', 'given, {"type": "key_context"}')


@wrong("OUT-2", origin="Flink 1.5")
class OutputsKeysToldToAll(Outputs):
    """Operators that have no keys are told the key, too."""

    give_record = changed(Outputs.give_record, "port.keyed or self.old", "True")


@wrong("OUT-2")
class OutputsKeysNeverTold(Outputs):
    """Chained operators keep the key of the record before."""

    give_record = changed(Outputs.give_record, "port.keyed or self.old", "False")


@wrong("OUT-3", "OUT-4")
class OutputsValuesSharedWithoutReuse(Outputs):
    """Without object reuse the record is copied, but not its value."""

    is_seen_changed = changed(Outputs.is_seen_changed, " and self.reuse", "")
    choose_objects = changed(Outputs.choose_objects, "given + 1, given + 1, given + 1", "given + 1, 0, given + 1")


@wrong("OUT-3")
class OutputsRecordsSharedWithReuse(Outputs):
    """With object reuse all operators get the same record, and one that refills it changes it for the others."""

    is_seen_changed = changed(Outputs.is_seen_changed, 'changes == "value"', 'changes != "nothing"')
    choose_objects = changed(Outputs.choose_objects, "if is_last:", "if True:")


@wrong("OUT-3")
class OutputsLastGetsACopy(Outputs):
    """With object reuse the last output gets a record of its own, too."""

    choose_objects = changed(Outputs.choose_objects, "if is_last:", "if False:")


@wrong("OUT-3")
class OutputsReuseHidesChanges(Outputs):
    """With object reuse those that come later do not see what was done to the value."""

    def is_seen_changed(self, changes: str) -> bool:
        return False


@wrong("OUT-5")
class OutputsTagsComparedWithTypes(Outputs):
    """A tag with the same id and another type is another tag."""

    def wants(self, port: Port, tag: Tag | None) -> bool:
        return port.tag == tag


@wrong("OUT-5", "OUT-16")
class OutputsTaggedTakeTheMainStream(Outputs):
    """Side outputs get the main stream, too."""

    def wants(self, port: Port, tag: Tag | None) -> bool:
        return tag is None or super().wants(port, tag)


@wrong("OUT-5")
class OutputsMainStreamTakesSideRecords(Outputs):
    """Side records go to the outputs of the main stream, too."""

    def wants(self, port: Port, tag: Tag | None) -> bool:
        return port.tag is None or super().wants(port, tag)


@wrong("OUT-6", "OUT-14")
class OutputsOthersServedAfterFailure(Outputs):
    """The outputs behind one that failed are served all the same."""

    serve = changed(Outputs.serve, "break", "pass")


@wrong("OUT-6")
class OutputsWrappedOnce(Outputs):
    """The failure of a chained operator is wrapped once, however many hops away it happened."""

    give = changed(Outputs.give, '"chained", port.hops', '"chained", 1')


@wrong("OUT-6")
class OutputsIoErrorsBare(Outputs):
    """An I/O error of a writer reaches the operator as it is."""

    give = changed(Outputs.give, '"io", 1', '"io", 0')


@wrong("OUT-6")
class OutputsWriterFailsAfterwards(Outputs):
    """A writer that fails has written the element before."""

    give = changed(
        Outputs.give,
        "if port.hops and port.is_network:",
        "if port.hops and port.is_network:\n    out += [{'output': port.index, **thing} for thing in things]",
    )


@wrong("OUT-6", "OUT-9", "OUT-7", "OUT-10")
class OutputsFailedStatusNotNoted(Outputs):
    """A status whose announcement failed does not count as announced."""

    on_status = changed(
        Outputs.on_status,
        "port.active = active",
        "pass",
        'self.give(port, out, {"type": "status", "status": status})',
        'self.give(port, out, {"type": "status", "status": status})\nport.active = active',
    )


@wrong("OUT-6", "OUT-8")
class OutputsFailedWatermarkNotNoted(Outputs):
    """A watermark at which an output failed does not show in its gauge."""

    on_watermark = changed(
        Outputs.on_watermark, "port.active or self.old", "not port.hops if port.active else self.old"
    )


@wrong("OUT-7")
class OutputsLateWatermarksDropped(Outputs):
    """A watermark below the one before is dropped."""

    def on_watermark(self, timestamp: int) -> wire.Observations:
        if timestamp < self.watermark:
            self.watermark = timestamp
            return []
        return super().on_watermark(timestamp)


@wrong("OUT-7", "OUT-8")
class OutputsTaggedOutputsWithoutTime(Outputs):
    """Side outputs get no watermarks, so windows behind them never fire."""

    on_watermark = changed(
        Outputs.on_watermark, "self.serve(order", "self.serve([port for port in order if port.tag is None]"
    )


@wrong("OUT-7", "OUT-8")
class OutputsWatermarksPassWhileIdle(Outputs):
    """A watermark passes although the output has announced that it is idle."""

    on_watermark = changed(
        Outputs.on_watermark, "if port.active or self.old:", "if True:", "if port.active:", "if True:"
    )


@wrong("OUT-8", origin="Flink 1.5 to 1.13")
class OutputsGaugeMovesWhileIdle(Outputs):
    """The gauge of an output shows watermarks that were dropped."""

    on_watermark = changed(Outputs.on_watermark, "port.active or self.old", "True")


@wrong("OUT-8")
class OutputsOperatorGaugeByWhatPassed(Outputs):
    """The gauge of an operator with several outputs stands still while one of them is idle."""

    on_watermark = changed(
        Outputs.on_watermark,
        "self.watermark = timestamp",
        "if all(port.active for port in self.ports):\n    self.watermark = timestamp",
    )


@wrong("OUT-8")
class OutputsOperatorGaugeOfItsOwn(Outputs):
    """The gauge of an operator with one output moves while that is idle."""

    on_read_metrics = changed(Outputs.on_read_metrics, "len(gauges) == 1 and not self.selects", "False")


@wrong("OUT-9")
class OutputsFirstStatusTold(Outputs):
    """The first status is passed on even if it is active."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.told: set[Port] = set()

    on_status = changed(
        Outputs.on_status,
        "if port.active != active:",
        "if port.active != active or port not in self.told:\n    self.told.add(port)",
    )


@wrong("OUT-9")
class OutputsStatusesRepeated(Outputs):
    """A status is passed on although nothing changed."""

    on_status = changed(Outputs.on_status, "port.active != active", "True")


@wrong("OUT-9", origin="FLINK-18934")
class OutputsStatusToNetworkOnly(Outputs):
    """Chained operators are not told the status: an idle input of a two-input operator holds back its watermark."""

    on_status = changed(Outputs.on_status, "self.give(", "port.is_network and self.give(")


@wrong("OUT-9", semantics="flink-1.5")
class OutputsOldChainedToldStatus(Outputs):
    """The one status of the old chain is told to chained operators, too."""

    on_chain_status = changed(Outputs.on_chain_status, "self.network", "self.order")


@wrong("OUT-10", origin="FLINK-22881")
class OutputsIdleRecordFlaps(Outputs):
    """A record that is emitted while idle is wrapped into active and idle, so statuses flood the network."""

    def give(self, port: Port, out: wire.Observations, *things: wire.Json) -> None:
        if port.active or things[-1]["type"] not in {"write", "process"}:
            super().give(port, out, *things)
            return
        out.append({"type": "status", "output": port.index, "status": "active"})
        super().give(port, out, *things)
        out.append({"type": "status", "output": port.index, "status": "idle"})


@wrong("OUT-10", "OUT-9", "OUT-7")
class OutputsIdleRecordActivates(Outputs):
    """A record that is emitted while idle ends the idleness."""

    def give(self, port: Port, out: wire.Observations, *things: wire.Json) -> None:
        if not port.active and things[-1]["type"] in {"write", "process"}:
            out.append({"type": "status", "output": port.index, "status": "active"})
            port.active = True
        super().give(port, out, *things)


@wrong("OUT-10")
class OutputsIdleRecordDropped(Outputs):
    """Records are dropped while idle."""

    emit = changed(Outputs.emit, "self.count_at(port)", "self.count_at(port)\nif not port.active:\n    return")


@wrong("OUT-11")
class OutputsMarkerOnEveryOutput(Outputs):
    """A latency marker takes every output, and multiplies."""

    on_latency_marker = changed(Outputs.on_latency_marker, "[self.host.random.choice(self.ports)]", "self.ports")


@wrong("OUT-11")
class OutputsMarkerDroppedWhileIdle(Outputs):
    """Latency markers are dropped while idle."""

    on_latency_marker = changed(
        Outputs.on_latency_marker, "self.serve(chosen", "self.serve([port for port in chosen if port.active]"
    )


@wrong("OUT-11")
class OutputsMarkerNeedsMainStream(Outputs):
    """An operator that has side outputs only drops latency markers."""

    on_latency_marker = changed(
        Outputs.on_latency_marker,
        "if not self.ports:",
        "ports = [port for port in self.ports if port.tag is None]\nif not ports:",
        "choice(self.ports)",
        "choice(ports)",
    )


@wrong("OUT-13", "OUT-7")
class OutputsUnknownConsumersGetABroadcast(Outputs):
    """A watermark is broadcast although the number of consumers is not known."""

    give_watermark = changed(Outputs.give_watermark, "port.subpartitions is None", "True")


@wrong("OUT-13", "OUT-7")
class OutputsFirstSubpartitionOnly(Outputs):
    """Where the number of consumers is not known a watermark is written to the first subpartition only."""

    give_watermark = changed(Outputs.give_watermark, "range(port.subpartitions)", "range(1)")


@wrong("OUT-13")
class OutputsAttributesToUnknownConsumers(Outputs):
    """Record attributes are broadcast also where the number of consumers is not known."""

    hand_attributes = changed(Outputs.hand_attributes, "port.subpartitions is None", "True")


@wrong("OUT-14")
class OutputsUnalignedEverywhere(Outputs):
    """An unaligned barrier stays so where the consumer cannot take it."""

    on_barrier = changed(Outputs.on_barrier, "unaligned and port.unaligned", "unaligned")


@wrong("OUT-14")
class OutputsAlignedBarrierOvertakes(Outputs):
    """A barrier that was made an aligned one still overtakes what is queued."""

    on_barrier = changed(Outputs.on_barrier, '"priority": overtakes', '"priority": unaligned')


@wrong("OUT-14")
class OutputsChainedToldEndOfData(Outputs):
    """Chained operators see the end of data as an event."""

    step = changed(Outputs.step, "self.network", "self.order")


@wrong("OUT-14", "OUT-6")
class OutputsEventErrorsWrapped(Outputs):
    """An I/O error in the broadcast of an event is wrapped."""

    broadcast = changed(Outputs.broadcast, '"io", 0', '"io", 1')


@wrong("OUT-15", origin="FLINK-18808")
class OutputsSideRecordsNotCounted(Outputs):
    """Side records are missing in the number of records out."""

    def emit(self, content: int, tag: Tag | None, order: list[Port]) -> wire.Observations:
        before = self.records_out, self.task_records_out
        out = super().emit(content, tag, order)
        if tag is not None and not self.old:
            self.records_out, self.task_records_out = before
        return out


@wrong("OUT-15")
class OutputsCountedForEachOutput(Outputs):
    """A record counts once for each chained output that takes it."""

    count_at = changed(Outputs.count_at, "self.chained[:1]", "self.chained")


@wrong("OUT-15")
class OutputsUnwantedNotCounted(Outputs):
    """An operator with network outputs alone does not count a record that nobody takes."""

    count_after = changed(Outputs.count_after, "if not self.chained:", "if not self.chained and out:")


@wrong("OUT-15", "OUT-6")
class OutputsFailedRecordsNotCounted(Outputs):
    """A record at which the first chained operator fails is not counted."""

    count_after = changed(
        Outputs.count_after,
        "if not failed:",
        "if failed and self.chained:\n"
        '    self.records_out -= out[-1]["output"] == self.chained[0].index\n'
        "if not failed:",
    )


@wrong("OUT-15")
class OutputsTaskCountsFailed(Outputs):
    """The task counts a record although an output failed."""

    count_after = changed(Outputs.count_after, "if not failed:", "if True:")


@wrong("OUT-15", origin="FLINK-18808")
class OutputsTaskCountsEachWrite(Outputs):
    """The task counts a record once for each network output that takes it."""

    count_after = changed(Outputs.count_after, "any(", "sum(")


@wrong("OUT-15")
class OutputsTaskCountsChained(Outputs):
    """Records that stay inside the task count as its records out."""

    count_after = changed(Outputs.count_after, 'any(one["type"] == "write" for one in out)', "bool(out)")


@wrong("OUT-16", semantics="flink-1.5")
class OutputsUnnamedNeedSelection(Outputs):
    """An output without names gets nothing."""

    select = changed(Outputs.select, "not port.names or ", "")


@wrong("OUT-16", semantics="flink-1.5")
class OutputsSelectedTwiceServedTwice(Outputs):
    """An output of which two names were selected gets the record twice."""

    select = changed(
        Outputs.select,
        "for port in self.ports",
        "for port in self.ports for _ in range(sum(name in port.names for name in names) or 1)",
    )


@wrong("OUT-16", semantics="flink-1.5")
class OutputsFirstSelectedOnly(Outputs):
    """Only the first of the selected outputs is served."""

    select = changed(Outputs.select, "self.host.random.shuffle(chosen)", "del chosen[1:]")


@wrong("OUT-16", semantics="flink-1.5")
class OutputsSelectorsTakeSideRecords(Outputs):
    """An operator with selectors treats side records like all others."""

    on_record = changed(Outputs.on_record, "if tag is not None:", "if False:")


@wrong("OUT-5", "OUT-4", "OUT-1", "OUT-10")
class OutputsTagsStripped(Outputs):
    """Blanks around the id of a tag do not count."""

    def wants(self, port: Port, tag: Tag | None) -> bool:
        return super().wants(port, tag and (tag[0].strip(), tag[1]))
