"""Several inputs of one task: which of them is read next.

Each input is a network input of its own. A call reads one of them, in turn among those that are selected, have
something and are not over. Asking an input whether it has something is costly, so what is known is remembered: an
input stays in the round until it said that there is nothing, and the others are asked when none is left, or after the
choice was made, for the next call.

Choices. `StreamMultipleInputProcessor` with `MultipleInputSelectionHandler`. An operator selects all inputs, unless it
has the extension `selection`. A call never goes on after an element: such a task allows no batches, so that the next
element may come from another input. Two quirks are as observed. The first call begins behind input 1,
as if that had been read: with two inputs it is input 0, with more it is input 2. And the end of all data is said only
if the last input to end was drained: if that one was stopped, the call says no more than whether there is more.

On the wire. The bytes of a channel are records, each a length of 4 bytes, big-endian, and a payload that is a
stream element; they may be cut anywhere into buffers. The protocol page has the layout. Bytes that are no stream
element, and watermarks of a subpartition (tag 6), are a `bad_request` error of the whole case.
"""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, law, sometimes
from tidegate.reference.elements import Index, Length, Parts, Position, at_least, one_of
from tidegate.reference.gate import gate
from tidegate.reference.input.network_input import step as network_input
from tidegate.reference.input.network_input import values as one_input
from tidegate.reference.input.network_input.loop import is_available as is_input_available
from tidegate.reference.input.network_input.values import InputStatus, Kind
from tidegate.reference.model import Component, InvalidInputError, Outcome, Rejected, rejected
from tidegate.reference.tuples import replace

