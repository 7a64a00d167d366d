"""A case: a config and events, with the answers if they are deterministic."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import AnyComponent, Outcome, follow


@attrs.frozen
class Way:
    """The allowed way with this config: each event with its only outcome, up to the first choice.

    `shared` steps are the same objects in many cases. `events` are those of its case, if it covers all of them.
    """

    config: Any
    steps: Sequence[tuple[Any, Sequence[Outcome[Any, Any]]]]
    events: Sequence[Any] | None = None
    shared: bool = False

    def is_of(self, config: Any, events: Sequence[Any]) -> bool:
        """Whether it covers a whole case."""
        if self.config is not config:
            return False
        if self.events is events:
            return True
        return len(self.steps) == len(events) and all(
            known is event for (known, _), event in zip(self.steps, events, strict=True)
        )


@attrs.frozen
class Case:
    """A config with events. `expect` has one tuple of observations per event; without it the specification judges.

    A `brief` case omits fields with their default: it means the same, and engines must accept it. `way` caches the
    specification's outcomes from the creation of the case.
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
        """Whether its way is known completely, without any choice."""
        return self.way is not None and self.way.is_of(self.config, self.events)

    def follow(self) -> Iterator[Outcome[Any, Any]]:
        """A possible run: the first allowed outcome of each event."""
        if self.way is not None and self.is_settled:
            return (outcomes[0] for _event, outcomes in self.way.steps)
        return follow(self.model.step, self.model.start(self.config)[0], self.events)
