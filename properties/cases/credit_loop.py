"""Cases for the closed loop: schedules, each with its own bias."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Aim, Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import COUNTS, Race
from tidegate.properties.drawing.walk import Walk, draw_length
from tidegate.reference.credit.credit_loop import Action, Choice, Config, State, enabled, is_enabled, start, step
from tidegate.reference.credit.credit_receiver import ResumeMessage

#: With more channels only a few take part: otherwise hardly any data would arrive on any of them.
FEW = 16


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Choice, ...]]:
    config = config or draw_config(random)
    biases = {action: pick(random, f"share of {action.value}", (0.05, 0.3, 1, 1, 3)) for action in Action}
    race = Race[Choice](random, lambda choice: choice.action.value)
    favourite = random.randrange(config.channels)
    refused = random.choice((0, 0, 0.05, 0.2))
    walk = Walk(random, start(config), step, length=random.choice((draw_length(random), 90)))
    for _ in walk.rounds():
        choices = enabled(walk.state) if config.channels <= FEW else enabled_at_ends(walk.state, favourite)
        if not choices:
            break
        weights = [biases[one.action] * (3 if one.channel == favourite else 1) for one in choices]
        event = race.draw(choices, weights)
        if random.random() < refused:
            action = random.choice((Action.WRITE, *Action))  # without a free buffer a producer cannot write
            event = Choice(random.choice((-1, config.channels, *range(config.channels))), action)
        walk.play_one(event)
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(
        channels=stream(random, "channels").choice((1, 2, 2, 2, 3)),
        exclusive=stream(random, "exclusive").choice((0, 0, 0, 1, 1, 2)),
        floating=stream(random, "floating").choice((1, 1, 2, 3)),
        data=stream(random, "data").randint(1, 4),
        barriers=stream(random, "barriers").choice((0, 0, 1, 1, 2)),
        output=stream(random, "output").choice((1, 2, 2, 3, 6)),
    )


def enabled_at_ends(state: State, favourite: int) -> tuple[Choice, ...]:
    """The choices of the first and the last channels, and of one between them."""
    channels = state.config.channels
    choices = (
        Choice(one, action) for one in sorted({0, 1, favourite, channels - 2, channels - 1}) for action in Action
    )
    return tuple(choice for choice in choices if is_enabled(state, choice))


def draw_held_back(random: Random) -> tuple[Config, tuple[Choice, ...]]:
    """Credit is in flight until the resume message is right behind it: they must not change places."""
    while True:
        config = Config(
            channels=random.choice((1, 1, 2)),
            exclusive=random.choice((0, 0, 0, 1)),
            floating=random.choice((2, 2, 3)),
            data=random.randint(3, 6),
            barriers=random.choice((1, 1, 2)),
            output=random.choice((2, 3, 6)),
        )
        is_met, events = draw_late_words(random, config)
        if is_met:
            return config, events


def draw_late_words(random: Random, config: Config) -> tuple[bool, tuple[Choice, ...]]:
    """Messages to a sender arrive once one of them is a resume; returns whether credit was before it."""
    biases = {action: random.choice((0.3, 1, 3)) for action in Action}
    is_met = False
    walk = Walk(random, start(config), step, length=150)
    for _ in walk.rounds():
        choices = enabled(walk.state)
        if not choices:
            break
        held = [one for one in choices if one.action is not Action.DELIVER_CREDIT or is_resuming(walk.state, one)]
        chosen = held if held and random.random() < 0.95 else choices
        event = random.choices(chosen, [biases[one.action] for one in chosen])[0]
        is_met = is_met or (event.action is Action.DELIVER_CREDIT and is_behind_credit(walk.state, event))
        walk.play_one(event)
        if event.action is Action.DELIVER_CREDIT and not walk.state.links[event.channel].up:
            # A wrong or missing send shows at once.
            walk.play(Choice(event.channel, action) for action in (Action.WRITE, Action.FLUSH, *[Action.DELIVER] * 3))
    return is_met, walk.events


def is_resuming(state: State, choice: Choice) -> bool:
    """Whether a resume message is in flight to the sender."""
    return any(isinstance(message, ResumeMessage) for message in state.links[choice.channel].up)


def is_behind_credit(state: State, choice: Choice) -> bool:
    words = state.links[choice.channel].up
    return is_resuming(state, choice) and not isinstance(words[0], ResumeMessage)


def draw_all_aligned(random: Random, channels: int) -> tuple[Config, tuple[Choice, ...]]:
    """Many channels have a barrier, and resume only when the last barrier has been read."""
    config = Config(channels, random.choice((0, 1, 2)), 1, data=1, barriers=1)
    order = [*random.sample(range(channels - 1), channels - 1), channels - 1]
    ways = [[Choice(one, action) for action in (Action.BARRIER, Action.DELIVER, Action.CONSUME)] for one in order]
    words = [Choice(one, Action.DELIVER_CREDIT) for one in (0, *order[-3:])]
    data = [Choice(one, action) for one in (0, channels - 1) for action in (Action.WRITE, Action.FLUSH, Action.DELIVER)]
    return config, (*(event for way in ways[:-1] for event in way), *words, *ways[-1], *words, *data)


def draw_far_behind(random: Random) -> tuple[Config, tuple[Choice, ...]]:
    """More is written before the receiver learns of it than a byte counts; then everything arrives."""
    most = 300
    config = Config(1, random.choice((0, 1)), most, data=most, barriers=1, output=most)
    walk = Walk(random, start(config), step, length=5 * most)
    walk.play([Choice(0, Action.WRITE)] * (most - 10))
    for _ in walk.up_to_length():
        choices = enabled(walk.state)
        if not choices:
            break
        walk.play_one(random.choice(choices))
    return config, walk.events


AIMS = (draw_held_back,)
ONCE: tuple[Aim, ...] = (
    *(partial(draw_all_aligned, channels=channels) for channels in COUNTS),
    *[draw_held_back] * 3,
    draw_far_behind,
)


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, once=ONCE, in_runs=False)


# --- scopes ---------------------------------------------------------------------------------------------------


ALL = tuple(Action)
#: The relevant actions if only barriers are written.
OF_BARRIERS = (Action.BARRIER, Action.DELIVER, Action.CONSUME, Action.DELIVER_CREDIT)


def make_scope(name: str, configs: tuple[Config, ...], actions: tuple[Action, ...] = ALL) -> Scope:
    """Every choice of these actions in every state; impossible ones must be refused."""

    def play(config: Config, _state: State) -> Iterator[Choice]:
        yield from (Choice(channel, action) for channel in range(config.channels) for action in actions)
        yield Choice(config.channels, Action.BARRIER)

    named = "every choice" if actions == ALL else f"choices of {', '.join(action.value for action in actions)}"
    return Scope(
        name=name,
        component="credit_loop",
        configs=configs,
        alphabet=play,
        covers=(
            f"{named} at any time, with {'; with '.join(map(describe, configs))}; refused: what is not possible at the "
            "time, and a channel out of range"
        ),
        symmetric=True,
    )


def describe(config: Config) -> str:
    return (
        f"{counted(config.channels, 'channel')}, {counted(config.data, 'data buffer')} and "
        f"{counted(config.barriers, 'barrier')} to write on each, {counted(config.output, 'buffer')} a producer, "
        f"{counted(config.exclusive, 'exclusive buffer')} a channel and {counted(config.floating, 'floating buffer')}"
    )


def small() -> Iterator[Scope]:
    yield make_scope(
        "one",
        (
            Config(1, 0, 1, data=1, barriers=1, output=1),
            Config(1, 0, 1, data=2, barriers=0, output=1),
            Config(1, 1, 1, data=2, barriers=0, output=1),
        ),
    )
    yield make_scope("barriers-of-two", (Config(2, 0, 1, data=0, barriers=1, output=1),), OF_BARRIERS)


def thorough() -> Iterator[Scope]:
    yield make_scope(
        "one",
        (
            Config(1, 0, 2, data=2, barriers=1, output=2),
            Config(1, 1, 1, data=2, barriers=1, output=1),
            Config(1, 0, 1, data=3, barriers=0, output=2),
        ),
    )
    yield make_scope(
        "two", (Config(2, 0, 1, data=1, barriers=0, output=1), Config(2, 1, 1, data=1, barriers=0, output=1))
    )
    yield make_scope("barriers-of-two", (Config(2, 0, 1, data=0, barriers=1, output=1),))
