"""A case: a config and the events to play, with the answers where they are fixed."""

from collections.abc import Iterator
from typing import Any

import attrs

from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import AnyComponent, Outcome, follow


@attrs.frozen
class Case:
    """One story. `expect` has one tuple of observations for each event; without it the specification judges.

    A `brief` one is written without the fields that have their default: it means the same, and engines must know.
    """

    name: str
    component: str
    config: Any
    events: tuple[Any, ...]
    expect: tuple[tuple[Any, ...], ...] | None = None
    rules: tuple[str, ...] = ()
    brief: bool = attrs.field(default=False, eq=False, kw_only=True)

    @property
    def model(self) -> AnyComponent:
        return COMPONENTS[self.component]

    def follow(self) -> Iterator[Outcome[Any, Any]]:
        """What may happen: of each event the first outcome that the specification allows."""
        return follow(self.model.step, self.model.start(self.config)[0], self.events)
