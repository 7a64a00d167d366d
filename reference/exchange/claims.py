"""What must hold of an exchange: nothing moves by itself, and nothing is read out of order."""

from tidegate.reference.exchange.values import (
    Connected,
    Event,
    Full,
    Notified,
    Observation,
    Produce,
    Pull,
    Pulled,
    Request,
    ResultType,
    State,
)
from tidegate.reference.model import Outcome, Property
from tidegate.reference.subpartition.values import Released

EARLY = (
    ResultType.PIPELINED,
    ResultType.PIPELINED_BOUNDED,
    ResultType.HYBRID_FULL,
    ResultType.HYBRID_SELECTIVE,
)


def moves_only_what_is_pulled(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """And data only with credit."""
    pulled = [seen for seen in outcome.observations if isinstance(seen, Pulled)]
    return not pulled or (isinstance(event, Pull) and len(pulled) == 1 and (event.credit or pulled[0].end))


def reads_in_order(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    if not isinstance(event, Pull):
        return True
    pulled = [seen for seen in outcome.observations if isinstance(seen, Pulled)]
    consumer = before.consumers[event.consumer] if 0 <= event.consumer < before.config.consumers else None
    return not pulled or (consumer is not None and pulled[0].number == consumer.read)


def pulled_results_are_complete(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    shown = any(isinstance(seen, Connected | Pulled) for seen in outcome.observations)
    return before.config.result in EARLY or before.finished or not shown


def connects_once(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    joined = [seen.consumer for seen in outcome.observations if isinstance(seen, Connected)]
    if not joined:
        return True
    return isinstance(event, Request) and before.registered and before.consumers[joined[0]] is None


def tells_who_could_not_know(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Only a consumer that is there is told."""
    told = [seen.consumer for seen in outcome.observations if isinstance(seen, Notified)]
    consumers = [before.consumers[index] for index in told]
    return all(consumer is not None and not consumer.left for consumer in consumers)


def full_adds_nothing(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    if Full() not in outcome.observations:
        return True
    bounded = before.config.result is ResultType.PIPELINED_BOUNDED
    return bounded and isinstance(event, Produce) and outcome.state == before


def is_released_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    return Released() not in outcome.observations or (outcome.state.released and not before.released)


PROPERTIES = (
    Property(
        "nothing-moves-by-itself",
        "Only a pull moves an item, one at a time, and data only with credit.",
        ("XCHG-3",),
        moves_only_what_is_pulled,
    ),
    Property("read-in-order", "Each consumer reads from the first item on.", ("XCHG-1", "XCHG-2"), reads_in_order),
    Property(
        "blocking-is-complete",
        "Nobody is connected to a blocking result, and nothing of it is pulled, before its end was produced.",
        ("XCHG-2",),
        pulled_results_are_complete,
    ),
    Property("connects-once", "A consumer is connected once, to what is registered.", ("XCHG-4",), connects_once),
    Property("tells-who-is-there", "Only consumers that are there are told.", ("XCHG-3",), tells_who_could_not_know),
    Property("full-adds-nothing", "A full exchange takes nothing.", ("XCHG-1",), full_adds_nothing),
    Property("released-once", "A result is released once.", ("XCHG-1", "XCHG-2"), is_released_once),
)
