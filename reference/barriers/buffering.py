"""Two ways to let a channel wait: its sender holds back, or its receiver reads on and keeps what it reads.

Which of them is used cannot be seen in a checkpoint, only in who needs the memory.

Choices. Since 1.11 the sender blocks after a barrier until it is told to go on. Until 1.10 the receiver kept the
buffers of blocked channels (BufferStorage, BarrierBuffer), in memory or in a file, and replayed them in the order of
their arrival before it read anything new.
"""

from collections.abc import Iterator
from itertools import permutations, product

import attrs

from tidegate.reference.claims import law
from tidegate.reference.tuples import without

#: What a channel carries: numbered elements, and a barrier for each None.
Element = int | None


@attrs.frozen
class Arrival:
    channel: int
    element: Element


@attrs.frozen
class Cut:
    """What was processed before each checkpoint, as far as all barriers came in, and the whole order."""

    before: tuple[frozenset[int], ...]
    order: tuple[int, ...]


def process_blocking(channels: int, arrivals: tuple[Arrival, ...]) -> Cut:
    """The sender holds back what follows its barrier."""
    held: tuple[Arrival, ...] = arrivals
    blocked: frozenset[int] = frozenset()
    order: tuple[int, ...] = ()
    before: tuple[frozenset[int], ...] = ()
    while True:
        place = next((at for at, arrival in enumerate(held) if arrival.channel not in blocked), None)
        if place is None:
            return Cut(before, order)
        arrival = held[place]
        held = without(held, place)
        if arrival.element is not None:
            order = (*order, arrival.element)
            continue
        blocked |= {arrival.channel}
        if len(blocked) == channels:
            before, blocked = (*before, frozenset(order)), frozenset()


def process_buffering(channels: int, arrivals: tuple[Arrival, ...]) -> Cut:
    """BARR-8: the receiver reads on, and replays what it kept before anything new."""
    coming: tuple[Arrival, ...] = arrivals
    kept: tuple[Arrival, ...] = ()
    blocked: frozenset[int] = frozenset()
    order: tuple[int, ...] = ()
    before: tuple[frozenset[int], ...] = ()
    while coming:
        arrival, *rest = coming
        coming = tuple(rest)
        if arrival.channel in blocked:
            kept = (*kept, arrival)
        elif arrival.element is not None:
            order = (*order, arrival.element)
        else:
            blocked |= {arrival.channel}
            if len(blocked) == channels:
                before, blocked = (*before, frozenset(order)), frozenset()
                coming, kept = kept + coming, ()
    return Cut(before, order)


def interleavings_of_two_channels() -> Iterator[tuple[int, tuple[Arrival, ...]]]:
    contents: tuple[tuple[Element, ...], ...] = ((1, None, 2), (None, 1, None), (1, None, None, 2), (None, 1))
    for left, right in product(contents, repeat=2):
        turns = set(permutations((0,) * len(left) + (1,) * len(right)))
        for order in sorted(turns):
            sources = (iter(left), iter(right))
            yield 2, tuple(make_arrival(channel, next(sources[channel])) for channel in order)


@law("BARR-8", "BARR-3", samples=interleavings_of_two_channels)
def same_cut_by_blocking_and_buffering(channels: int, arrivals: tuple[Arrival, ...]) -> bool:
    """Whether the sender holds back or the receiver keeps, the same elements are processed before each checkpoint.

    Before each checkpoint the elements that were sent before its barrier; and each channel in order.
    """
    blocking, buffering = process_blocking(channels, arrivals), process_buffering(channels, arrivals)
    sent = [[one.element for one in arrivals if one.channel == channel] for channel in range(channels)]
    due = tuple(
        frozenset(element for elements in sent for element in take_until_barrier(elements, number))
        for number in range(len(blocking.before))
    )
    in_order = all(is_in_order(cut.order, elements) for cut in (blocking, buffering) for elements in sent)
    same = blocking.before == buffering.before and set(blocking.order) == set(buffering.order)
    return same and blocking.before == due and in_order


def is_in_order(order: tuple[int, ...], elements: list[Element]) -> bool:
    mine = [element for element in order if element in elements]
    return mine == [element for element in elements if element is not None][: len(mine)]


def take_until_barrier(elements: list[Element], number: int) -> Iterator[int]:
    """The elements before the barrier of that number, counted from 0."""
    barriers = 0
    for element in elements:
        if element is None:
            barriers += 1
            if barriers > number:
                return
        else:
            yield element


def make_arrival(channel: int, element: Element) -> Arrival:
    return Arrival(channel, None if element is None else element + 10 * channel)
