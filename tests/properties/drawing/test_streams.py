"""What is added to a generator moves nothing else: settings, kinds of events, and fields of events."""

from random import Random

import attrs
import pytest

from tidegate.properties.cases import credit_sender as sender_cases
from tidegate.properties.drawing import boundaries
from tidegate.properties.drawing import cases as drawing
from tidegate.properties.drawing.cases import AIMED_EVERY, draw_case, generator_of
from tidegate.properties.drawing.dice import Dice, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.values import Race, among, swarm
from tidegate.properties.drawing.walk import Walk, stay
from tidegate.reference.components import COMPONENTS
from tidegate.reference.credit import credit_sender
from tidegate.reference.subpartition.values import Flush

CASES = range(200)

# --- a small generator ----------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    channels: int
    capacity: int


@attrs.frozen
class LargerConfig(Config):
    """With a field before the others are drawn: the order in the code makes no difference."""

    timeout: int = 0


@attrs.frozen
class Event:
    kind: str
    channel: int
    size: int
    priority: int = 0


def draw_config(random, *, larger=False):
    timeout = stream(random, "timeout").choice(range(1000)) if larger else 0
    fields = {
        "channels": stream(random, "channels").randint(1, 5),
        "capacity": stream(random, "capacity").choice((1, 2, 8, 100)),
    }
    return LargerConfig(**fields, timeout=timeout) if larger else Config(**fields)


def draw(random, config=None, *, setting=False, kind=False, field=False):
    """A case of the small generator, with what is added to it."""
    config = config or draw_config(random, larger=setting)
    base = random.randrange(1000)
    draw_kind = among(random, swarm(random, **({"new": 1.0} if kind else {}), data=5.0, event=1.0, barrier=0.5))
    walk = Walk(random, (config,), stay)
    for _ in walk.rounds():
        own, drawn = draw_kind()
        priority = stream(own, "priority").randrange(8) if field else 0
        walk.play_one(Event(drawn, own.randrange(config.channels), base + own.randrange(1000), priority))
    return config, walk.events


def draws(**added):
    return [draw(Dice(f"{index}"), **added) for index in CASES]


OLD = draws()


def test_a_setting_that_is_added_moves_nothing():
    new = draws(setting=True)
    assert len({config.timeout for config, _ in new}) > 100
    assert [(Config(config.channels, config.capacity), events) for config, events in new] == OLD


def test_a_field_of_an_event_that_is_added_moves_nothing():
    new = draws(field=True)
    assert {event.priority for _, events in new for event in events} == set(range(8))
    assert [(config, tuple(attrs.evolve(event, priority=0) for event in events)) for config, events in new] == OLD


def test_a_kind_of_event_that_is_added_comes_in_between():
    """Here no event depends on what came before, so all others stay, up to the length of the case."""
    new = draws(kind=True)
    taken = 0
    for (config, events), (old_config, old) in zip(new, OLD, strict=True):
        others = tuple(event for event in events if event.kind != "new")
        if "data" in {event.kind for event in others}:  # else the new kind is the first, which is never left out
            assert others == old[: len(others)]
        taken += len(events) - len(others)
        assert (config, len(events)) == (old_config, len(old))
    assert taken > 100


def test_what_is_possible_in_a_race_and_new_comes_in_between():
    def run(options):
        race = Race(Dice("0"), lambda option: option[0])
        return [race.draw(options, [1.0] * len(options)) for _ in range(300)]

    new, old = run(["a0", "a1", "b0", "x0", "x1"]), run(["a0", "a1", "b0"])
    others = [option for option in new if option[0] != "x"]
    assert len(others) < len(new)
    assert others == old[: len(others)]


def test_one_stream_knows_nothing_of_another():
    dice, other = Dice("0"), Dice("0")
    other.random()
    other.of("channels").random()
    assert dice.of("capacity").random() == other.of("capacity").random() != dice.of("channels").random()


# --- a real one -----------------------------------------------------------------------------------------------

COMPONENT = "credit_sender"