#: Flink keeps them in the bits of a long.
MOST_INPUTS = 63
SELECTION = "selection"
EXTENSIONS = (SELECTION,)

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """How many channels each input has. With the extension `selection` the operator selects its inputs."""

    inputs: Annotated[tuple[Parts, ...], "How many channels each input has."] = attrs.field(
        validator=attrs.validators.deep_iterable(at_least(1), Length(2, MOST_INPUTS))
    )
    extension: Annotated[
        str | None,
        "With `selection` there are events `select` and observations `no_progress`. Only for engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """`known` are the inputs that are taken to have something; `ended` those whose data, `over` those that are over.

    `wished` are those that the operator will name when it is asked, `selected` those that count: none before it was
    asked for the first time.
    """

    config: Config
    inputs: tuple[one_input.State, ...]
    last: int = 1
    known: tuple[bool, ...] = ()
    ended: tuple[bool, ...] = ()
    over: tuple[bool, ...] = ()
    drained: bool = True
    wished: frozenset[int] = frozenset()
    selected: frozenset[int] | None = None


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Buffer:
    """A buffer arrives on a channel of an input."""

    type: ClassVar[str] = "buffer"
    input: Annotated[Index, "The number of the input, from 0. One out of range is rejected."]
    channel: Annotated[Index, "The channel, as its input counts it, from 0. One out of range is rejected."]
    data: Annotated[bytes, "Bytes of the channel, wherever they were cut."]


@attrs.frozen
class ChannelEvent:
    """A barrier or an ending arrives on a channel of an input; `stop` is an end of data without drain."""

    type: ClassVar[str] = "event"
    input: Index
    channel: Index
    kind: Annotated[Kind, "`stop` is an end of data without drain."]


@attrs.frozen
class Select:
    """Extension `selection`. From now on the operator names these inputs when it is asked: before the first call, and
    behind each read. One out of range is refused.
    """

    type: ClassVar[str] = "select"
    inputs: Annotated[tuple[Index, ...], "By their numbers, from 0; it may be none."]


Event = Buffer | ChannelEvent | one_input.Process | Select

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Reads:
    """The input that was chosen; what follows comes from it."""

    type: ClassVar[str] = "reads"
    input: Position


@attrs.frozen
class NoProgress:
    """Extension `selection`, in place of `returned`: the call fails, because every input that is selected is over."""

    type: ClassVar[str] = "no_progress"


Observation = Reads | NoProgress | one_input.Element | one_input.EndInput | one_input.Returned

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Every input is empty, and taken to have something until it was read."""
    inputs = tuple(network_input.start(one_input.Config(channels))[0] for channels in config.inputs)
    none = (False,) * len(inputs)
    everybody = frozenset(range(len(inputs)))
    return (State(config, inputs, known=(True,) * len(inputs), ended=none, over=none, wished=everybody),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, one_input.Process):
        return (on_process(state),)
    if isinstance(event, Select):
        return on_select(state, event)
    if not 0 <= event.input < len(state.inputs):
        return rejected(state, "NIN-9")
    if isinstance(event, Buffer):
        return on_arrive(state, event.input, one_input.Buffer(event.channel, event.data))
    return on_arrive(state, event.input, one_input.ChannelEvent(event.channel, event.kind))


def on_arrive(state: State, index: int, event: one_input.Event) -> tuple[Outcome[State, Observation], ...]:
    (arrived,) = network_input.step(state.inputs[index], event)
    if Rejected() in arrived.observations:
        return rejected(state, *arrived.rules)
    return (Outcome(with_input(state, index, arrived.state), (), arrived.rules),)


def on_select(state: State, event: Select) -> tuple[Outcome[State, Observation], ...]:
    if state.config.extension != SELECTION:
        raise InvalidInputError("select belongs to the extension selection")
    if not all(0 <= index < len(state.inputs) for index in event.inputs):
        return rejected(state, "NIN-10")
    return (Outcome(attrs.evolve(state, wished=frozenset(event.inputs)), (), ("NIN-10",)),)


def on_process(state: State) -> Outcome[State, Observation]:
    """Whether the call may go on after an element makes no difference here (NIN-9)."""
    rules = ("NIN-9",) if state.config.extension is None else ("NIN-9", "NIN-10")
    if state.selected is None:
        state = ask_operator(state)
    if not any(choices(state)):
        state = ask_all(state)
    index = select_next(selection(state), promising(state), state.last)
    if index is None:
        seen = one_input.Returned(InputStatus.NOTHING_AVAILABLE, is_available(state))
        return Outcome(state, (seen,), (*rules, "NIN-5"))
    if not all(known for known, chosen in zip(state.known, selection(state), strict=True) if chosen):
        state = ask_all(state)
    read = network_input.on_process(state.inputs[index], batch=False)
    # Nothing arrives while an input is read.
    *elements, returned = [one for one in read.observations if not isinstance(one, one_input.Available)]
    assert isinstance(returned, one_input.Returned)
    state = remember(attrs.evolve(with_input(state, index, read.state), last=index), index, returned.status)
    state = ask_operator(state)
    status = compute_status(state, returned.status)
    overall = NoProgress() if status is None else one_input.Returned(status, is_available(state))
    return Outcome(state, (Reads(index), *elements, overall), (*rules, *read.rules))


def ask_operator(state: State) -> State:
    """NIN-10: what the operator selects; inputs whose data has ended are read to their end all the same."""
    waiting = {index for index, ended in enumerate(state.ended) if ended and not state.over[index]}
    return attrs.evolve(state, selected=state.wished | waiting)


def remember(state: State, index: int, status: InputStatus) -> State:
    match status:
        case InputStatus.NOTHING_AVAILABLE:
            return attrs.evolve(state, known=replace(state.known, index, value=False))
        case InputStatus.END_OF_DATA | InputStatus.STOPPED:
            drained = state.drained and status is InputStatus.END_OF_DATA
            return attrs.evolve(state, ended=replace(state.ended, index, value=True), drained=drained)
        case InputStatus.END_OF_INPUT:
            return attrs.evolve(state, over=replace(state.over, index, value=True))
    return state


def compute_status(state: State, status: InputStatus) -> InputStatus | None:
    """What the call says: the ends of all inputs together, and otherwise whether any of them is known to have more.

    None if there is nothing more to be had, because all inputs that are selected are over.
    """
    if status is InputStatus.MORE_AVAILABLE:
        return status
    if all(state.over):
        return InputStatus.END_OF_INPUT
    if status is InputStatus.END_OF_DATA and is_data_ended(state):
        return InputStatus.END_OF_DATA if state.drained else InputStatus.STOPPED
    if any(choices(state)):
        return InputStatus.MORE_AVAILABLE
    left = any(chosen and not over for chosen, over in zip(selection(state), state.over, strict=True))
    return InputStatus.NOTHING_AVAILABLE if left else None


def select_next(selected: tuple[bool, ...], available: tuple[bool, ...], last: int) -> int | None:
    """NIN-9: the first input behind the last one, in a circle, that is both selected and available."""
    count = len(available)
    circle = ((last + distance) % count for distance in range(1, count + 1))
    return next((index for index in circle if selected[index] and available[index]), None)


def selection(state: State) -> tuple[bool, ...]:
    selected = state.wished if state.selected is None else state.selected
    return tuple(index in selected for index in range(len(state.inputs)))


def choices(state: State) -> tuple[bool, ...]:
    """The inputs that are selected, are known to have something and are not over."""
    parts = zip(selection(state), promising(state), strict=True)
    return tuple(chosen and hopeful for chosen, hopeful in parts)


def promising(state: State) -> tuple[bool, ...]:
    return tuple(known and not over for known, over in zip(state.known, state.over, strict=True))


def ask_all(state: State) -> State:
    """Ask every input; one that is known to have something stays so."""
    pairs = zip(state.known, state.inputs, strict=True)
    return attrs.evolve(state, known=tuple(known or is_input_available(one) for known, one in pairs))


def is_data_ended(state: State) -> bool:
    return all(ended or over for ended, over in zip(state.ended, state.over, strict=True))


def is_available(state: State) -> bool:
    """An input is known to have something, or has something; or all is over."""
    return any(choices(ask_all(state))) or all(state.over)


def with_input(state: State, index: int, one: one_input.State) -> State:
    return attrs.evolve(state, inputs=replace(state.inputs, index, one))


# --- claims ---------------------------------------------------------------------------------------------------


@always("NIN-9")
def reads_one_input(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A call reads at most one input, one that is not over, and leaves the others alone."""
    read = [seen.input for seen in outcome.observations if isinstance(seen, Reads)]
    others = [one for index, one in enumerate(before.inputs) if index not in read]
    kept = [one for index, one in enumerate(outcome.state.inputs) if index not in read]
    if not isinstance(event, one_input.Process):
        return not read
    return others == kept and len(read) <= 1 and not any(before.over[index] for index in read)


@always("NIN-9")
def nothing_means_nothing(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A call reads no input only if no input that is selected has something."""
    read = any(isinstance(seen, Reads) for seen in outcome.observations)
    said = any(isinstance(seen, one_input.Returned) for seen in outcome.observations)
    return read or not said or not any(choices(ask_all(before)))


@invariant("NIN-9")
def over_means_finished(state: State) -> bool:
    """An input is over only if every channel of it is."""
    return all(gate.is_finished(one.gate) for one, over in zip(state.inputs, state.over, strict=True) if over)


@always("NIN-10")
def reads_what_is_selected(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An input is read only if the operator had selected it, or if its data had ended before."""
    allowed = {*before.wished, *(before.selected or ())}
    return all(seen.input in allowed for seen in outcome.observations if isinstance(seen, Reads))


@always("NIN-10")
def no_progress_without_selection(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Only an operator that selects can be stuck, and not when all is over."""
    stuck = NoProgress() in outcome.observations
    return not stuck or (before.config.extension == SELECTION and not all(outcome.state.over))


@sometimes("NIN-10")
def an_input_is_passed_over(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An input is read, and another that has something and was not selected is not."""
    read = any(isinstance(seen, Reads) for seen in outcome.observations)
    asked = zip(selection(before), before.inputs, before.over, strict=True)
    return read and any(not chosen and not over and is_input_available(one) for chosen, one, over in asked)


@sometimes("NIN-9")
def one_input_outlives_another(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An input is read when another is over."""
    return any(before.over) and any(isinstance(seen, Reads) for seen in outcome.observations)


# --- laws -----------------------------------------------------------------------------------------------------


def three_inputs() -> Iterator[tuple[tuple[bool, ...], tuple[bool, ...], int]]:
    masks = tuple(product((False, True), repeat=3))
    yield from product(masks, masks, range(3))


@law("NIN-9", samples=three_inputs)
def in_turn(selected: tuple[bool, ...], available: tuple[bool, ...], last: int) -> bool:
    """Inputs that are selected and available are read in turn, and no other.

    As many calls as there are candidates read each of them once.
    """
    candidates = {index for index, both in enumerate(zip(selected, available, strict=True)) if all(both)}
    read = []
    for _call in candidates:
        chosen = select_next(selected, available, last)
        assert chosen is not None
        read.append(chosen)
        last = chosen
    return sorted(read) == sorted(candidates) and (bool(candidates) or select_next(selected, available, last) is None)


COMPONENT = Component.of(__name__, title="Several inputs of one task")
