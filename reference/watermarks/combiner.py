"""The watermark combiner: one watermark and status from the several inputs of an operator (or splits of a source).

It looks like the valve and is not (COMB-8). There is no alignment: a low input that becomes active again holds the
output back until it has caught up, where the valve would ignore it. And a watermark wakes an idle input, where the
valve would drop it.

Choices. `flink-38454` (CombinedWatermarkStatus of Flink 2.2 and later): when all inputs are idle the maximum is put
out. `flink-18934` (1.14 to 2.1): all idle leaves the combined watermark as it is.

On the wire. Observations come watermark first, then status; statuses need not alternate.
"""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, law, sometimes
from tidegate.reference.elements import (
    MAX,
    MIN,
    Index,
    Long,
    Parts,
    Status,
    StatusChange,
    Watermark,
    at_least,
    check_long,
    one_of,
)
from tidegate.reference.model import Component, Order, Outcome, Symmetry, rejected
from tidegate.reference.tuples import rearrange, replace, sorting

SEMANTICS = ("flink-38454", "flink-18934")

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """A combiner over several inputs."""

    inputs: Annotated[
        Parts,
        "How many inputs: one at least. A source without splits, which has none, is in `multiplexer`.",
    ] = attrs.field(validator=at_least(1))
    semantics: Annotated[
        str,
        "`flink-38454` is the default, Flink 2.2 and later. `flink-18934` is 1.14 to 2.1: when all are idle the "
        "combined watermark stays as it is; the status is still emitted.",
    ] = attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Input:
    watermark: Long = MIN
    idle: bool = False


@attrs.frozen
class State:
    config: Config
    inputs: tuple[Input, ...]
    combined: Long = MIN
    idle: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class InputWatermark:
    """A watermark arrives on an input."""

    type: ClassVar[str] = "watermark"
    input: Index
    timestamp: Long = attrs.field(validator=check_long)


@attrs.frozen
class InputStatus:
    """A status arrives on an input."""

    type: ClassVar[str] = "status"
    input: Index
    status: Status


Event = InputWatermark | InputStatus

# --- observations ---------------------------------------------------------------------------------------------

Observation = Watermark | StatusChange

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Every input awake and at MIN; nothing emitted yet."""
    return (State(config, (Input(),) * config.inputs),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if not 0 <= event.input < state.config.inputs:
        return rejected(state, "COMB-2")
    before = state.inputs[event.input]
    if isinstance(event, InputWatermark):
        after = Input(max(before.watermark, event.timestamp), idle=False)
        return (recombine(state, event.input, after, None),)
    after = Input(before.watermark, idle=event.status is Status.IDLE)
    return (recombine(state, event.input, after, event.status),)


def recombine(state: State, index: int, changed: Input, status: Status | None) -> Outcome[State, Observation]:
    """Take over the changed input, derive the combined values anew, and emit what is new in them."""
    inputs = replace(state.inputs, index, changed)
    value, rule = compute_combined(state.config, inputs, state.combined)
    idle = all(one.idle for one in inputs)
    rules: tuple[str, ...] = ("COMB-1", rule, "COMB-4") if status is None else (rule, "COMB-4", "COMB-6")
    observations: tuple[Observation, ...] = ()
    if value > state.combined:
        observations = (Watermark(value),)
    if idle != state.idle:
        if status is None:
            # Woken by a watermark: the operator announces nothing.
            rules = (*rules, "COMB-7")
        else:
            observations = (*observations, StatusChange(status))
    return Outcome(State(state.config, inputs, max(value, state.combined), idle), observations, rules)


def compute_combined(config: Config, inputs: tuple[Input, ...], combined: Long) -> tuple[Long, str]:
    """The value that the inputs amount to, and the rule that says so."""
    awake = [one.watermark for one in inputs if not one.idle]
    if awake:
        return min(awake), "COMB-2"
    if inputs and config.semantics == "flink-38454":
        return max(one.watermark for one in inputs), "COMB-3"
    return combined, "COMB-3"


# --- claims ---------------------------------------------------------------------------------------------------


@always("COMB-4")
def combined_never_falls(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The combined watermark never falls, and each one emitted is higher than the one before."""
    emitted = [seen.timestamp for seen in outcome.observations if isinstance(seen, Watermark)]
    return all(timestamp > before.combined for timestamp in emitted) and outcome.state.combined >= before.combined


