"""Generalized watermarks (FLIP-467): one watermark of a declared kind from those of all channels.

Such a watermark is a number or a truth value that an application declares, with how those of several channels become
one: the lowest or the highest number, all or any of the truth values; or *aligned*: a channel that has it is held until
all others have it, too.

Choices. A component has one kind of watermark; several are combined each on their own. That an aligned watermark holds
its channel is for the gate; here the gate is told when to go on.
"""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import Index, Long, Parts, at_least, check_long, one_of
from tidegate.reference.model import Component, Order, Outcome, Rejected, Symmetry, rejected
from tidegate.reference.tuples import rearrange, replace, sorting

NUMBERS, TRUTHS = ("min", "max"), ("and", "or")
COMBINATIONS = (*NUMBERS, *TRUTHS, "aligned")

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """`wait`: nothing is combined before every channel had a watermark."""

    channels: Parts = attrs.field(validator=at_least(1))
    combination: Annotated[
        str,
        "`min` and `max` combine numbers, `and` and `or` truth values; `aligned` takes both, and waits for all "
        "channels each time.",
    ] = attrs.field(validator=one_of(*COMBINATIONS))
    wait: Annotated[
        bool,
        "Nothing is combined before every channel had a watermark. It makes no difference to `aligned`.",
    ] = False


# --- state ----------------------------------------------------------------------------------------------------

Value = Long | bool


@attrs.frozen
class State:
    """The last watermark of each channel, and the last that was emitted."""

    config: Config
    channels: tuple[Value | None, ...]
    last: Value | None = None


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class ChannelNumber:
    """A number arrives. If the combination is of truth values: observe `rejected`."""

    type: ClassVar[str] = "number"
    channel: Index
    value: Long = attrs.field(validator=check_long)


@attrs.frozen
class ChannelTruth:
    """A truth value arrives. If the combination is of numbers: observe `rejected`."""

    type: ClassVar[str] = "truth"
    channel: Index
    value: Annotated[bool, "The value."]


Event = ChannelNumber | ChannelTruth

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Number:
    """A number is emitted."""

    type: ClassVar[str] = "number"
    value: Long


@attrs.frozen
class Truth:
    """A truth value is emitted."""

    type: ClassVar[str] = "truth"
    value: Annotated[bool, "The value."]


@attrs.frozen
class ResumeChannels:
    """All channels that an aligned watermark held go on."""

    type: ClassVar[str] = "resume"


Observation = Number | Truth | ResumeChannels

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """GWM-1: no channel had a watermark."""
    return (State(config, (None,) * config.channels),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if not 0 <= event.channel < state.config.channels:
        return rejected(state, "GWM-1")
    combination = state.config.combination
    kinds = NUMBERS if isinstance(event, ChannelTruth) else TRUTHS
    if combination in kinds:
        return rejected(state, "GWM-1")
    channels = replace(state.channels, event.channel, event.value)
    heard = attrs.evolve(state, channels=channels)
    missing = any(value is None for value in channels)
    if combination == "aligned":
        if missing:
            return (Outcome(heard, (), ("GWM-6",)),)
        again = attrs.evolve(state, channels=(None,) * state.config.channels)
        return (Outcome(again, (show(event.value), ResumeChannels()), ("GWM-6",)),)
    if missing and state.config.wait:
        return (Outcome(heard, (), ("GWM-4",)),)
    combined = combine(combination, channels)
    rule = "GWM-2" if combination in NUMBERS else "GWM-3"
    if combined == state.last:
        return (Outcome(heard, (), ("GWM-5", rule)),)
    return (Outcome(attrs.evolve(heard, last=combined), (show(combined),), (rule, "GWM-5")),)


def combine(combination: str, channels: tuple[Value | None, ...]) -> Value:
    """Of the channels that had a watermark; the others make no difference."""
    values = [value for value in channels if value is not None]
    if combination == "and":
        return all(values)
    if combination == "or":
        return any(values)
    return Long(min(values)) if combination == "min" else Long(max(values))


def show(value: Value) -> Observation:
    return Truth(value) if isinstance(value, bool) else Number(value)


# --- claims ---------------------------------------------------------------------------------------------------


@always("GWM-5")
def only_news_is_emitted(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Each watermark emitted differs from the one before it, unless they are aligned."""
    if before.config.combination == "aligned":
        return outcome.state.last is None
    emitted = [seen.value for seen in outcome.observations if isinstance(seen, Number | Truth)]
    return emitted in ([], [outcome.state.last]) and (not emitted) == (outcome.state.last == before.last)


@always("GWM-2", "GWM-3")
def a_value_of_a_channel(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A watermark emitted is one that some channel has, or has just had."""
    held = (*outcome.state.channels, event.value)
    return all(seen.value in held for seen in outcome.observations if isinstance(seen, Number | Truth))


@always("GWM-4", "GWM-6")
def nobody_is_left_out(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Who is to wait for all channels emits nothing before each of them had a watermark."""
    waits = before.config.wait or before.config.combination == "aligned"
    if not waits or outcome.observations in ((), (Rejected(),)):
        return True
    return all(value is not None for value in replace(before.channels, event.channel, event.value))


@sometimes("GWM-5")
def a_watermark_falls(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Generalized watermarks need not rise."""
    last = before.last
    return last is not None and any(isinstance(seen, Number) and seen.value < last for seen in outcome.observations)


@sometimes("GWM-6")
def all_are_aligned(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The last channel has the watermark, and all go on."""
    return ResumeChannels() in outcome.observations


# --- symmetry -------------------------------------------------------------------------------------------------


def rearrange_channels(state: State, order: Order) -> State:
    return attrs.evolve(state, channels=rearrange(state.channels, order))


def sort_channels(state: State) -> Order:
    return sorting([(value is None, value or 0) for value in state.channels])


SYMMETRY = Symmetry("channels", "channel", rearrange_channels, sort_channels)

COMPONENT = Component.of(__name__, title="Generalized watermarks")
