"""What must hold of the life cycle of a chain."""

from collections.abc import Iterator
from itertools import product

from tidegate.reference.chaining.chain_lifecycle.values import (
    Call,
    Called,
    Checkpoint,
    Config,
    Event,
    Finish,
    Observation,
    Operator,
    Phase,
    State,
    Step,
    compute_creation_order,
    is_old,
    is_source,
)
from tidegate.reference.model import Invariant, Law, Outcome, Property

BACKWARD = (Call.CREATE, Call.INIT, Call.OPEN, Call.SNAPSHOT, Call.COMPLETE, Call.ABORT, Call.SUBSUME, Call.DISPOSE)
FORWARD = (Call.PREPARE, Call.FINISH, Call.QUIESCE)

# --- properties -----------------------------------------------------------------------------------------------


def calls_of(outcome: Outcome[State, Observation]) -> list[Called]:
    return [seen for seen in outcome.observations if isinstance(seen, Called)]


def order_of(outcome: Outcome[State, Observation], call: Call) -> list[int]:
    return list(dict.fromkeys(called.operator for called in calls_of(outcome) if called.call is call))


def is_in_order(config: Config, order: list[int], *, forward: bool) -> bool:
    """Whether each operator comes before its parent, or behind it."""
    place = {operator: position for position, operator in enumerate(order)}
    pairs = [(operator, config.operators[operator].parent) for operator in order if not is_source(config, operator)]
    return all((place[parent] < place[one]) == forward for one, parent in pairs if parent in place)


def ready_before_they_are_called(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    config = before.config
    backward = (*BACKWARD, Call.CLOSE) if not is_old(config) else BACKWARD
    return all(is_in_order(config, order_of(outcome, call), forward=False) for call in backward)


def working_while_they_are_called(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    config = before.config
    forward = (*FORWARD, Call.CLOSE) if is_old(config) else FORWARD
    return all(is_in_order(config, order_of(outcome, call), forward=True) for call in forward)


def inputs_end_with_the_upstream(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    if not isinstance(event, Finish):
        return True
    done: set[int] = set()
    for called in calls_of(outcome):
        parent = None if is_source(before.config, called.operator) else before.config.operators[called.operator].parent
        if called.call is Call.END_INPUT and parent not in done:
            return False
        if called.call in (Call.FINISH, Call.CLOSE):
            done.add(called.operator)
    return True


def a_stop_ends_nothing(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    if not isinstance(event, Finish) or event.drain or is_old(before.config):
        return True
    return not {called.call for called in calls_of(outcome)} & {Call.END_INPUT, Call.FINISH}


def sources_are_not_prepared(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    return not any(is_source(before.config, operator) for operator in order_of(outcome, Call.PREPARE))


def closed_operators_rest(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    if not before.closed or is_old(before.config) or event == Checkpoint(Step.ABORT):
        return True
    return not calls_of(outcome)


def every_operator_is_closed_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    if outcome.state.closed == before.closed or is_old(before.config):
        return True
    closed = [called.operator for called in calls_of(outcome) if called.call is Call.CLOSE]
    return sorted(closed) == list(range(len(before.config.operators) + before.config.sources))


def mails_run_before_anybody_finishes(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Those that wait when a chain begins to finish, in their order, before the first operator finishes."""
    if not isinstance(event, Finish) or is_old(before.config) or outcome.state == before:
        return True
    kinds = [called.call for called in calls_of(outcome)]
    if Call.FINISH not in kinds and event.drain:
        return True
    first = kinds.index(Call.FINISH) if event.drain else len(kinds)
    ran = [called.operator for called in calls_of(outcome)[:first] if called.call is Call.MAIL]
    return ran == list(before.mails)


def finished_chains_have_no_mails(state: State) -> bool:
    return state.phase is not Phase.FINISHED or not state.mails


PROPERTIES = (
    Property(
        "ready-before-they-are-called",
        "Operators are created, opened, snapshotted, notified and closed behind all that are chained to them.",
        ("CHAIN-30", "CHAIN-31", "CHAIN-33", "CHAIN-36"),
        ready_before_they_are_called,
    ),
    Property(
        "working-while-they-are-called",
        "Operators prepare for a barrier and finish before all that are chained to them.",
        ("CHAIN-32", "CHAIN-34", "CHAIN-36"),
        working_while_they_are_called,
    ),
    Property(
        "inputs-end-with-the-upstream",
        "A chained operator learns that its input has ended when the one before it has nothing more to emit.",
        ("CHAIN-34",),
        inputs_end_with_the_upstream,
    ),
    Property("a-stop-ends-nothing", "A stop that does not drain ends no input.", ("CHAIN-35",), a_stop_ends_nothing),
    Property("sources-are-not-prepared", "Chained sources see no barrier.", ("CHAIN-32",), sources_are_not_prepared),
    Property(
        "closed-operators-rest",
        "Closed operators are not called, but for a checkpoint that is aborted.",
        ("CHAIN-33", "CHAIN-36"),
        closed_operators_rest,
    ),
    Property(
        "closed-once",
        "Every operator is closed, each once, whatever fails.",
        ("CHAIN-36",),
        every_operator_is_closed_once,
    ),
    Property(
        "mails-before-the-end",
        "The mails that wait are run, in their order, before the first operator finishes.",
        ("CHAIN-37",),
        mails_run_before_anybody_finishes,
    ),
)

INVARIANTS = (
    Invariant("no-mail-is-left", "A finished chain has no mails.", ("CHAIN-37",), finished_chains_have_no_mails),
)

# --- laws -----------------------------------------------------------------------------------------------------


def subtrees_stay_together(parents: tuple[int, ...]) -> bool:
    """The operators below each operator are created in one go, right before it."""
    config = Config((Operator(lingers=False), *(Operator(lingers=False, parent=parent) for parent in parents)), 0, 1)
    order = compute_creation_order(config)
    below = [{index} for index in range(len(order))]
    for child in range(len(parents), 0, -1):
        below[parents[child - 1]] |= below[child]
    places = {index: place for place, index in enumerate(order)}
    return all(
        {places[one] for one in below[index]} == set(range(places[index] + 1 - len(below[index]), places[index] + 1))
        for index in range(len(order))
    )


def small_trees() -> Iterator[tuple[tuple[int, ...]]]:
    for size in range(5):
        yield from ((parents,) for parents in product(*(range(place + 1) for place in range(size))))


LAWS = (
    Law(
        "subtrees-stay-together",
        "Each operator is created right behind those below it, and no other in between.",
        ("CHAIN-30",),
        subtrees_stay_together,
        small_trees,
    ),
)
