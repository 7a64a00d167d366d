"""What must hold of an exchange: nothing moves by itself, and nothing is read out of order."""

from tidegate.reference.claims import always, sometimes
from tidegate.reference.exchange import values
from tidegate.reference.exchange.values import Event, Observation, ResultType, State
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.values import Released

EARLY = (ResultType.PIPELINED, ResultType.PIPELINED_BOUNDED, ResultType.HYBRID_FULL, ResultType.HYBRID_SELECTIVE)


@always("XCHG-3")
def nothing_moves_by_itself(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Only a pull moves an item, one at a time, and data only with credit."""
    pulled = [seen for seen in outcome.observations if isinstance(seen, values.Pulled)]
    return not pulled or (isinstance(event, values.Pull) and len(pulled) == 1 and (event.credit or pulled[0].end))


@always("XCHG-1", "XCHG-2")
def read_in_order(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Each consumer reads from the first item on."""
    if not isinstance(event, values.Pull):
        return True
    pulled = [seen for seen in outcome.observations if isinstance(seen, values.Pulled)]
    consumer = before.consumers[event.consumer] if 0 <= event.consumer < before.config.consumers else None
    return not pulled or (consumer is not None and pulled[0].number == consumer.read)


@always("XCHG-2")
def blocking_is_complete(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Nobody is connected to a blocking result, and nothing of it is pulled, before its end was produced."""
    shown = any(isinstance(seen, values.Connected | values.Pulled) for seen in outcome.observations)
    return before.config.result in EARLY or before.finished or not shown


@always("XCHG-4")
def connects_once(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A consumer is connected once, to what is registered."""
    joined = [seen.consumer for seen in outcome.observations if isinstance(seen, values.Connected)]
    if not joined:
        return True
    return isinstance(event, values.Request) and before.registered and before.consumers[joined[0]] is None


@always("XCHG-3")
def tells_who_is_there(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Only consumers that are there are told."""
    told = [seen.consumer for seen in outcome.observations if isinstance(seen, values.Notified)]
    consumers = [before.consumers[index] for index in told]
    return all(consumer is not None and not consumer.left for consumer in consumers)


@always("XCHG-1")
def full_adds_nothing(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A full exchange takes nothing."""
    if values.Full() not in outcome.observations:
        return True
    bounded = before.config.result is ResultType.PIPELINED_BOUNDED
    return bounded and isinstance(event, values.Produce) and outcome.state == before


@always("XCHG-1", "XCHG-2")
def released_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A result is released once."""
    return Released() not in outcome.observations or (outcome.state.released and not before.released)


@sometimes("XCHG-1")
def a_producer_waits_for_room(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A bounded exchange is full."""
    return values.Full() in outcome.observations


@sometimes("XCHG-1")
def read_while_it_is_produced(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An item is pulled before the end was produced."""
    return not before.finished and any(isinstance(seen, values.Pulled) for seen in outcome.observations)
