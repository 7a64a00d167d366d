"""What the generator of a component offers: `GENERATOR`, one record in each `properties/cases/<component>.py`."""

from collections.abc import Callable
from typing import Any

import attrs

from tidegate.properties.drawing.dice import Dice

#: Draws a case: a config and events that go with it.
Aim = Callable[[Dice], tuple[Any, tuple[Any, ...]]]


def always(*_values: Any) -> bool:
    return True


@attrs.frozen(kw_only=True)
class Generator:
    """How the cases of a component are drawn.

    `draw(random, config)` draws a case, with a config of its own if it is given none, and `draw_config(random)` a
    config. The rest has defaults:

    - `aims` draw what chance makes too rarely. They take turns, one in five cases.
    - `once` are drawn from once per seed each, because what they draw is large.
    - `in_runs`: whether there are cases with runs of one kind of events, and cases in which no kind is rare. Both are
      drawn by `swarm` and `among`.
    - `unrepeatable` are the lists of the config whose elements have names or places of their own: they do not become
      longer by repeating what is in them.
    - `can_widen(config)`: whether a field of this config may become very large.
    - `is_fair(state, event)`: false for what the specification does not speak of, as it is for `Walk`.
    """

    draw: Callable[..., tuple[Any, tuple[Any, ...]]]
    draw_config: Callable[..., Any]
    aims: tuple[Aim, ...] = ()
    once: tuple[Aim, ...] = ()
    in_runs: bool = True
    unrepeatable: tuple[str, ...] = ()
    can_widen: Callable[[Any], bool] = always
    is_fair: Callable[[Any, Any], bool] = always
