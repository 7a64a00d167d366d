"""Answers the questions of the playground: components, their configs, and traces step by step.

Questions and answers are JSON values. Nothing is remembered between questions, so that a page can go back, branch and
compare freely. This module uses neither files nor the network; it runs wherever the specification does.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib import import_module
from itertools import islice, pairwise
from random import Random
from typing import Any

import attrs

from tidegate.conformance import schemas
from tidegate.conformance.documents.job_story import choose
from tidegate.conformance.documents.stepping import show
from tidegate.conformance.engines.museum import catalog
from tidegate.conformance.engines.museum.wrong import Mutant
from tidegate.conformance.judging.convictions import convict
from tidegate.conformance.judging.golden import read_golden
from tidegate.conformance.web.walking import Graph, make_graph, transitions
from tidegate.properties.drawing.directed import directed
from tidegate.properties.drawing.scopes import small
from tidegate.properties.drawing.timestamps import replace_timestamps
from tidegate.properties.explorer import closures
from tidegate.properties.explorer.exploring import Shown
from tidegate.reference.components import BY_FLOOR, COMPONENTS
from tidegate.reference.credit import credit_loop
from tidegate.reference.elements import MAX, MIN, Counted, counted_in
from tidegate.reference.job import step as job
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.model import AnyComponent, InvalidInputError, Outcome, Rejected
from tidegate.reference.rules import all_rules
from tidegate.traces.cases import Case
from tidegate.traces.codec import DecodeError, decode, encode, find_component, numbers_in
from tidegate.traces.notation.forms import forms_of
from tidegate.traces.notation.text import read_trace, write_event, write_observation, write_trace

#: Longer traces are for `tidegate replay`.
MAX_EVENTS = 1000
#: How many events are offered, per kind and in all, and how many candidates are examined for them.
MAX_OF_A_KIND = 10
MAX_OFFERS = 80
MAX_LOOKED_AT = 400
#: How many states are explored while the user waits, and with how many events each if there is no scope.
MAX_STATES = 1500
MAX_EXPLORED = 16
#: Timestamps for watermarks in an exploration.
MAX_TIMESTAMPS = 5
#: Cached graphs: a user walks in one, and compares it with another.
KEPT = 4
#: Neighbours shown on either side of the current place, and behind each neighbour.
MAX_PLACES = 16
MAX_BEHIND = 4
#: A config with more parts is too large to show and to compute quickly.
MAX_PARTS = 512
#: Largest numbers in a config, by what they count. Bytes are limited because drawn events fill a buffer.
MOST: Mapping[Counted | None, int] = {
    Counted.PARTS: MAX_PARTS,
    Counted.SUBTASKS: MAX_PARTS,
    Counted.BUFFERS: MAX_PARTS,
    Counted.BYTES: 2**16,
}
#: JavaScript cannot hold integers beyond these.
EXACT = 2**53


class PlayError(ValueError):
    """An invalid question; `about` says which part of it."""

    def __init__(self, message: str, **about: Any) -> None:
        super().__init__(message)
        self.about = about


def answer(question: Any) -> dict[str, Any]:
    """The answer to a question; to an invalid one an `error`."""
    asked = question.get("ask") if isinstance(question, Mapping) else None
    if not isinstance(asked, str) or asked not in ANSWERS:
        return {"error": {"message": f"ask must be one of {', '.join(ANSWERS)}"}}
    try:
        return ANSWERS[asked](question)
    except PlayError as error:
        return {"error": {"message": str(error), **error.about}}


# --- components -----------------------------------------------------------------------------------------------


def list_components(_question: Any = None) -> dict[str, Any]:
    """Every component, the core first, with its sentence; and every rule, since outcomes also name rules of others."""
    return {
        "components": [
            {
                "name": place.name,
                "subject": place.subject,
                "floor": place.floor,
                "title": COMPONENTS[place.name].title,
                "sentence": place.sentence,
            }
            for places in BY_FLOOR.values()
            for place in places
        ],
        "rules": {
            rule.id: {"text": rule.text, "intent": rule.intent, "source": rule.source, "level": rule.level}
            for rule in all_rules().values()
        },
    }


def describe_component(question: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that a page needs to play one component."""
    component = component_of(question)
    schema = schemas.load(component.name)["$defs"]["config"]
    return {
        "name": component.name,
        "title": component.title,
        "about": schemas.load(component.name)["description"],
        "semantics": list(component.semantics),
        "fields": list(fields_of(component, schema)),
        "config": usual_config(component.name),
        "forms": [{"type": form.type, "form": form.shown()} for form in forms_of(component.name)],
        "claims": {
            one.name: {"statement": one.statement, "rules": list(one.rules)}
            for one in (*component.properties, *component.invariants)
        },
        "stories": [attrs.asdict(one) for one in stories(component.name)],
    }


