"""Randomness: a stream of random numbers per name, so that additions change nothing else.

A generator uses one `Random`. If that is a `Dice`, `stream(random, "channels")` is a separate stream: its numbers
depend only on the case (seed, component, index) and on the name, not on draws from other streams. Each field of a
config has a stream of its name. Each kind of event has one for its share of the case, one for its times, and one for
its fields (`swarm`, `among`). The rest of a case comes from the main stream: its length has a stream as well, but its
pool of timestamps and the like do not.

These additions keep every case of every seed stable:

- *A setting* that draws from a stream of its own name. All other fields of the config stay, and the trace stays as long
  as neither the generator nor the component uses the new field. Aimed cases keep their numbers if the field has a
  default and comes last: its aimed cases come after all others.
- *A kind of event* that is added to `swarm`, after the first one. The config stays, and so do the shares and the order
  of the other kinds: the new kind comes in between. Up to its first event the trace is the same. After that the others
  come in the same order, and each kind continues its own stream.
- *A field of an event* that draws from `stream(random, "<field>")`, where `random` is the stream of its kind. All
  other events and fields stay.

These do change cases:

- After the first event of a new kind the state may differ, and the generator's choices depend on the state. If the
  length of a trace is fixed, the last events drop out.
- A draw from a shared stream changes all later draws from it.
- The few steady traces leave out kinds that are rare beside the most frequent kind, which may be the new one.
- A number or list without a default in a config adds aims between the others: the usual cases, four of five, stay; the
  later aimed ones get other numbers. An entry that is added to `aims` or `once` does the same.
- Hypothesis has no streams: it draws bytes, in order of use. There `stream` returns its argument.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import count
from math import inf, log
from random import Random
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tidegate.properties.drawing.walk import Walk

#: How often the first or last of very many things is picked.
AT_ENDS = 0.8
ENDS = (0, 1, -2, -1)
#: A digest as numbers of 32 bits.
WORDS = Struct("<16I").unpack
RANGE = 2**32

Option = TypeVar("Option")


class Source(Random):
    """A source of randomness that also decides where a trace ends and which of its events are left out.

    Bulk generation draws a length, and keeps every event. Hypothesis shrinks a failing case with other answers, and can
    leave out one event without changing the later ones.
    """

    #: How many events a case may have.
    max_events: float = inf

    def begin(self, states: Sequence[Any]) -> Any:
        """The start state of a walk, if there are several."""
        return states[0]

    def part(self) -> None:
        """Later draws are independent of earlier ones."""

    def goes_on(self) -> bool:
        """Whether there is one more round."""
        raise NotImplementedError

    def keeps(self) -> bool:
        """Whether the last drawn thing, such as an event, is part of the case."""
        raise NotImplementedError


class Dice(Random):
    """The main stream of a case, or one of its other streams: each draws what `Random` draws for its key.

    It is faster than `Random`, and knows the last walk that was made with it.
    """

    walk: "Walk[Any, Any] | None" = None
    #: Length of the trace, if it is not drawn.
    length: int | None = None
    #: Whether to avoid events that end a trace early.
    steady = False
    #: Maximum number of equal kinds of events in a row.
    run = 1
    #: Whether no kind of event is rare.
    even = False
    #: How many events may follow the end, instead of few.
    behind = 1
    #: Number of things of which mostly the first and the last are picked, if any.
    wide: int | None = None
    gauss_next = None

    def __init__(self, name: str) -> None:
        # The C function itself: `Random.seed` would first check for other kinds of seeds.
        super(Random, self).seed(key_of(name))
        self.name = name
        self._streams: dict[str, Dice] = {}
        getrandbits = self.getrandbits

        def choice(seq: Any) -> Any:
            bound = len(seq)
            bits = bound.bit_length()
            drawn = getrandbits(bits)
            while drawn >= bound > 0:
                drawn = getrandbits(bits)
            return seq[drawn]

        # By far the most frequent call: a function on the object costs a third of a method.
        self.choice = choice  # type: ignore[method-assign]

    def of(self, name: str) -> "Dice":
        """The stream of that name, always the same object, with the settings of this one."""
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = Dice(f"{self.name}/{name}")
            found.length, found.steady, found.behind = self.length, self.steady, self.behind
            found.run, found.even = self.run, self.even
            if self.wide is not None:
                found.look_at_ends(self.wide)
        return found

    def pick(self, name: str, options: Sequence[Option]) -> Option:
        """The option for this name in this case; cheaper than a stream for a single draw."""
        return options[int.from_bytes(digest(f"{self.name}/{name}", 4)) % len(options)]

    def waits(self, name: str) -> Iterator[float]:
        """The times between arrivals for this name, at a rate of one per unit of time."""
        for block in count():
            for number in WORDS(digest(f"{self.name}/{name}/{block}", 64)):
                yield -log((number + 0.5) / RANGE)

    def look_at_ends(self, count: int) -> None:
        """From here on, mostly the first and the last of that many things are picked.

        Otherwise a case with very many channels would hardly use one twice; and a counter with too few bits takes the
        last ones for the first. The same holds for ordered subsets of most of them: those that are open, or wait.
        """
        choose, draw = self.choice, self.randrange
        ends = sorted({place % count for place in (0, 1, count - 2, count - 1)})

        def choice(seq: Any) -> Any:
            if 2 * len(seq) > count and len(seq) > len(ENDS) and self.random() < AT_ENDS:
                return seq[choose(ENDS)]
            return choose(seq)

        def randrange(start: int, stop: int | None = None, step: int = 1) -> int:
            if (start, stop) in ((count, None), (0, count)) and step == 1 and self.random() < AT_ENDS:
                return int(choose(ends))
            return draw(start, stop, step)

        self.wide = count
        self.choice = choice  # type: ignore[method-assign]
        self.randrange = randrange  # type: ignore[method-assign]
        for one in self._streams.values():
            one.look_at_ends(count)

    def forget(self) -> None:
        """Break reference cycles, so that the garbage collector need not."""
        for one in self._streams.values():
            one.forget()
        vars(self).clear()


def key_of(name: str) -> int:
    return int.from_bytes(digest(name, 16))


def digest(text: str, size: int) -> bytes:
    return blake2b(text.encode(), digest_size=size).digest()


def stream(random: Random, name: str) -> Random:
    """The stream of that name; a source without streams returns itself."""
    return random.of(name) if isinstance(random, Dice) else random


def pick(random: Random, name: str, options: Sequence[Option]) -> Option:
    """One of the options, fixed for this name in the whole case."""
    return random.pick(name, options) if isinstance(random, Dice) else random.choice(options)
