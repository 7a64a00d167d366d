"""What push and pull exchange does: where it starts, and what each event leads to."""

from collections.abc import Iterator

import attrs

from tidegate.reference.claims import law
from tidegate.reference.elements import Nothing
from tidegate.reference.exchange import values
from tidegate.reference.exchange.values import Config, Event, Observation, ResultType, State
from tidegate.reference.model import Outcome, reach, rejected
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition.queue import Item, ItemKind
from tidegate.reference.subpartition.values import Finish, Flush, Release, Released
from tidegate.reference.tuples import replace

Outcomes = tuple[Outcome[State, Observation], ...]


@attrs.frozen
class Traits:
    """What a type of result stands for. `must_be_early`: a consumer must run while the producer does."""

    may_be_early: bool
    must_be_early: bool
    repeatable: bool
    bounded: bool
    persistent: bool
    released_by_producer: bool


def make_traits(*names: str) -> Traits:
    return Traits(**{field.name: field.name in names for field in attrs.fields(Traits)})


#: XCHG-1, XCHG-2.
TRAITS = {
    ResultType.PIPELINED: make_traits("may_be_early", "must_be_early", "released_by_producer"),
    ResultType.PIPELINED_BOUNDED: make_traits("may_be_early", "must_be_early", "bounded", "released_by_producer"),
    ResultType.BLOCKING: make_traits("repeatable"),
    ResultType.BLOCKING_PERSISTENT: make_traits("repeatable", "persistent"),
    ResultType.HYBRID_FULL: make_traits("may_be_early", "repeatable"),
    ResultType.HYBRID_SELECTIVE: make_traits("may_be_early"),
}


def is_pushed(state: State) -> bool:
    return TRAITS[state.config.result].must_be_early


# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """The producer has not started."""
    return (State(config, (None,) * config.consumers),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> Outcomes:
    match event:
        case values.Register():
            return on_register(state)
        case values.Produce() | Flush() | Finish():
            return on_producer(state, event)
        case Release() | values.EndJob():
            return on_scheduler(state, event)
    if not 0 <= event.consumer < state.config.consumers:
        return rejected(state, "XCHG-4")
    consumer = state.consumers[event.consumer]
    if isinstance(event, values.Request):
        return on_request(state, event.consumer)
    if consumer is None or consumer.left:
        return rejected(state, "XCHG-4")
    if isinstance(event, values.Leave):
        return (on_leave(state, event.consumer, consumer),)
    return (on_pull(state, event, consumer),)


def on_register(state: State) -> Outcomes:
    if state.registered or state.released:
        return rejected(state, "XCHG-4")
    return (Outcome(attrs.evolve(state, registered=True), (), ("XCHG-4",)),)


def on_request(state: State, index: int) -> Outcomes:
    if state.consumers[index] is not None:
        return rejected(state, "XCHG-4")
    if not state.registered or state.released:
        return (Outcome(state, (values.Retry(index),), ("XCHG-4",)),)
    traits = TRAITS[state.config.result]
    if not traits.may_be_early and not state.finished:
        return rejected(state, "XCHG-2")
    if not traits.repeatable and any(state.consumers):
        return rejected(state, "XCHG-1")
    joined = with_consumer(state, index, values.Consumer())
    return (Outcome(joined, (values.Connected(index),), ("XCHG-1",) if traits.must_be_early else ("XCHG-2",)),)


def on_producer(state: State, event: values.Produce | Flush | Finish) -> Outcomes:
    if not state.registered or state.released or (state.finished and not isinstance(event, Flush)):
        return rejected(state, "XCHG-4" if not state.registered else "XCHG-1" if is_pushed(state) else "XCHG-2")
    if isinstance(event, Flush):
        return (on_flush(state),)
    if isinstance(event, values.Produce) and is_full(state):
        return (Outcome(state, (values.Full(),), ("XCHG-1",)),)
    item = Item(
        ItemKind.END_OF_PARTITION if isinstance(event, Finish) else ItemKind.DATA, number_to_bytes(state.produced)
    )
    after = attrs.evolve(state, produced=state.produced + 1, finished=isinstance(event, Finish))
    if not is_pushed(state):
        written = attrs.evolve(after, written=(*state.written, item))
        waiting = [i for i, one in enumerate(state.consumers) if one and not one.left and one.read == state.produced]
        return (Outcome(written, tuple(map(values.Notified, waiting)), ("XCHG-2",)),)
    queue = attrs.evolve(queues.add(state.queue, item), finished=after.finished)
    if after.finished and any(one and one.left for one in state.consumers):
        return (Outcome(attrs.evolve(after, queue=queue, released=True), (Released(),), ("XCHG-1",)),)
    wakes = after.finished or queues.is_woken_by_add(queue)
    return (Outcome(attrs.evolve(after, queue=queue), notify(state) if wakes else (), ("XCHG-3", "XCHG-1")),)


def is_full(state: State) -> bool:
    """XCHG-1: a bounded exchange has no more data than so many buffers."""
    buffers = sum(item.is_data for item in state.queue.items)
    return TRAITS[state.config.result].bounded and buffers >= state.config.limit


def number_to_bytes(number: int) -> bytes:
    return number.to_bytes(4, "big")


def on_flush(state: State) -> Outcome[State, Observation]:
    queue, wakes = queues.flush(state.queue)
    return Outcome(attrs.evolve(state, queue=queue), notify(state) if wakes else (), ("XCHG-3",))


def notify(state: State) -> tuple[Observation, ...]:
    """Whoever reads the queue: one consumer at most, there or gone."""
    return tuple(
        values.Notified(index) for index, one in enumerate(state.consumers) if one is not None and not one.left
    )


def on_pull(state: State, event: values.Pull, consumer: values.Consumer) -> Outcome[State, Observation]:
    items = state.queue.items if is_pushed(state) else state.written[consumer.read :]
    rules = ("XCHG-3", "XCHG-1") if is_pushed(state) else ("XCHG-2", "XCHG-3")
    if state.released or not items or (items[0].is_data and not event.credit):
        return Outcome(state, (Nothing(),), rules)
    read = with_consumer(state, event.consumer, values.Consumer(consumer.read + 1))
    if is_pushed(state):
        read = attrs.evolve(read, queue=queues.take(state.queue, keeps_empty=False)[0])
    number = int.from_bytes(items[0].data, "big")
    return Outcome(read, (values.Pulled(number, not items[0].is_data),), rules)


def on_leave(state: State, index: int, consumer: values.Consumer) -> Outcome[State, Observation]:
    after = with_consumer(state, index, attrs.evolve(consumer, left=True))
    if not TRAITS[state.config.result].released_by_producer:
        return Outcome(after, (), ("XCHG-2",))
    if not state.finished or state.released:
        return Outcome(after, (), ("XCHG-1",))
    return Outcome(attrs.evolve(after, released=True), (Released(),), ("XCHG-1",))


def on_scheduler(state: State, event: Release | values.EndJob) -> Outcomes:
    """XCHG-2: the end of a job is the end of every result, but for a persistent one; that needs a release."""
    traits = TRAITS[state.config.result]
    if isinstance(event, Release) and traits.released_by_producer:
        return rejected(state, "XCHG-1")
    survives = isinstance(event, values.EndJob) and traits.persistent
    if state.released or survives:
        return (Outcome(state, (), ("XCHG-2",)),)
    gone = attrs.evolve(state, released=True)
    return (Outcome(gone, (Released(),) if state.registered else (), ("XCHG-2",)),)


def with_consumer(state: State, index: int, consumer: values.Consumer) -> State:
    return attrs.evolve(state, consumers=replace(state.consumers, index, consumer))


# --- laws -----------------------------------------------------------------------------------------------------


@law("XCHG-1", "XCHG-2", samples=lambda: ((result,) for result in ResultType))
def types_agree(result: ResultType) -> bool:
    """A result is either pushed, used up and released by its producer, or kept for whoever may need it."""
    traits = TRAITS[result]
    pushed = traits.must_be_early
    return (
        traits.released_by_producer == pushed
        and (not pushed or (traits.may_be_early and not traits.repeatable))
        and (not traits.bounded or pushed)
        and (not traits.persistent or (traits.repeatable and not traits.may_be_early))
    )


def repeatable_results() -> Iterator[tuple[ResultType, int, int]]:
    for result, traits in TRAITS.items():
        if traits.repeatable:
            yield from ((result, buffers, consumers) for buffers in (0, 1, 3) for consumers in (1, 2, 3))


@law("XCHG-2", samples=repeatable_results)
def reads_alike(result: ResultType, buffers: int, consumers: int) -> bool:
    """Each reading is complete and the same."""
    (state,) = start(Config(result, consumers, limit=buffers + 1))
    events: list[Event] = [
        values.Register(),
        *[values.Produce()] * buffers,
        Finish(),
        *map(values.Request, range(consumers)),
    ]
    state = reach(step, state, events)
    seen: list[list[object]] = [[] for _ in range(consumers)]
    for _turn in range(buffers + 1):
        for index in reversed(range(consumers)):
            outcome = step(state, values.Pull(index, credit=True))[0]
            seen[index] += outcome.observations
            state = outcome.state
    return all(one == [values.Pulled(number, number == buffers) for number in range(buffers + 1)] for one in seen)
