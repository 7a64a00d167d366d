"""A case: a config and the events to play, with the answers where they are fixed."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import AnyComponent, Outcome, follow


@attrs.frozen
class Way:
    """What the specification allows with this config: each event with its only outcome, up to the first choice.

    Steps that are `shared` are the very same objects in many cases. `events` are those of the case that it was made
    for, if it is the way of all of them.
    """

    config: Any
    steps: Sequence[tuple[Any, Sequence[Outcome[Any, Any]]]]
    events: Sequence[Any] | None = None
    shared: bool = False

    def is_of(self, config: Any, events: Sequence[Any]) -> bool:
        """Whether it is that of a whole case."""
        if self.config is not config:
            return False
        if self.events is events:
            return True
        return len(self.steps) == len(events) and all(
            known is event for (known, _), event in zip(self.steps, events, strict=True)
        )


@attrs.frozen
class Case:
    """One story. `expect` has one tuple of observations for each event; without it the specification judges.

    A `brief` one is written without the fields that have their default: it means the same, and engines must know.
    `way` is what whoever made the case has found out about it, so that nobody has to follow the specification again.
    """

    name: str
    component: str
    config: Any
    events: tuple[Any, ...]
    expect: tuple[tuple[Any, ...], ...] | None = None
    rules: tuple[str, ...] = ()
    brief: bool = attrs.field(default=False, eq=False, kw_only=True)
    way: Way | None = attrs.field(default=None, eq=False, repr=False, kw_only=True)

    @property
    def model(self) -> AnyComponent:
        return COMPONENTS[self.component]

    @property
    def is_settled(self) -> bool:
        """Whether its way is known to the end, without any choice."""
        return self.way is not None and self.way.is_of(self.config, self.events)

    def follow(self) -> Iterator[Outcome[Any, Any]]:
        """What may happen: of each event the first outcome that the specification allows."""
        if self.way is not None and self.is_settled:
            return (outcomes[0] for _event, outcomes in self.way.steps)
        return follow(self.model.step, self.model.start(self.config)[0], self.events)
