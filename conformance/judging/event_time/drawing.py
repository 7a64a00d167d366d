"""More traces for Spark's own event time: known corners, and random ones."""

from random import Random

from tidegate.conformance.engines.spark.native.traces import Event, Trace, read_trace

#: By name: the trace, and how many sources it has.
CORNERS = {
    "one-source": ("0r11 0r21 | 0r1 | 0r1 0r12 | 0r31", 1),
    "ends-of-windows": ("0r10 1r10 | 0r9 1r0 | 0r9 1r10 | 0r20 1r20 | 0r19", 2),
    "order-in-a-window": ("0r3 1r2 0r1 0r5 1r9 0r4 1r1 | 0r2 0r9 1r3 | 0r6 1r7 0r8", 2),
    "empty-micro-batches": ("0r1 | | 0r11 1r12 | | | 0r1 1r1", 2),
    "idle-and-back": ("0r11 1r12 2r1 | 2i 0r25 1r26 | 2a 2r2 | 2r27 0e | 1e 2e", 3),
}
#: Most drawn items are records; the others change what Flink does, and must not change what Spark does.
_WORDS = ("r",) * 24 + ("i", "i", "a", "e")


def make_corners() -> dict[str, Trace]:
    return {name: read_trace(text, sources) for name, (text, sources) in CORNERS.items()}


def draw_traces(seed: int, count: int) -> dict[str, Trace]:
    """The trace of a number is the same for every count."""
    return {f"random-{number}": draw_trace(Random(f"{seed}/{number}")) for number in range(count)}


def draw_trace(random: Random) -> Trace:
    """A few sources, each at its own pace, whose times rise with some disorder, and sometimes before 1970."""
    sources = random.randint(1, 3)
    paces = [random.choice((0, 4, 10, 15)) for _ in range(sources)]
    begin = random.choice((0, 8, 8, 8))
    ended: set[int] = set()
    batches = []
    for batch in range(random.randint(2, 5)):
        events = []
        for _ in range(random.randint(0, 12)):
            source, kind = random.randrange(sources), random.choice(_WORDS)
            if source in ended:
                continue
            ended |= {source} if kind == "e" else set()
            time = begin + batch * paces[source] + random.randint(-6, 12) if kind == "r" else 0
            events.append(Event(source, kind, time))
        batches.append(tuple(events))
    return Trace(tuple(batches), sources)
