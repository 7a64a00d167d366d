"""The generator of a component: `GENERATOR`, one record in each `properties/cases/<component>.py`."""

from collections.abc import Callable
from typing import Any

import attrs

from tidegate.properties.drawing.dice import Dice

#: Draws a case: a config with matching events.
Aim = Callable[[Dice], tuple[Any, tuple[Any, ...]]]


def always(*_values: Any) -> bool:
    return True


@attrs.frozen(kw_only=True)
class Generator:
    """How the cases of a component are drawn.

    `draw(random, config)` draws a case, with a new config if none is given, and `draw_config(random)` a config. The
    rest has defaults:

    - `aims` draw situations that are too rare at random. They take turns, in one of five cases.
    - `once`: each draws one case per seed, because its cases are large.
    - `in_runs`: whether there are cases with runs of one kind of events, and cases without rare kinds. `swarm` and
      `among` draw both.
    - `unrepeatable`: lists of the config whose elements have their own names or places: they cannot be extended by
      repeating elements.
    - `can_widen(config)`: whether a field of this config may become very large.
    - `is_fair(state, event)`: false if the specification does not cover the event, as for `Walk`.
    """

    draw: Callable[..., tuple[Any, tuple[Any, ...]]]
    draw_config: Callable[..., Any]
    aims: tuple[Aim, ...] = ()
    once: tuple[Aim, ...] = ()
    in_runs: bool = True
    unrepeatable: tuple[str, ...] = ()
    can_widen: Callable[[Any], bool] = always
    is_fair: Callable[[Any, Any], bool] = always