@invariant("COMB-4")
def idle_when_all_inputs_are(state: State) -> bool:
    """The combination is idle exactly when every input is."""
    return state.idle == all(one.idle for one in state.inputs)


@always("COMB-6")
def watermark_before_status(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Where one event gives both a watermark and a status, the watermark comes first."""
    kinds = [type(seen) for seen in outcome.observations]
    return len(kinds) < 2 or kinds == [Watermark, StatusChange]


@invariant("COMB-3")
def all_idle_puts_out_the_maximum(state: State) -> bool:
    """While every input is idle, the combined watermark is at least the maximum over all inputs."""
    return not state.idle or state.combined >= max(one.watermark for one in state.inputs)


@sometimes("COMB-3", "COMB-6")
def a_watermark_and_then_idle(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The last input turns idle, and the maximum comes out before that is forwarded."""
    return len(outcome.observations) > 1 and outcome.observations[-1] == StatusChange(Status.IDLE)


# --- laws -----------------------------------------------------------------------------------------------------


def small_and_extreme_values() -> Iterator[tuple[Long]]:
    yield from ((value,) for value in (MIN, Long(-1), Long(0), Long(7), MAX))


@law("COMB-5", samples=small_and_extreme_values)
def no_inputs_change_nothing(combined: Long) -> bool:
    """Without any input there is nothing to combine, and no idleness either."""
    value, _rule = compute_combined(Config(1), (), combined)
    return value == combined


def combine_ignoring_idleness(inputs: tuple[Input, ...], combined: Long) -> Long:
    """Flink 1.5 to 1.13: the minimum over all inputs, idle or not."""
    return max(combined, min(one.watermark for one in inputs))


def rising_pairs() -> Iterator[tuple[Long, Long]]:
    values = [MIN, Long(-1), Long(0), Long(7), MAX]
    yield from ((low, high) for low, high in product(values, values) if low < high)


@law("COMB-9", samples=rising_pairs)
def idle_input_used_to_block(low: Long, high: Long) -> bool:
    """Before 1.14 an idle input held the minimum back; today the other inputs decide."""
    inputs = (Input(low, idle=True), Input(high))
    now, _rule = compute_combined(Config(2), inputs, MIN)
    return now == high and combine_ignoring_idleness(inputs, MIN) == low


@law("COMB-10", samples=rising_pairs)
def ended_input_leaves_the_others_to_decide(other: Long, _any: Long) -> bool:
    """An input at MAX, as the end of data leaves it, never holds the others back."""
    value, _rule = compute_combined(Config(2), (Input(MAX), Input(other)), MIN)
    return value == other


@law("COMB-8", samples=rising_pairs)
def reactivated_low_input_holds_back(low: Long, high: Long) -> bool:
    """A low input that becomes active again holds the combination back, where a valve would not count it.

    Two inputs, the first at `high`, the second re-activated at `low`: unlike the valve, nothing new comes out.
    """
    value, _rule = compute_combined(Config(2), (Input(high), Input(low)), low)
    return value == low


# --- symmetry -------------------------------------------------------------------------------------------------


def rearrange_inputs(state: State, order: Order) -> State:
    return State(state.config, rearrange(state.inputs, order), state.combined, state.idle)


def sort_inputs(state: State) -> Order:
    return sorting([(one.watermark, one.idle) for one in state.inputs])


SYMMETRY = Symmetry("inputs", "input", rearrange_inputs, sort_inputs)

COMPONENT = Component.of(__name__, title="The watermark combiner")
