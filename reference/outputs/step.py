"""What the outputs of an operator does: where it starts, and what each event leads to."""

from itertools import permutations

import attrs

from tidegate.reference import elements
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.model import InvalidInputError, Outcome, rejected
from tidegate.reference.outputs import handing, values
from tidegate.reference.outputs.values import Config, Event, Observation, State

Outcomes = tuple[Outcome[State, Observation], ...]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Every output has announced that it is active; nothing was counted yet."""
    return (State(config, (values.Port(),) * len(config.outputs)),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> Outcomes:
    if isinstance(event, values.Record):
        return on_record(state, event)
    if isinstance(event, Watermark):
        return (on_watermark(state, event.timestamp),)
    if isinstance(event, StatusChange):
        return (on_status(state, event.status),)
    if isinstance(event, elements.LatencyMarker):
        return on_latency_marker(state)
    if isinstance(event, values.RecordAttributes):
        return on_record_attributes(state)
    if isinstance(event, values.Barrier):
        return (on_barrier(state, unaligned=event.unaligned),)
    if isinstance(event, values.EndOfData):
        return (on_end_of_data(state),)
    if isinstance(event, values.Fault):
        return on_fault(state, event)
    return (on_read_metrics(state),)


def on_record(state: State, event: values.Record) -> Outcomes:
    config = state.config
    if (event.selected is not None) != bool(config.selectors):
        raise InvalidInputError("a record has selected names where the operator has selectors, and only there")
    if event.selected is None:
        return (handing.emit(state, event, handing.order_of(config)),)
    if event.tag is not None:
        return rejected(state, "OUT-16")
    chosen = [index for index, output in enumerate(config.outputs) if handing.is_chosen(output, event.selected)]
    return tuple(dict.fromkeys(handing.emit(state, event, order) for order in permutations(chosen)))


def on_watermark(state: State, timestamp: Long) -> Outcome[State, Observation]:
    order = handing.order_of(state.config)
    broadcasting = len(order) != 1 and not state.config.selectors
    if handing.is_dated(state.config) and broadcasting and not all(port.active for port in state.ports):
        order = ()

    def hand(index: int, port: values.Port) -> handing.Answer:
        moved = attrs.evolve(port, watermark=timestamp)
        if not port.active:
            return (moved if handing.is_dated(state.config) else port), ()
        return moved, handing.give(state, index, *compute_watermarks(state.config.outputs[index], index, timestamp))

    rules = (*handing.because_unknown(state.config), "OUT-7", "OUT-8", "OUT-1", *handing.because_selected(state.config))
    return handing.hand_to(attrs.evolve(state, watermark=timestamp), order, hand, rules)


def compute_watermarks(output: values.Output, index: int, timestamp: Long) -> tuple[values.WatermarkOut, ...]:
    """OUT-13: one for all, or one for each subpartition where the consumers are not known."""
    if isinstance(output, values.Network) and output.subpartitions is not None:
        return tuple(
            values.WatermarkOut(index, timestamp, subpartition) for subpartition in range(output.subpartitions)
        )
    return (values.WatermarkOut(index, timestamp),)


def on_status(state: State, status: Status) -> Outcome[State, Observation]:
    if handing.is_dated(state.config):
        return on_chain_status(state, status)
    active = status is Status.ACTIVE

    def hand(index: int, port: values.Port) -> handing.Answer:
        if port.active == active:
            return port, ()
        return attrs.evolve(port, active=active), handing.give(state, index, values.StatusOut(index, status))

    return handing.hand_to(state, handing.order_of(state.config), hand, ("OUT-9", "OUT-1"))


def on_chain_status(state: State, status: Status) -> Outcome[State, Observation]:
    """Up to 1.13: one status for the chain, which only network outputs are told."""
    active = status is Status.ACTIVE
    changed = attrs.evolve(state, ports=tuple(attrs.evolve(port, active=active) for port in state.ports))
    if changed == state:
        return Outcome(state, (), ("OUT-9",))
    return handing.hand_to(
        changed,
        handing.network_of(state.config),
        lambda i, p: (p, handing.give(state, i, values.StatusOut(i, status))),
        ("OUT-9",),
    )


def on_latency_marker(state: State) -> Outcomes:
    rules = ("OUT-11", *handing.because_selected(state.config))
    if not state.ports:
        return (Outcome(state, (), rules),)
    return tuple(
        handing.finish(state, handing.give(state, index, values.MarkerOut(index)), rules)
        for index in range(len(state.ports))
    )


def on_record_attributes(state: State) -> Outcomes:
    config = state.config
    if handing.is_dated(config):
        return rejected(state, "OUT-13")

    def hand(index: int, port: values.Port) -> handing.Answer:
        return port, () if handing.is_unknown(config.outputs[index]) else handing.give(
            state, index, values.AttributesOut(index)
        )

    return (handing.hand_to(state, handing.order_of(config), hand, ("OUT-13", "OUT-1")),)


def on_barrier(state: State, *, unaligned: bool) -> Outcome[State, Observation]:
    def hand(index: int, port: values.Port) -> handing.Answer:
        output = state.config.outputs[index]
        overtakes = unaligned and isinstance(output, values.Network) and output.unaligned
        return port, handing.give_event(state, index, values.BarrierOut(index, unaligned=overtakes, priority=overtakes))

    return handing.hand_to(state, handing.network_of(state.config), hand, ("OUT-14",))


def on_end_of_data(state: State) -> Outcome[State, Observation]:
    def hand(index: int, port: values.Port) -> handing.Answer:
        return port, handing.give_event(state, index, values.EndOfDataOut(index))

    return handing.hand_to(state, handing.network_of(state.config), hand, ("OUT-14",))


def on_fault(state: State, event: values.Fault) -> Outcomes:
    if not 0 <= event.output < len(state.ports):
        return rejected(state, "OUT-1")
    if isinstance(state.config.outputs[event.output], values.Network) and event.hops > 1:
        return rejected(state, "OUT-6")
    port = attrs.evolve(state.ports[event.output], hops=event.hops)
    return (Outcome(handing.with_port(state, event.output, port), (), ("OUT-6",)),)


def on_read_metrics(state: State) -> Outcome[State, Observation]:
    """OUT-8: the gauge of an operator is that of its only output, or else one that everything moves."""
    gauges = tuple(port.watermark for port in state.ports)
    operator = gauges[0] if len(gauges) == 1 and not state.config.selectors else state.watermark
    metrics = values.Metrics(state.records_out, state.task_records_out, operator, gauges)
    return Outcome(state, (metrics,), ("OUT-15", "OUT-8"))
