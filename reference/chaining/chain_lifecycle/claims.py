"""What must hold of the life cycle of a chain."""

from collections.abc import Iterator
from itertools import product

from tidegate.reference.chaining.chain_lifecycle import values
from tidegate.reference.chaining.chain_lifecycle.values import Call, Config, Event, Observation, Phase, State, Step
from tidegate.reference.claims import always, invariant, law, sometimes
from tidegate.reference.elements import MAX, Watermark
from tidegate.reference.model import Outcome

BACKWARD = (Call.CREATE, Call.INIT, Call.OPEN, Call.SNAPSHOT, Call.COMPLETE, Call.ABORT, Call.SUBSUME, Call.DISPOSE)
FORWARD = (Call.PREPARE, Call.FINISH, Call.QUIESCE)

# --- claims ---------------------------------------------------------------------------------------------------


def calls_of(outcome: Outcome[State, Observation]) -> list[values.Called]:
    return [seen for seen in outcome.observations if isinstance(seen, values.Called)]


def order_of(outcome: Outcome[State, Observation], call: Call) -> list[int]:
    return list(dict.fromkeys(called.operator for called in calls_of(outcome) if called.call is call))


def is_in_order(config: Config, order: list[int], *, forward: bool) -> bool:
    """Whether each operator comes before its parent, or behind it."""
    place = {operator: position for position, operator in enumerate(order)}
    pairs = [
        (operator, config.operators[operator].parent) for operator in order if not values.is_source(config, operator)
    ]
    return all((place[parent] < place[one]) == forward for one, parent in pairs if parent in place)


@always("CHAIN-30", "CHAIN-31", "CHAIN-33", "CHAIN-36")
def ready_before_they_are_called(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Operators are created, opened, snapshotted, notified and closed behind all that are chained to them."""
    config = before.config
    backward = (*BACKWARD, Call.CLOSE) if not values.is_dated(config) else BACKWARD
    return all(is_in_order(config, order_of(outcome, call), forward=False) for call in backward)


@always("CHAIN-32", "CHAIN-34", "CHAIN-36")
def working_while_they_are_called(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Operators prepare for a barrier and finish before all that are chained to them."""
    config = before.config
    forward = (*FORWARD, Call.CLOSE) if values.is_dated(config) else FORWARD
    return all(is_in_order(config, order_of(outcome, call), forward=True) for call in forward)


@always("CHAIN-34")
def inputs_end_with_the_upstream(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A chained operator learns that its input has ended when the one before it has nothing more to emit."""
    if not isinstance(event, values.Finish):
        return True
    done: set[int] = set()
    for called in calls_of(outcome):
        parent = (
            None
            if values.is_source(before.config, called.operator)
            else before.config.operators[called.operator].parent
        )
        if called.call is Call.END_INPUT and parent not in done:
            return False
        if called.call in (Call.FINISH, Call.CLOSE):
            done.add(called.operator)
    return True


@always("CHAIN-35")
def a_stop_ends_nothing(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A stop that does not drain ends no input."""
    if not isinstance(event, values.Finish) or event.drain or values.is_dated(before.config):
        return True
    return not {called.call for called in calls_of(outcome)} & {Call.END_INPUT, Call.FINISH}


@always("CHAIN-32")
def sources_are_not_prepared(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Chained sources see no barrier."""
    return not any(values.is_source(before.config, operator) for operator in order_of(outcome, Call.PREPARE))


@always("CHAIN-33", "CHAIN-36")
def closed_operators_rest(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Closed operators are not called, but for a checkpoint that is aborted."""
    if not before.closed or values.is_dated(before.config) or event == values.Checkpoint(Step.ABORT):
        return True
    return not calls_of(outcome)


@always("CHAIN-36")
def closed_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Every operator is closed, each once, whatever fails."""
    if outcome.state.closed == before.closed or values.is_dated(before.config) or before.config.extension is not None:
        return True
    closed = [called.operator for called in calls_of(outcome) if called.call is Call.CLOSE]
    return sorted(closed) == list(range(len(before.config.operators) + before.config.sources))


@always("CHAIN-37")
def mails_before_the_end(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The mails that wait are run, in their order, before the first operator finishes."""
    if not isinstance(event, values.Finish) or values.is_dated(before.config) or outcome.state == before:
        return True
    kinds = [called.call for called in calls_of(outcome)]
    if Call.FINISH not in kinds and event.drain:
        return True
    first = kinds.index(Call.FINISH) if event.drain else len(kinds)
    ran = [called.operator for called in calls_of(outcome)[:first] if called.call is Call.MAIL]
    return ran == list(before.mails)


@invariant("CHAIN-37")
def no_mail_is_left(state: State) -> bool:
    """A finished chain has no mails."""
    return state.phase is not Phase.FINISHED or not state.mails


@always("CHAIN-39")
def finished_operators_are_only_created(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No operator that had finished before the restore is called, but for being created."""
    if before.config.extension is None:
        return True
    return all(called.call is Call.CREATE for called in calls_of(outcome))


@always("CHAIN-40")
def event_time_ends_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A chain says that event time is over when the last input has, or in the end; and nothing else."""
    marks = [seen for seen in outcome.observations if isinstance(seen, Watermark)]
    if not marks:
        return True
    after = outcome.state
    is_last = len(after.over) == before.config.inputs > len(before.over)
    is_end = after.phase is Phase.FINISHED and before.phase is Phase.OPEN
    return marks == [Watermark(MAX)] and is_last != is_end


@sometimes("CHAIN-40")
def event_time_is_over(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The second of two inputs says that event time is over, and so does the chain."""
    return isinstance(event, values.InputWatermark) and bool(before.over) and bool(outcome.observations)


@sometimes("CHAIN-36")
def one_error_hides_another(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An operator fails when another has failed already, and its error is attached to the first one."""
    return any(isinstance(seen, values.Failed) and bool(seen.suppressed) for seen in outcome.observations)


@sometimes("CHAIN-37")
def a_mail_runs_at_the_end(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A chain that finishes runs a mail that waited."""
    return isinstance(event, values.Finish) and bool(before.mails) and bool(order_of(outcome, Call.MAIL))


# --- laws -----------------------------------------------------------------------------------------------------


def small_trees() -> Iterator[tuple[tuple[int, ...]]]:
    for size in range(5):
        yield from ((parents,) for parents in product(*(range(place + 1) for place in range(size))))


@law("CHAIN-30", samples=small_trees)
def subtrees_stay_together(parents: tuple[int, ...]) -> bool:
    """Each operator is created right behind those below it, and no other in between."""
    config = Config(
        (values.Operator(lingers=False), *(values.Operator(lingers=False, parent=parent) for parent in parents)), 0, 1
    )
    order = values.compute_creation_order(config)
    below = [{index} for index in range(len(order))]
    for child in range(len(parents), 0, -1):
        below[parents[child - 1]] |= below[child]
    places = {index: place for place, index in enumerate(order)}
    return all(
        {places[one] for one in below[index]} == set(range(places[index] + 1 - len(below[index]), places[index] + 1))
        for index in range(len(order))
    )