def sender_draws():
    return [draw_case(COMPONENT, 0, index) for index in CASES]


@pytest.fixture
def old_draws():
    return sender_draws()


@attrs.frozen
class SenderConfig(credit_sender.Config):
    """With a number that has a default: it brings aims of its own."""

    retries: int = 0


def add_setting(monkeypatch):
    def draw_config(random):
        retries = stream(random, "retries").randrange(1000)
        return SenderConfig(**attrs.asdict(drawn(random)), retries=retries)

    drawn = sender_cases.draw_config
    monkeypatch.setattr(sender_cases, "draw_config", draw_config)
    generator = attrs.evolve(sender_cases.GENERATOR, draw_config=draw_config)
    monkeypatch.setattr(drawing, "generator_of", lambda _component: generator)
    model = attrs.evolve(COMPONENTS[COMPONENT], config=SenderConfig)
    once = boundaries.draws_at_boundaries(generator, model)
    monkeypatch.setattr(drawing, "drawn_once", lambda _component: once)
    return once


def test_a_setting_of_a_real_component_moves_nothing(old_draws, monkeypatch):
    before = len(drawing.drawn_once(COMPONENT))
    assert len(add_setting(monkeypatch)) > before
    new = sender_draws()
    assert len({getattr(case.config, "retries", 0) for case in new}) > 50
    known = [number for number in CASES if number % AIMED_EVERY != AIMED_EVERY - 1 or number // AIMED_EVERY < before]
    assert len(known) > len(CASES) * 0.9
    for number in known:
        old = old_draws[number]
        assert new[number].config.initial_credit == old.config.initial_credit
        assert (new[number].events, new[number].brief) == (old.events, old.brief)


class Poke(Flush):
    """An event that the component takes for a flush."""


def test_a_kind_of_event_of_a_real_component_leaves_what_comes_before_it(monkeypatch):
    """And the others come in the same order, whatever it did."""
    kinds = []

    def draw_events(random, kind, state):
        kinds[-1].append(kind)
        return [Poke()] if kind == "new" else known_events(random, kind, state)

    def sender_draws_with_kinds():
        drawn = []
        for index in CASES:
            kinds.append([])
            drawn.append((draw_case(COMPONENT, 0, index), tuple(kinds[-1])))
        return drawn

    known_events, known_swarm = sender_cases.draw_events, sender_cases.swarm
    monkeypatch.setattr(sender_cases, "draw_events", draw_events)
    old_draws = sender_draws_with_kinds()
    monkeypatch.setattr(sender_cases, "swarm", lambda random, **usual: known_swarm(random, **usual, new=1.0))
    poked = 0
    for (new, new_kinds), (old, old_kinds) in zip(sender_draws_with_kinds(), old_draws, strict=True):
        place = next((number for number, event in enumerate(new.events) if isinstance(event, Poke)), None)
        poked += place is not None
        assert new.config == old.config
        assert new.events[:place] == old.events[:place]
        others = [kind for kind in new_kinds if kind != "new"]
        most = min(len(others), len(old_kinds))
        assert others[:most] == list(old_kinds[:most])
    assert poked > len(CASES) / 4


# --- what generators say --------------------------------------------------------------------------------------


def test_generators_say_what_they_offer():
    for component in COMPONENTS:
        generator = generator_of(component)
        assert isinstance(generator, Generator)
        fields = attrs.fields_dict(COMPONENTS[component].config)
        assert set(generator.unrepeatable) <= set(fields)


@pytest.mark.parametrize("component", COMPONENTS)
def test_there_are_runs_wherever_there_can_be(component):
    names = set()
    for index in range(20):
        dice = Dice(f"{index}")
        dice.run = 12
        generator_of(component).draw(dice)
        names |= {name for name in dice._streams if name.startswith("runs of")}
    assert generator_of(component).in_runs == bool(names)


@pytest.mark.parametrize("component", COMPONENTS)
def test_any_source_will_do(component):
    config = generator_of(component).draw_config(Random("0"))
    generator_of(component).draw(Random("0"), config)
