"""What a component of the specification is.

A component takes one event at a time and answers with observations. It is described as a *relation*, because a
specification must not forbid what is allowed: rebalance may start at any channel. `start` gives the states a
component may start in, `step` the outcomes that are allowed for an event, and each outcome names the rules that
justify it. Deterministic components give one state and one outcome.

States, events, observations and outcomes are frozen, hashable values; nothing mutates and nothing does I/O. Judge,
explorer, complete suites, coverage and documentation are all written once, over this interface.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Annotated, Any, ClassVar, Generic, TypeVar, get_args

import attrs

Config = TypeVar("Config")
State = TypeVar("State")
Event = TypeVar("Event")
Observation = TypeVar("Observation")
Value = TypeVar("Value")

#: The numbers of some parts, in the order in which they are numbered anew.
Order = tuple[int, ...]


class InvalidInputError(ValueError):
    """A config or an event that makes no sense: not refused by the component, but no input to it at all."""


@attrs.frozen
class Rejected:
    """The event must be refused: this is the only observation, and every part of the state stays as it was.

    An engine may say why; the reason is not compared.
    """

    type: ClassVar[str] = "rejected"
    reason: Annotated[str | None, "Why, for a reader; it is not compared."] = attrs.field(default=None, eq=False)


@attrs.frozen
class Outcome(Generic[State, Observation]):
    """One thing that may happen: the state afterwards, what is seen, and the rules that say so."""

    state: State
    observations: tuple[Observation | Rejected, ...]
    rules: tuple[str, ...]


def rejected(state: State, *rules: str) -> tuple[Outcome[State, Any], ...]:
    """The only outcome of an event that must be refused."""
    return (Outcome(state, (Rejected(),), rules),)


def follow(
    step: Callable[[State, Event], tuple[Outcome[State, Observation], ...]], state: State, events: Iterable[Event]
) -> Iterator[Outcome[State, Observation]]:
    """What happens with one event after the other, if it is always the first outcome that is allowed."""
    for event in events:
        outcome = step(state, event)[0]
        yield outcome
        state = outcome.state


def reach(
    step: Callable[[State, Event], tuple[Outcome[State, Observation], ...]], state: State, events: Iterable[Event]
) -> State:
    """The state that these outcomes lead to."""
    for event in events:
        state = step(state, event)[0].state
    return state


@attrs.frozen
class Claim:
    """What a function decides: its name is the name of the claim, and its docstring begins with the statement."""

    name: str
    statement: str
    rules: tuple[str, ...]
    holds: Callable[..., bool]


@attrs.frozen
class Property(Claim, Generic[State, Event, Observation]):
    """Something that must hold on every transition: `holds(before, event, outcome)`.

    A property or invariant that a dated semantics is known to break is claimed all the same: that is how its defect
    is shown.
    """

    holds: Callable[[State, Event, Outcome[State, Observation]], bool]


@attrs.frozen
class Invariant(Claim, Generic[State]):
    """Something that must hold in every state that can be reached: `holds(state)`."""

    holds: Callable[[State], bool]


@attrs.frozen
class Law(Claim):
    """Something that holds of the functions a component is made of: `holds(*sample)` for every one of `samples()`.

    Laws state the rules that no single transition shows: a range that is the preimage of a formula, a table.
    The samples are a small scope, enumerated whole.
    """

    samples: Callable[[], Iterable[tuple[Any, ...]]]


@attrs.frozen
class Sometimes(Claim, Generic[State, Event, Observation]):
    """Something that must be reachable: `holds(before, event, outcome)` on at least one transition.

    It keeps the other claims from holding only because nothing happens.
    """

    holds: Callable[[State, Event, Outcome[State, Observation]], bool]


@attrs.frozen
class Symmetry(Generic[State]):
    """Parts of a component that differ only in their numbers, such as the channels of a valve.

    Parts are numbered anew by an order: what was number `order[n]` is number `n` from then on. `rearrange` does so to
    a state; events and observations name a part in `field`, if at all. `sort` chooses an order in which states that
    differ only in numbers become the same.

    To declare a symmetry is to say that numbers make no difference. A start state with other numbers is that start
    state; a step from a state with other numbers, by the event with these numbers, has the same outcomes with these
    numbers, by the same rules; and each property and invariant says the same of both. Then one state stands for all
    that differ from it in numbers alone. `sort` need not be perfect: where it misses that two states are alike, both
    are looked at.
    """

    parts: str
    field: str
    rearrange: Callable[[State, Order], State]
    sort: Callable[[State], Order]

    def canonical(self, state: State) -> State:
        """The one that stands for the state."""
        return self.rearrange(state, self.sort(state))

    def rename(self, value: Value, order: Order) -> Value:
        """An event or observation, with the part that it names numbered anew."""
        number = getattr(value, self.field, None)
        if number not in order:
            return value
        return attrs.evolve(value, **{self.field: order.index(number)})  # type: ignore[misc]


def classes_of(kind: Any) -> tuple[type[Any], ...]:
    """The classes of a union; or, of what is no union, the one that it is."""
    return kind if isinstance(kind, tuple) else get_args(kind) or (kind,)


def claims_in(*modules: ModuleType | str) -> tuple[Claim, ...]:
    """The claims that the modules make, in the order of their definition. What they import is not theirs."""
    found = [vars(sys.modules[one] if isinstance(one, str) else one) for one in modules]
    return tuple(
        value
        for names in found
        for value in names.values()
        if isinstance(value, Claim) and value.holds.__module__ == names["__name__"]
    )


@attrs.frozen
class Component(Generic[Config, State, Event, Observation]):
    """A component, complete: the types of its values, its two functions, and what must hold.

    `semantics` are the dated ones that a config may name, the default first. `extensions` are what was added after
    engines had been written: a config may name one, and only engines that declare it are asked. `symmetry` is for parts
    whose numbers make no difference, if there are any. `drawn` are the rules by which one of several outcomes is drawn,
    each as likely as the others whatever was drawn before.
    """

    name: str
    title: str
    config: type[Config]
    events: tuple[type[Any], ...] = attrs.field(converter=classes_of)
    observations: tuple[type[Any], ...] = attrs.field(converter=classes_of)
    start: Callable[[Config], tuple[State, ...]]
    step: Callable[[State, Event], tuple[Outcome[State, Observation], ...]]
    claims: tuple[Claim, ...] = ()
    semantics: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    symmetry: Symmetry[State] | None = None
    drawn: tuple[str, ...] = ()

    @classmethod
    def of(cls, *modules: ModuleType | str, title: str, drawn: tuple[str, ...] = ()) -> "AnyComponent":
        """What the modules define under the usual names; the first is that of the component itself.

        `Config`, and beside it `SEMANTICS` and `EXTENSIONS`, if it has any; `Event`, `Observation`, `start` and `step`;
        a `SYMMETRY`, if there is one; and all claims that the modules make.
        """
        found = [vars(sys.modules[one] if isinstance(one, str) else one) for one in modules]

        def find(name: str) -> Any:
            return next((one[name] for one in found if not isinstance(one.get(name), ModuleType | None)), None)

        beside_config = vars(sys.modules[find("Config").__module__])
        return Component(
            name=found[0]["__name__"].rpartition(".")[2],
            title=title,
            config=find("Config"),
            events=find("Event"),
            observations=find("Observation"),
            start=find("start"),
            step=find("step"),
            claims=claims_in(*modules),
            semantics=beside_config.get("SEMANTICS", ()),
            extensions=beside_config.get("EXTENSIONS", ()),
            symmetry=find("SYMMETRY"),
            drawn=drawn,
        )

    @property
    def properties(self) -> tuple[Property[State, Event, Observation], ...]:
        return tuple(one for one in self.claims if isinstance(one, Property))

    @property
    def invariants(self) -> tuple[Invariant[State], ...]:
        return tuple(one for one in self.claims if isinstance(one, Invariant))

    @property
    def laws(self) -> tuple[Law, ...]:
        return tuple(one for one in self.claims if isinstance(one, Law))

    @property
    def sometimes(self) -> tuple[Sometimes[State, Event, Observation], ...]:
        return tuple(one for one in self.claims if isinstance(one, Sometimes))


AnyComponent = Component[Any, Any, Any, Any]
