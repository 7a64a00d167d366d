"""What the life cycle of a chain does: where it starts, and what each event leads to."""

from collections.abc import Iterable

import attrs

from tidegate.reference.chaining.chain_lifecycle import finished, values
from tidegate.reference.chaining.chain_lifecycle.values import Call, Config, Event, Observation, Phase, State, Step
from tidegate.reference.model import InvalidInputError, Outcome, rejected

Outcomes = tuple[Outcome[State, Observation], ...]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """The chain is planned, and none of its operators exists."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> Outcomes:
    if isinstance(event, values.Fault):
        return on_fault(state, event)
    if isinstance(event, values.Create):
        return on_create(state)
    if state.config.extension == values.FINISHED:
        return finished.step(state, event)
    if isinstance(event, values.OfFinished):
        raise InvalidInputError(f"{event.type} belongs to the extension {values.FINISHED}")
    if isinstance(event, values.Open):
        return on_open(state)
    if isinstance(event, values.EndInput):
        return on_end_input(state, event.input)
    if isinstance(event, values.Mail):
        return on_mail(state, event.operator)
    if isinstance(event, values.Finish):
        return on_finish(state, drain=event.drain)
    if isinstance(event, values.Checkpoint):
        return on_checkpoint(state, event.step)
    return on_close(state)


def on_fault(state: State, event: values.Fault) -> Outcomes:
    if not has_operator(state.config, event.operator):
        return rejected(state, "CHAIN-30")
    fault = {(event.operator, event.call)}
    faults = state.faults | fault if event.failing else state.faults - fault
    return (Outcome(attrs.evolve(state, faults=faults), (), ("CHAIN-33",)),)


def on_create(state: State) -> Outcomes:
    if state.phase is not Phase.PLANNED:
        return rejected(state, "CHAIN-30")
    calls = tuple(values.Called(index, Call.CREATE) for index in values.compute_creation_order(state.config))
    return (Outcome(attrs.evolve(state, phase=Phase.CREATED), calls, ("CHAIN-30",)),)


def on_open(state: State) -> Outcomes:
    """CHAIN-31: state and opening by turns; in 1.5 first the state of all."""
    if state.phase is not Phase.CREATED or state.failed or state.closed:
        return rejected(state, "CHAIN-31")
    order = values.compute_creation_order(state.config)
    if state.config.semantics == "flink-1.5":
        calls = [values.Called(index, call) for call in (Call.INIT, Call.OPEN) for index in order]
    else:
        calls = [values.Called(index, call) for index in order for call in (Call.INIT, Call.OPEN)]
    seen = call_until_failure(state, calls)
    opened = attrs.evolve(state, failed=True) if is_failure(seen) else attrs.evolve(state, phase=Phase.OPEN)
    return (Outcome(opened, seen, ("CHAIN-31", "CHAIN-30")),)


def on_end_input(state: State, index: int) -> Outcomes:
    if not is_running(state) or index in state.ended or not 0 <= index < state.config.inputs:
        return rejected(state, "CHAIN-34")
    ended = attrs.evolve(state, ended=state.ended | {index})
    if state.config.semantics == "flink-1.5":
        return (Outcome(ended, (), ("CHAIN-34",)),)
    seen = call_until_failure(state, [values.Called(0, Call.END_INPUT, index)])
    return (Outcome(attrs.evolve(ended, failed=is_failure(seen)), seen, ("CHAIN-34",)),)


def on_mail(state: State, operator: int) -> Outcomes:
    has_mailbox = state.config.semantics != "flink-1.5"
    if not is_running(state) or not has_mailbox or not has_operator(state.config, operator):
        return rejected(state, "CHAIN-37")
    return (Outcome(attrs.evolve(state, mails=(*state.mails, operator)), (), ("CHAIN-37",)),)


def on_finish(state: State, *, drain: bool) -> Outcomes:
    if not is_running(state) or (drain and len(state.ended) < state.config.inputs):
        return rejected(state, "CHAIN-34")
    if not drain and state.config.semantics == "flink-1.5":
        return rejected(state, "CHAIN-35")
    if values.is_dated(state.config):
        calls = compute_old_ending(state)
    else:
        calls = compute_ending(state) if drain else compute_stop(state)
    seen = call_until_failure(state, calls)
    rules = ("CHAIN-34" if drain else "CHAIN-35", *(("CHAIN-36",) if values.is_dated(state.config) else ()), "CHAIN-37")
    if is_failure(seen):
        return (Outcome(attrs.evolve(state, failed=True), seen, rules),)
    return (Outcome(attrs.evolve(state, phase=Phase.FINISHED, mails=()), seen, rules),)


def compute_ending(state: State) -> list[values.Called]:
    """CHAIN-34, CHAIN-37: one operator after the other, and all mails that are there before each goes on."""
    calls, waiting = [], state.mails
    for index in values.compute_forward_order(state.config):
        if index != 0 and not values.is_source(state.config, index):
            calls.append(values.Called(index, Call.END_INPUT, 0))
        calls += [values.Called(index, Call.QUIESCE), *run(waiting), values.Called(index, Call.FINISH)]
        calls += run(left_behind(state.config, index))
        waiting = ()
    return calls


def compute_stop(state: State) -> list[values.Called]:
    """CHAIN-35: nobody is told that anything ended, for it goes on from the savepoint."""
    first, *others = values.compute_forward_order(state.config)
    calls = [values.Called(first, Call.QUIESCE), *run(state.mails)]
    return calls + [values.Called(index, Call.QUIESCE) for index in others]


def compute_old_ending(state: State) -> list[values.Called]:
    """CHAIN-36: to close was to emit what is left. What is in the mailbox runs when all are closed."""
    calls, mails = [], state.mails
    for index in values.compute_forward_order(state.config):
        if index != 0 and state.config.semantics == "flink-1.10":
            calls.append(values.Called(index, Call.END_INPUT, 0))
        calls.append(values.Called(index, Call.CLOSE))
        mails += left_behind(state.config, index)
    return calls + (run(mails) if state.config.semantics == "flink-1.10" else [])


def run(mails: Iterable[int]) -> list[values.Called]:
    return [values.Called(operator, Call.MAIL) for operator in mails]


def left_behind(config: Config, index: int) -> tuple[int, ...]:
    return (index,) if not values.is_source(config, index) and config.operators[index].lingers else ()


def on_checkpoint(state: State, what: Step) -> Outcomes:
    config = state.config
    if state.phase < Phase.OPEN:
        return rejected(state, "CHAIN-33")
    if what in (Step.ABORT, Step.SUBSUME) and values.is_dated(config):
        return rejected(state, "CHAIN-33")
    rules = ("CHAIN-32", "CHAIN-33") if what is Step.PREPARE else ("CHAIN-33",)
    if state.closed and not values.is_dated(config) and what is not Step.ABORT:
        return (Outcome(state, (), rules),)
    order = values.compute_creation_order(config)
    if what is Step.PREPARE:
        order = tuple(index for index in order[::-1] if not values.is_source(config, index))
    calls = [values.Called(index, Call(what.value)) for index in order]
    tries_all = what not in (Step.PREPARE, Step.SNAPSHOT) and not values.is_dated(config)
    seen = call_all(state, calls) if tries_all else call_until_failure(state, calls)
    return (Outcome(state, seen, rules),)


def on_close(state: State) -> Outcomes:
    if state.phase is Phase.PLANNED:
        return rejected(state, "CHAIN-36")
    if state.closed:
        return (Outcome(state, (), ("CHAIN-36",)),)
    order = values.compute_creation_order(state.config)
    if values.is_dated(state.config):
        seen = dispose(state, [values.Called(index, Call.DISPOSE) for index in order])
    else:
        seen = call_all(state, [values.Called(index, Call.CLOSE) for index in order])
    return (Outcome(attrs.evolve(state, closed=True), seen, ("CHAIN-36",)),)


def dispose(state: State, calls: list[values.Called]) -> tuple[Observation, ...]:
    """CHAIN-36: once with care, after a good end; if that fails or there was none, all of them, come what may."""
    careful = call_until_failure(state, calls) if state.phase is Phase.FINISHED else ()
    if careful and not is_failure(careful):
        return careful
    return (*careful[:-1], *calls, *careful[-1:])


# --- calling --------------------------------------------------------------------------------------------------


def call_until_failure(state: State, calls: list[values.Called]) -> tuple[Observation, ...]:
    """One call after the other; the first one that fails is the last."""
    for place, called in enumerate(calls):
        if (called.operator, called.call) in state.faults:
            return (*calls[: place + 1], values.Failed(called.operator, ()))
    return tuple(calls)


def call_all(state: State, calls: list[values.Called]) -> tuple[Observation, ...]:
    """CHAIN-33: every call, whatever fails; the first error is the one that counts."""
    failing = [called.operator for called in calls if (called.operator, called.call) in state.faults]
    if not failing:
        return tuple(calls)
    return (*calls, values.Failed(failing[0], tuple(failing[1:])))


def is_failure(seen: tuple[Observation, ...]) -> bool:
    return bool(seen) and isinstance(seen[-1], values.Failed)


def is_running(state: State) -> bool:
    return state.phase is Phase.OPEN and not state.failed and not state.closed


def has_operator(config: Config, index: int) -> bool:
    return 0 <= index < len(config.operators) + config.sources
