"""Where chance comes from: a stream of random numbers for each name, so that what is added moves nothing else.

A generator asks one `Random`. If that is a `Dice`, `stream(random, "channels")` is a stream of its own: its numbers
depend on the case (seed, component, index) and on the name, and on nothing that is drawn from another stream. Each
field of a config has the stream of its name; each kind of event has one for its share of the case, one for when it
comes, and one for its fields (`swarm`, `among`). The rest of a case comes from the main stream: its length has a stream
as well, but its pool of timestamps and the like do not.

What stays, for every case of every seed, whoever adds what:

- *A setting* that draws from a stream of its own name. All other fields of the config stay, and the trace does, as
  long as neither the generator nor the component looks at the new field. Aimed cases keep their numbers if the field
  has a default and comes last: what is aimed at it stands behind all else.
- *A kind of event* that is added to `swarm`, behind the first one. The config stays, and so do the shares of the other
  kinds and the order in which they come: the new kind comes in between. Up to the first place that it takes, the trace
  is the same. Behind it the others come in the same order, and each kind draws on from where it was.
- *A field of an event* that draws from `stream(random, "<field>")`, where `random` is the stream of its kind. All
  other events and fields stay.

What cannot stay:

- Behind the first event of a new kind the state may be another. What a generator makes of the same numbers depends on
  the state. And where the length of a trace is given, the last events give way.
- What is drawn from a stream that others draw from as well moves what they draw after it.
- The few steady traces leave out what is rare beside the most frequent kind, which may be a new one.
- A number or list without a default in a config adds aims between those of the others: the usual cases, four of five,
  stay; the aimed ones behind have other numbers. An entry that is added to `aims` or `once` does the same.
- Hypothesis has no streams: it draws bytes, in the order of the questions. There `stream` gives what it was given.
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

#: How often one of the ends is picked of very many things.
AT_ENDS = 0.8
ENDS = (0, 1, -2, -1)
#: A digest as numbers of 32 bits.
WORDS = Struct("<16I").unpack
RANGE = 2**32

Option = TypeVar("Option")


class Source(Random):
    """A source of randomness that is asked where a trace ends and which of its events are left out.

    Bulk generation has none of this: it draws a length, and keeps every event. Hypothesis makes a failing case small
    by other answers, and leaves out one event without any change of what comes behind it.
    """

    #: How many events a case may have.
    max_events: float = inf

    def begin(self, states: Sequence[Any]) -> Any:
        """The state that a walk begins in, if it could be any of these."""
        return states[0]

    def part(self) -> None:
        """What is drawn from here on has nothing to do with what was drawn before."""

    def goes_on(self) -> bool:
        """Whether there is one more round."""
        raise NotImplementedError

    def keeps(self) -> bool:
        """Whether what was just drawn, such as an event, is part of the case."""
        raise NotImplementedError


class Dice(Random):
    """The main stream of a case, or one of its other streams: each gives what `Random` gives for its key.

    It takes less time than `Random` does; and it knows the walk that was last made with it.
    """

    walk: "Walk[Any, Any] | None" = None
    #: How long the trace is to be, if that is not to be drawn.
    length: int | None = None
    #: Whether nothing is to happen that ends a trace early.
    steady = False
    #: How often the same kind of event is drawn one after the other, at most.
    run = 1
    #: Whether no kind of event is rare.
    even = False
    #: How many events may come behind the end, where few would do.
    behind = 1
    #: Of how many things mostly the first and the last ones are picked, if of any.
    wide: int | None = None
    gauss_next = None

    def __init__(self, name: str) -> None:
        # The C function itself: `Random.seed` would look at many other kinds of seeds first.
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

        # The most frequent question by far: a function of this very object costs a third of a method.
        self.choice = choice  # type: ignore[method-assign]

    def of(self, name: str) -> "Dice":
        """The stream of that name, always the same object; what is asked of this one is asked of it, too."""
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = Dice(f"{self.name}/{name}")
            found.length, found.steady, found.behind = self.length, self.steady, self.behind
            found.run, found.even = self.run, self.even
            if self.wide is not None:
                found.look_at_ends(self.wide)
        return found

    def pick(self, name: str, options: Sequence[Option]) -> Option:
        """The option that this name has in this case: for what is drawn once, cheaper than a stream."""
        return options[int.from_bytes(digest(f"{self.name}/{name}", 4)) % len(options)]

    def waits(self, name: str) -> Iterator[float]:
        """How long it takes from one arrival of what has this name to the next, if it comes once per unit of time."""
        for block in count():
            for number in WORDS(digest(f"{self.name}/{name}/{block}", 64)):
                yield -log((number + 0.5) / RANGE)

    def look_at_ends(self, count: int) -> None:
        """Of so many things mostly the first and the last ones are picked from here on.

        Else a case with very many channels would hardly meet one twice; and what is counted in too few bits takes the
        last ones for the first. The same for most of them, in their order: those that are open, or wait.
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
        """Let go of what refers back to this object, so that no collector has to find out."""
        for one in self._streams.values():
            one.forget()
        vars(self).clear()


def key_of(name: str) -> int:
    return int.from_bytes(digest(name, 16))


def digest(text: str, size: int) -> bytes:
    return blake2b(text.encode(), digest_size=size).digest()


def stream(random: Random, name: str) -> Random:
    """The stream of that name; a source that has no streams itself."""
    return random.of(name) if isinstance(random, Dice) else random


def pick(random: Random, name: str, options: Sequence[Option]) -> Option:
    """One of the options, which this name keeps for the whole case."""
    return random.pick(name, options) if isinstance(random, Dice) else random.choice(options)