def component_of(question: Mapping[str, Any]) -> AnyComponent:
    try:
        return find_component(question.get("component"))
    except DecodeError as error:
        raise PlayError(str(error), part="component") from None


def fields_of(component: AnyComponent, schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The fields of a config with their domains."""
    known = {field.name: field for field in attrs.fields(component.config)}
    for name, given in schema.get("properties", {}).items():
        domain = resolve(component.name, given)
        default = known[name].default if name in known else attrs.NOTHING
        plain = isinstance(default, bool | int | str)
        kind = "enum" if "enum" in domain else domain.get("type", "json")
        most = MOST.get(counted_in(component.config).get(name))
        yield {
            "name": name,
            "kind": kind if kind in ("enum", "integer", "boolean") else "json",
            "description": given.get("description", domain.get("description", "")),
            "values": domain.get("enum", []),
            "minimum": domain.get("minimum"),
            "maximum": min(domain["maximum"], most) if most is not None and most < domain.get("maximum", 0) else None,
            "domain": domain_of(domain),
            "default": default if plain else None,
            "required": name in schema.get("required", ()),
        }


def domain_of(domain: Mapping[str, Any]) -> str:
    """The domain of a number in words."""
    least, most = domain.get("minimum"), domain.get("maximum")
    if least is None and most is None:
        return ""
    return (
        f"From {least} to {most}."
        if None not in (least, most)
        else f"At least {least}."
        if most is None
        else f"At most {most}."
    )


def resolve(component: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if reference is None:
        return schema
    file, _, name = reference.partition("#/$defs/")
    found: Mapping[str, Any] = schemas.load(file.removesuffix(".json") or component)["$defs"][name]
    return found


#: As in `tidegate explore`: three show everything that is hard about many.
FIRST_CONFIGS = {"valve": {"channels": 3}, "combiner": {"inputs": 3}}


def usual_config(component: str) -> Any:
    """The first config: the most common one of the directed traces."""
    if component in FIRST_CONFIGS:
        return encode(decode(FIRST_CONFIGS[component], COMPONENTS[component].config))
    configs = [json.dumps(encode(one.case.config)) for one in directed(component)]
    return json.loads(max(configs, key=configs.count))


@attrs.frozen
class Story:
    """An interesting trace, and its story."""

    group: str
    name: str
    story: str
    rules: tuple[str, ...]
    config: Any
    trace: str


@cache
def stories(component: str) -> tuple[Story, ...]:
    """Directed traces, traces of the museum, and golden traces; long ones are left out."""
    found = [word_count()] if component == "job" else []
    found += [make_story("directed", one.case, one.story) for one in directed(component)]
    found += [of_mutant(mutant) for mutant in catalog.mutants_of(component)]
    told = {one.name for one in found}
    found += [make_story("golden", case, "") for case in read_golden(component) if short(case) not in told]
    return tuple(one for one in found if len(one.trace.split()) <= MAX_EVENTS)


def short(case: Case) -> str:
    return case.name.removeprefix(f"{case.component}-").removeprefix("directed-")


def make_story(group: str, case: Case, story: str) -> Story:
    trace = write_trace(case.component, case.events)
    return Story(group, short(case), story, case.rules, encode(case.config), trace)


def word_count() -> Story:
    """The job of `tidegate explain job`, from start to end."""
    config = make_word_count()
    (state,) = job.start(config)
    events: list[Any] = []
    while choices := job.enabled(state):
        events.append(choose(choices, len(events)))
        state = job.step(state, events[-1])[0].state
    story = "Two sources, lines split into words, counted by key: every step of a scheduler, to the end of the job."
    return Story("directed", "word-count", story, (), encode(config), write_trace("job", events))


def of_mutant(mutant: Mutant) -> Story:
    case = convict(mutant)
    story = f"{mutant.story} ({mutant.origin})"
    name = mutant.name.removeprefix(f"{mutant.component}-")
    return Story("museum", name, story, mutant.rules, encode(case.config), write_trace(mutant.component, case.events))


# --- playing --------------------------------------------------------------------------------------------------


def play(question: Mapping[str, Any]) -> dict[str, Any]:
    """The states and outcomes of a trace, and the events offered after step `at` (default: the last).

    `choices` selects outcomes by step number, `start` selects the first state. An invalid token ends the trace before
    it, and `error` has its place.
    """
    component = component_of(question)
    config = config_of(component, question.get("config", {}))
    choices = choices_of(question.get("choices", {}))
    events, error = read_tokens(component.name, question.get("trace", ""))
    starts = component.start(config)
    start = pick(question.get("start", 0), len(starts))
    state = starts[start]
    states, steps = [state], []
    for number, (token, event) in enumerate(events):
        try:
            outcomes = component.step(state, event)
        except InvalidInputError as problem:
            error = {"message": f"{token[0]}: {problem}", "start": token.start(), "end": token.end()}
            break
        chosen = pick(choices.get(number, 0), len(outcomes))
        steps.append(
            {
                "event": write_event(component.name, event),
                "json": encode(event),
                "chosen": chosen,
                "outcomes": [describe_outcome(component, state, event, one) for one in outcomes],
            }
        )
        state = outcomes[chosen].state
        states.append(state)
    at = pick(question.get("at", len(steps)), len(states), len(steps))
    return {
        "config": encode(config),
        "start": start,
        "starts": [describe_state(one) for one in starts],
        "broken": broken_in(component, states[0]),
        "steps": steps,
        "at": at,
        "offers": offers(component, config, states[at]),
        **({"names": name_parts(config)} if component.name == "job" else {}),
        **({"error": error} if error else {}),
    }


def name_parts(config: Any) -> dict[str, list[Any]]:
    """The names of a job's subtasks and channels by number, and the operators of each task."""
    layout = compute_layout(config)
    names = [f"{place.task.name} {place.number}" for place in layout.places]
    return {
        "subtask": names,
        "channel": [f"{names[route.source]} → {names[route.target]}" for route in layout.routes],
        "tasks": [list(task.operators) for task in layout.tasks],
    }


def config_of(component: AnyComponent, given: Any) -> Any:
    if isinstance(given, Mapping):
        check_lists(given)
    try:
        config = decode(given, component.config, "config", strict=True)
    except DecodeError as error:
        raise PlayError(str(error), part="config") from None
    for name, counted, number in numbers_in(config):
        most = MOST.get(counted, number)
        if number > most:
            raise PlayError(f"{name} is {number}; at most {most} can be played here", part="config")
    return config


def check_lists(value: Any, name: str = "config") -> None:
    items = value.items() if isinstance(value, Mapping) else ((name, one) for one in value)
    for key, inner in items:
        if isinstance(inner, Mapping | list):
            if len(inner) > MAX_PARTS:
                raise PlayError(f"{key} has {len(inner)} parts; at most {MAX_PARTS} can be played here", part="config")
            check_lists(inner, key)


def choices_of(given: Any) -> dict[int, Any]:
    if not isinstance(given, Mapping) or not all(str(key).isdecimal() for key in given):
        raise PlayError("choices must be an object that maps step numbers to outcome numbers", part="choices")
    return {int(key): value for key, value in given.items()}


def pick(number: Any, count: int, otherwise: int = 0) -> int:
    """The choice if it is possible: after an edit, some choices no longer apply."""
    return number if type(number) is int and 0 <= number < count else otherwise


Token = re.Match[str]


def read_tokens(component: str, trace: Any) -> tuple[list[tuple[Token, Any]], dict[str, Any] | None]:
    if not isinstance(trace, str):
        raise PlayError("trace must be a string in short notation", part="trace")
    events: list[tuple[Token, Any]] = []
    for token in re.finditer(r"\S+", trace):
        place = {"start": token.start(), "end": token.end()}
        try:
            read = read_trace(component, token[0])
        except DecodeError as error:
            return events, {"message": str(error), **place}
        if len(events) + len(read) > MAX_EVENTS:
            return events, {"message": f"only {MAX_EVENTS} events can be played here; use tidegate replay", **place}
        events += [(token, event) for event in read]
    return events, None


def describe_outcome(component: AnyComponent, before: Any, event: Any, outcome: Outcome[Any, Any]) -> dict[str, Any]:
    return {
        "observations": [write_observation(one) for one in outcome.observations],
        "rules": list(outcome.rules),
        "broken": broken_by(component, before, event, outcome),
        "values": [encode(one) for one in outcome.observations],
        **describe_state(outcome.state),
    }


def describe_state(state: Any) -> dict[str, Any]:
    """A state as a plain value, and as text as in `tidegate explain`."""
    return {"state": plain(state), "words": show(state)}


def broken_by(component: AnyComponent, before: Any, event: Any, outcome: Outcome[Any, Any]) -> list[str]:
    """The claims that this step breaks."""
    broken = [one.name for one in component.properties if not one.holds(before, event, outcome)]
    return broken + [name for name in broken_in(component, outcome.state) if name not in broken_in(component, before)]


def broken_in(component: AnyComponent, state: Any) -> list[str]:
    return [one.name for one in component.invariants if not one.holds(state)]


def plain(value: Any) -> Any:
    """Any value of the specification as JSON for display, without the config, which does not change."""
    if attrs.has(type(value)):
        names = [field.name for field in attrs.fields(type(value)) if field.name != "config"]
        kind = {"type": value.type} if isinstance(getattr(value, "type", None), str) else {}
        return kind | {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, frozenset | set):
        return [plain(one) for one in sorted(value, key=repr)]
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > EXACT:
        return "MIN" if value == MIN else "MAX" if value == MAX else str(value)
    return value if value is None or isinstance(value, bool | int | str) else str(value)


# --- offered events -------------------------------------------------------------------------------------------

#: Fields that group the offered events; the first one that an event has decides.
ABOUT = ("channel", "input", "output", "gate", "member", "consumer", "reader", "subpartition", "producer", "operator")


def offers(component: AnyComponent, config: Any, state: Any) -> list[dict[str, Any]]:
    """Useful events with their effects, without those that make no sense in this state."""
    offered: list[dict[str, Any]] = []
    kinds: Counter[str] = Counter()
    for event in dict.fromkeys(islice(alphabet(component, config, state), MAX_LOOKED_AT)):
        about = next((name for name in ABOUT if getattr(event, name, None) is not None), None)
        kind = f"{about} {getattr(event, about)}" if about else event.type.replace("_", " ")
        if kinds[kind] == MAX_OF_A_KIND or len(offered) == MAX_OFFERS:
            continue
        try:
            outcomes = component.step(state, event)
        except InvalidInputError:
            continue
        kinds[kind] += 1
        offered.append({"group": kind, **describe_offer(component, state, event, outcomes)})
    return offered


def describe_offer(
    component: AnyComponent, state: Any, event: Any, outcomes: tuple[Outcome[Any, Any], ...]
) -> dict[str, Any]:
    first = outcomes[0]
    return {
        "event": write_event(component.name, event),
        "outcomes": len(outcomes),
        "observations": [write_observation(one) for one in first.observations],
        "refused": any(isinstance(one, Rejected) for one in first.observations),
        "changes": any(one.state != state for one in outcomes),
        "breaks": broken_by(component, state, event, first),
        **(
            {"json": encode(event), "values": [encode(one) for one in first.observations]}
            if event.type == "graph"
            else {}
        ),
    }


#: Components with an alphabet for any config or state; the others use scopes and their generators.
ALPHABETS: dict[str, Callable[[Any, Any], Iterable[Any]]] = {
    "valve": lambda config, state: nearby(closures.of_valve(config.channels, 3, config.semantics), state.channels),
    "combiner": lambda config, state: nearby(closures.of_combiner(config.inputs, 3, config.semantics), state.inputs),
    "multiplexer": lambda config, state: nearby(closures.of_multiplexer(3, 3, config.semantics), state.outputs),
    "credit_loop": lambda _config, state: credit_loop.enabled(state),
    "job": lambda _config, state: job.enabled(state),
}


def nearby(closure: closures.Closure, parts: Iterable[Any]) -> Iterator[Any]:
    """The events of a closure, with timestamps near the present ones: the highest two, and one more."""
    held = sorted({part.watermark for part in parts} - {MIN, MAX} | {1, 2})
    rewrite = replace_timestamps((*held[-2:], min(held[-1] + 1, MAX)))
    return map(rewrite, closure.alphabet(closure.configs[0], None))


def alphabet(component: AnyComponent, config: Any, state: Any) -> Iterator[Any]:
    if component.name in ALPHABETS:
        yield from ALPHABETS[component.name](config, state)
        return
    for scope in small(component.name):
        if config in scope.configs:
            yield from scope.alphabet(config, state)
    yield from drawn(component.name, config)


@lru_cache(64)
def drawn(component: str, config: Any) -> tuple[Any, ...]:
    """Events that the generator draws for a config, shortest notation first."""
    draw = import_module(f"tidegate.properties.cases.{component}").draw
    found = dict.fromkeys(event for seed in range(8) for event in draw(Random(seed), config)[1])
    return tuple(sorted(found, key=lambda event: len(write_event(component, event)))[: 4 * MAX_OFFERS])


# --- exploration ----------------------------------------------------------------------------------------------


def explore(question: Mapping[str, Any]) -> dict[str, Any]:
    """Every state that a small alphabet reaches with a config, up to a limit: claims, and traces."""
    component = component_of(question)
    config = config_of(component, question.get("config", {}))
    layers: list[int] = []
    try:
        closure = find_closure(component, config, timestamps_of(question))
        found = closure.explore(config, MAX_STATES, lambda states, _transitions: layers.append(states))
    except InvalidInputError as error:
        raise PlayError(str(error), part="config") from None
    parts = closure.component.symmetry.parts if closure.component.symmetry else ""
    return {
        "note": closure.note,
        "states": found.states,
        "transitions": found.transitions,
        "symmetry": parts,
        "complete": found.complete,
        "layers": [after - before for before, after in pairwise([0, *layers]) if after > before],
        "checked": list(found.checked),
        "broken": [describe_shown(component, one) for one in found.broken],
        "reached": [describe_shown(component, one) for one in found.reached],
    }


def describe_shown(component: AnyComponent, shown: Shown) -> dict[str, Any]:
    return {"name": shown.name, "statement": shown.statement, "trace": write_trace(component.name, shown.trace)}


def timestamps_of(question: Mapping[str, Any]) -> int | None:
    """The number of timestamps, if given; small, so that the user does not wait."""
    given = question.get("timestamps")
    if given is None or (type(given) is int and 1 <= given <= MAX_TIMESTAMPS):
        return given
    raise PlayError(f"timestamps must be from 1 to {MAX_TIMESTAMPS}", part="timestamps")


def find_closure(component: AnyComponent, config: Any, timestamps: int | None) -> closures.Closure:
    """The closure of `tidegate explore`, if it fits the config; else a closure over some of the offered events."""
    if component.name in CLOSURES:
        return CLOSURES[component.name](config, timestamps)
    for scope in small(component.name):
        if config in scope.configs:
            return closures.of_scope(scope)

    def events(_config: Any, state: Any) -> list[Any]:
        taken = (event for event in islice(alphabet(component, config, state), MAX_LOOKED_AT) if speaks(state, event))
        return list(dict.fromkeys(islice(taken, MAX_EXPLORED)))

    def speaks(state: Any, event: Any) -> bool:
        try:
            return bool(component.step(state, event))
        except InvalidInputError:
            return False

    note = f"up to {MAX_EXPLORED} of the offered events in each state"
    return closures.Closure(note, attrs.evolve(component, symmetry=None), (config,), events)


CLOSURES: dict[str, Callable[[Any, int | None], closures.Closure]] = {
    "valve": lambda config, timestamps: closures.of_valve(config.channels, timestamps or 3, config.semantics),
    "combiner": lambda config, timestamps: closures.of_combiner(config.inputs, timestamps or 3, config.semantics),
    "multiplexer": lambda config, timestamps: closures.of_multiplexer(2, timestamps or 2, config.semantics),
}


def find_neighbours(question: Mapping[str, Any]) -> dict[str, Any]:
    """The place of a trace's last state in the closure, its predecessors and its successors."""
    component = component_of(question)
    config = config_of(component, question.get("config", {}))
    timestamps = timestamps_of(question)
    try:
        closure = find_closure(component, config, timestamps)
        graph = graph_of(component.name, config, timestamps)
        state = follow(closure.component, config, question)
    except InvalidInputError as error:
        raise PlayError(str(error), part="config") from None
    here = graph.represent(state)
    if here not in graph.numbers:
        raise PlayError(
            "this trace leads to a state that was not explored: it has events outside the alphabet", part="trace"
        )
    behind = list(graph.sources.get(here, {}).items())
    return {
        "here": describe_place(graph, state),
        "layers": graph.layers,
        "complete": graph.complete,
        "before": [
            {
                "event": write_event(component.name, event),
                "trace": write_trace(component.name, graph.trace_to(known)),
                "number": graph.numbers[known],
                "depth": graph.depths[known],
            }
            for known, event in behind[:MAX_PLACES]
            if known != here
        ],
        "after": describe_after(closure, config, graph, state),
    }


@lru_cache(KEPT)
def graph_of(component: str, config: Any, timestamps: int | None) -> Graph:
    return make_graph(find_closure(COMPONENTS[component], config, timestamps), config, MAX_STATES)


def follow(component: AnyComponent, config: Any, question: Mapping[str, Any]) -> Any:
    """The state after the current step of a trace."""
    choices = choices_of(question.get("choices", {}))
    events, _error = read_tokens(component.name, question.get("trace", ""))
    starts = component.start(config)
    state = starts[pick(question.get("start", 0), len(starts))]
    for number, (_token, event) in enumerate(events[: pick(question.get("at"), len(events), len(events))]):
        outcomes = component.step(state, event)
        state = outcomes[pick(choices.get(number, 0), len(outcomes))].state
    return state


def describe_after(closure: closures.Closure, config: Any, graph: Graph, state: Any) -> list[dict[str, Any]]:
    """The successors, each with its events; the first event is the one to take."""
    component = closure.component
    found: dict[Any, dict[str, Any]] = {}
    counts: Counter[Any] = Counter()
    for event, outcome in transitions(component, closure.alphabet(config, state), state):
        choice, known = counts[event], graph.represent(outcome.state)
        counts[event] += 1
        if known not in graph.numbers or (known not in found and len(found) == MAX_PLACES):
            continue
        if known not in found:
            ahead = {
                graph.represent(one.state)
                for _event, one in transitions(component, closure.alphabet(config, outcome.state), outcome.state)
            }
            numbers = sorted(graph.numbers[one] for one in ahead - {known} if one in graph.numbers)
            found[known] = {
                **describe_place(graph, outcome.state),
                "choice": choice,
                "events": [],
                "breaks": broken_by(component, state, event, outcome),
                "ahead": numbers[:MAX_BEHIND],
                "more": max(0, len(numbers) - MAX_BEHIND),
            }
        found[known]["events"].append(write_event(component.name, event))
    return list(found.values())


def describe_place(graph: Graph, state: Any) -> dict[str, Any]:
    known = graph.represent(state)
    return {
        "number": graph.numbers[known],
        "depth": graph.depths[known],
        "words": show(state),
        "broken": broken_in(graph.component, state),
    }


ANSWERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "components": list_components,
    "component": describe_component,
    "explore": explore,
    "neighbours": find_neighbours,
    "play": play,
}
