"""Closures for the explorer: components with a few configs each, and an alphabet for every state."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import Any

import attrs

from tidegate.properties.cases.combiner import make_alphabet as make_combiner_alphabet
from tidegate.properties.cases.multiplexer import make_alphabet as make_multiplexer_alphabet
from tidegate.properties.cases.valve import make_alphabet as make_valve_alphabet
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.scopes import small
from tidegate.properties.explorer import cut_streams, schedules
from tidegate.properties.explorer.exploring import Exploration, Progress, Shown, explore, in_silence
from tidegate.reference.credit import credit_loop as loop
from tidegate.reference.job import COMPONENT as JOB
from tidegate.reference.job import programs
from tidegate.reference.job import step as scheduler
from tidegate.reference.model import AnyComponent, InvalidInputError, Outcome
from tidegate.reference.spanning.records import short_streams
from tidegate.reference.watermarks import combiner, multiplexer, valve

#: Longest streams for the deserializer: with this many records there are some 59,000.
MOST_RECORDS = 10


@attrs.frozen
class Closure:
    """A component with some configs. `note` describes them and their caps in words.

    If the component declares a symmetry, the alphabet treats all parts alike. `reduced` is an alphabet without some
    events whose order makes no difference: it breaks the same claims, but traces may be longer.
    """

    note: str
    component: AnyComponent
    configs: tuple[Any, ...]
    alphabet: Callable[[Any, Any], Iterable[Any]]
    opening: Callable[[Any], tuple[Any, ...]] = lambda _config: ()
    reduced: Callable[[Any, Any], Iterable[Any]] | None = None

    def explore(
        self,
        config: Any,
        limit: int | None = None,
        progress: Progress = in_silence,
        *,
        symmetry: bool = True,
        reduction: bool = True,
    ) -> Exploration:
        used = self.component.symmetry if symmetry else None
        opening = self.opening(config)
        if self.reduced is None or not reduction:
            return explore(self.component, config, self.alphabet_of(config), limit, progress, used, opening)
        found = explore(self.component, config, partial(self.reduced, config), limit, progress, used, opening)
        if not found.broken or found.interrupted or found.full:
            return found
        whole = self.explore(config, limit, progress, symmetry=symmetry, reduction=False)
        return attrs.evolve(found, broken=prefer(whole.broken, found.broken))

    def alphabet_of(self, config: Any) -> Callable[[Any], Iterable[Any]]:
        return partial(self.alphabet, config)


def prefer(shortest: Iterable[Shown], others: Iterable[Shown]) -> tuple[Shown, ...]:
    """A shortest trace for each claim, if one was found before the limit."""
    known = {one.name: one for one in shortest}
    return tuple(known.get(one.name, one) for one in others)


def of_valve(channels: int, timestamps: int, semantics: str) -> Closure:
    events = make_valve_alphabet(channels, timestamps, refused=False)
    note = f"{counted(channels, 'channel')} × {counted(timestamps, 'timestamp')}, {semantics}"
    return Closure(note, valve.COMPONENT, (valve.Config(channels, semantics),), lambda _config, _state: events)


def of_combiner(inputs: int, timestamps: int, semantics: str) -> Closure:
    events = make_combiner_alphabet(inputs, timestamps, refused=False)
    note = f"{counted(inputs, 'input')} × {counted(timestamps, 'timestamp')}, {semantics}"
    return Closure(note, combiner.COMPONENT, (combiner.Config(inputs, semantics),), lambda _config, _state: events)


def of_multiplexer(outputs: int, timestamps: int, semantics: str) -> Closure:
    events = make_multiplexer_alphabet(outputs, timestamps, lean=False)
    note = f"{counted(outputs, 'output')} × {counted(timestamps, 'timestamp')}, {semantics}"
    return Closure(note, multiplexer.COMPONENT, (multiplexer.Config(semantics),), lambda _config, _state: events)


def of_credit_loop(
    channels: int, exclusive: Iterable[int], floating: Iterable[int], loads: Iterable[tuple[int, int]]
) -> Iterable[Closure]:
    """One closure per distribution of buffers and per load: data buffers and barriers on each channel."""
    for (data, barriers), owned, shared in product(loads, exclusive, floating):
        config = loop.Config(channels, owned, shared, data, barriers)
        note = (
            f"{counted(channels, 'channel')}, {counted(owned, 'exclusive buffer')} each and "
            f"{counted(shared, 'floating buffer')}; {counted(data, 'data buffer')} and {counted(barriers, 'barrier')} "
            "to be written on each"
        )
        yield Closure(note, loop.COMPONENT, (config,), lambda _config, state: loop.enabled(state))


def of_job(name: str, config: programs.Config) -> Closure:
    """Every schedule of a program; schedules that differ only in the order of independent choices count once."""
    note = f"{name}, every schedule"
    return Closure(
        note,
        JOB,
        (config,),
        lambda _config, state: scheduler.enabled(state),
        reduced=lambda _config, state: schedules.choose(state),
    )


def of_deserializer(records: int) -> Closure:
    """Each record triples the number of streams; no byte occurs twice in a stream."""
    if records > MOST_RECORDS:
        raise InvalidInputError(f"a scope is small: at most {MOST_RECORDS} records, not {records}")
    configs = tuple(cut_streams.Config(payloads) for payloads in short_streams(records) if len(payloads) == records)
    streams = f"{len(configs)} streams of {counted(records, 'record')}"
    note = f"every cut of {streams} with 0, 1 or 5 bytes each"
    return Closure(note, cut_streams.COMPONENT, configs, lambda _config, state: cut_streams.next_buffers(state))


def of_small_scopes(component: str) -> list[Closure]:
    return [of_scope(scope) for scope in small(component)]


def of_scope(scope: Scope) -> Closure:
    """The closure of a complete suite, so that properties are checked there, too."""

    def alphabet(config: Any, state: Any) -> Iterable[Any]:
        return scope.alphabet(config, state) if scope.expand(state) else ()

    def step(state: Any, event: Any) -> tuple[Outcome[Any, Any], ...]:
        outcomes = scope.model.step(state, event)
        return tuple(attrs.evolve(one, state=scope.canonical(one.state)) for one in outcomes)

    note = f"{scope.name}: {scope.covers}" + (f"; capped: {scope.cap}" if scope.cap else "")
    component = attrs.evolve(scope.model, step=step, symmetry=scope.model.symmetry if scope.symmetric else None)
    return Closure(note, component, scope.configs, alphabet, scope.opening)
