"""A chain whose operators had all finished before the job was restored: it only hands on that event time is over.

What its operators had to emit was emitted before the checkpoint. So none of them is called; but whoever reads from
the task must learn that nothing more will come, and checkpoints must go through it as through any other.
"""

import attrs

from tidegate.reference.chaining.chain_lifecycle import values
from tidegate.reference.chaining.chain_lifecycle.values import Event, Observation, Phase, Side, State, Step
from tidegate.reference.elements import MAX, Watermark
from tidegate.reference.model import Outcome, rejected

Outcomes = tuple[Outcome[State, Observation], ...]


def step(state: State, event: Event) -> Outcomes:
    match event:
        case values.Open():
            return on_open(state)
        case values.EndInput(index):
            return on_end_input(state, index)
        case values.InputWatermark(index, timestamp):
            return on_watermark(state, index, timestamp)
        case values.Finish(drain):
            return on_finish(state, drain=drain)
        case values.Checkpoint(what):
            return on_checkpoint(state, what)
        case values.Close():
            return on_close(state)
        case values.Mail():
            return rejected(state, "CHAIN-39")
        case _:
            return rejected(state, "CHAIN-40")


def on_open(state: State) -> Outcomes:
    if state.phase is not Phase.CREATED or state.closed:
        return rejected(state, "CHAIN-31")
    return (Outcome(attrs.evolve(state, phase=Phase.OPEN), (), ("CHAIN-39",)),)


def on_end_input(state: State, index: int) -> Outcomes:
    if not is_running(state) or index in state.ended or not 0 <= index < state.config.inputs:
        return rejected(state, "CHAIN-34")
    return (Outcome(attrs.evolve(state, ended=state.ended | {index}), (), ("CHAIN-39",)),)


def on_watermark(state: State, index: int, timestamp: int) -> Outcomes:
    """CHAIN-40: only that event time is over; with the last input that says so, the chain says it."""
    is_open = 0 <= index < state.config.inputs - state.config.sources and index not in state.ended | state.over
    if not is_running(state) or not is_open or timestamp != MAX:
        return rejected(state, "CHAIN-40")
    over = state.over | {index}
    seen = (Watermark(MAX),) if len(over) == state.config.inputs else ()
    return (Outcome(attrs.evolve(state, over=over), seen, ("CHAIN-40",)),)


def on_finish(state: State, *, drain: bool) -> Outcomes:
    """CHAIN-40: chained sources, or a head without inputs, say at the end that event time is over."""
    if not is_running(state) or (drain and len(state.ended) < state.config.inputs):
        return rejected(state, "CHAIN-34")
    begins = state.config.sources > 0 or state.config.inputs == 0
    is_over = drain and begins and len(state.over) + state.config.sources == state.config.inputs
    seen = (Watermark(MAX),) if is_over else ()
    return (Outcome(attrs.evolve(state, phase=Phase.FINISHED), seen, ("CHAIN-40" if begins else "CHAIN-39",)),)


def on_checkpoint(state: State, what: Step) -> Outcomes:
    """CHAIN-41: what is on the channels is saved as that of the tail and of the head; nobody is asked for more."""
    if state.phase < Phase.OPEN:
        return rejected(state, "CHAIN-33")
    if what is not Step.SNAPSHOT:
        return (Outcome(state, (), ("CHAIN-39",)),)
    tail = values.compute_creation_order(state.config)[0]
    inputs, outputs = values.ChannelState(0, Side.INPUTS), values.ChannelState(tail, Side.OUTPUTS)
    return (Outcome(state, (inputs, outputs) if tail == 0 else (outputs, inputs), ("CHAIN-41",)),)


def on_close(state: State) -> Outcomes:
    if state.phase is Phase.PLANNED:
        return rejected(state, "CHAIN-36")
    return (Outcome(attrs.evolve(state, closed=True), (), ("CHAIN-39",)),)


def is_running(state: State) -> bool:
    return state.phase is Phase.OPEN and not state.closed
