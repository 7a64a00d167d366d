"""Cases for the closed loop: schedules, each with a bias of its own towards what it lets happen first."""

from random import Random

from tidegate.properties.cases.walk import Walk, draw_length
from tidegate.reference.credit.credit_loop import Action, Choice, Config, enabled, start, step


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Choice, ...]]:
    config = config or draw_config(random)
    biases = {action: random.choice((0.05, 0.3, 1, 1, 3)) for action in Action}
    favourite = random.randrange(config.channels)
    refused = random.choice((0, 0, 0.05))
    walk = Walk(random, start(config), step, length=random.choice((draw_length(random), 90)))
    for _ in walk.rounds():
        choices = enabled(walk.state)
        if not choices:
            break
        weights = [biases[one.action] * (3 if one.channel == favourite else 1) for one in choices]
        event = random.choices(choices, weights)[0]
        if random.random() < refused:
            event = Choice(random.choice((-1, config.channels, *range(config.channels))), random.choice(list(Action)))
        walk.play_one(event)
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(
        channels=random.choice((1, 2, 2, 2, 3)),
        exclusive=random.choice((0, 0, 0, 1, 1, 2)),
        floating=random.choice((1, 1, 2, 3)),
        data=random.randint(1, 4),
        barriers=random.choice((0, 0, 1, 1, 2)),
        output=random.choice((1, 2, 2, 3, 6)),
    )
