"""Operators that know event time: sums that wait for their time, and what they hold back meanwhile.

A `timer` adds up the values of each key and timestamp, and emits the sum when event time has come to that timestamp. A
`co_timer` does so for two inputs, whose watermarks the combiner joins. A `window` adds up the values of each key and
window of `size`, emits the sum when event time has come to the last timestamp of the window, and for each record that
comes within `lateness` behind it once more. What comes later than that goes to the late output, if anybody reads it.

A watermark makes timers due. They fire one by one, and other things may happen in between; but until the last of them
has fired the watermark waits, and whatever comes after it waits behind it: statuses, watermarks, and the end.

Choices. Timers that are due fire by their time, and those of one time by their key. A watermark leaves when the timers
up to it have fired, although later ones may be due; an engine that tells only the last of several that wait is right,
too.
"""

import attrs

from tidegate.reference.elements import MAX, MIN, Long, StatusChange, Watermark
from tidegate.reference.job.functions import wrap
from tidegate.reference.job.programs import EndOfData, EndOfPartition, Function, Operator, Record

#: What an operator holds back while timers are due.
Held = Watermark | StatusChange | EndOfData | EndOfPartition


@attrs.frozen
class Timer:
    """It is due at `time`, and about the sum of a key and a timestamp."""

    time: Long
    key: str
    of: Long


@attrs.frozen
class Sum:
    of: Long
    key: str
    value: Long


@attrs.frozen(cache_hash=True)
class Timed:
    """What an operator knows of event time: `time` is what it has heard, `told` what it has handed on.

    `timers` and `sums` are sorted, so that equal knowledge is equal.
    """

    time: Long = MIN
    told: Long = MIN
    timers: tuple[Timer, ...] = ()
    sums: tuple[Sum, ...] = ()
    held: tuple[Held, ...] = ()

    @property
    def due(self) -> tuple[Timer, ...]:
        return tuple(timer for timer in self.timers if timer.time <= self.time)


@attrs.frozen
class Heard:
    """What became of a record: the sums that are emitted at once, whether it was late, and the rules."""

    timed: Timed
    emitted: tuple[Record, ...]
    is_late: bool
    rules: tuple[str, ...]


# --- records --------------------------------------------------------------------------------------------------


def compute_last(operator: Operator, timestamp: int) -> Long:
    """The timestamp that a record is added up under: its own, or the last one of its window."""
    if operator.function is not Function.WINDOW:
        return Long(timestamp)
    assert operator.size is not None
    return Long(min(timestamp // operator.size * operator.size + operator.size - 1, MAX))


def compute_cleanup(operator: Operator, last: int) -> Long:
    return Long(min(last + (operator.lateness or 0), MAX))


def on_record(operator: Operator, timed: Timed, record: Record) -> Heard:
    last = compute_last(operator, record.timestamp)
    cleanup = compute_cleanup(operator, last)
    if cleanup <= timed.time:
        return Heard(timed, (), True, ("TIME-6",))  # noqa: FBT003 - it is late
    sums = {(one.of, one.key): one.value for one in timed.sums}
    value = sums[last, record.key] = wrap(sums.get((last, record.key), 0) + record.value)
    timers = {*timed.timers, Timer(cleanup, record.key, last)}
    is_again = last <= timed.time
    if not is_again:
        timers.add(Timer(last, record.key, last))
    after = attrs.evolve(timed, timers=sort_timers(timers), sums=make_sums(sums))
    emitted = (Record(record.key, value, last),) if is_again else ()
    rule = "TIME-1" if operator.function is not Function.WINDOW else "TIME-7" if is_again else "TIME-5"
    return Heard(after, emitted, False, (rule,))  # noqa: FBT003 - it is not late


def sort_timers(timers: set[Timer]) -> tuple[Timer, ...]:
    return tuple(sorted(timers, key=lambda timer: (timer.time, timer.key, timer.of)))


def make_sums(sums: dict[tuple[Long, str], Long]) -> tuple[Sum, ...]:
    return tuple(Sum(of, key, value) for (of, key), value in sorted(sums.items()))


# --- time -----------------------------------------------------------------------------------------------------


def hold(timed: Timed, element: Held) -> Timed:
    """A watermark is the time at once; but it is handed on when its timers have fired, and so is all behind it."""
    time = element.timestamp if isinstance(element, Watermark) else timed.time
    return attrs.evolve(timed, time=time, held=(*timed.held, element))


def fire(operator: Operator, timed: Timed, timer: Timer) -> tuple[Timed, tuple[Record, ...]]:
    """The timer is gone; its sum is emitted if this is its time, and forgotten if it is not needed any longer."""
    sums = {(one.of, one.key): one.value for one in timed.sums}
    emitted: tuple[Record, ...] = ()
    if timer.time == timer.of and (timer.of, timer.key) in sums:
        emitted = (Record(timer.key, sums[timer.of, timer.key], timer.of),)
    if timer.time >= compute_cleanup(operator, timer.of):
        sums.pop((timer.of, timer.key), None)
    timers = tuple(one for one in timed.timers if one != timer)
    return attrs.evolve(timed, timers=timers, sums=make_sums(sums)), emitted


def release(timed: Timed) -> tuple[Timed, tuple[Held, ...]]:
    """What was held back goes on in the order in which it came, up to a watermark with timers that are due."""
    freed: list[Held] = []
    told = timed.told
    for element in timed.held:
        if isinstance(element, Watermark):
            if timed.timers and timed.timers[0].time <= element.timestamp:
                break
            told = element.timestamp
        freed.append(element)
    return attrs.evolve(timed, told=told, held=timed.held[len(freed) :]), tuple(freed)
