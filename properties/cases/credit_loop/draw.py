"""Cases for the closed loop: schedules, each with a bias of its own towards what it lets happen first."""

from random import Random

from tidegate.properties.cases.values import draw_length
from tidegate.properties.cases.walk import Walk
from tidegate.reference.credit.credit_loop import Action, Choice, Config, enabled, start, step


def draw(random: Random) -> tuple[Config, tuple[Choice, ...]]:
    config = Config(
        channels=random.choice((1, 2, 2, 2, 3)),
        exclusive=random.choice((0, 0, 0, 1, 1, 2)),
        floating=random.choice((1, 1, 2, 3)),
        data=random.randint(1, 4),
        barriers=random.choice((0, 0, 1, 1, 2)),
        output=random.choice((1, 2, 2, 3, 6)),
    )
    biases = {action: random.choice((0.05, 0.3, 1, 1, 3)) for action in Action}
    favourite = random.randrange(config.channels)
    refused = random.choice((0, 0, 0.05))
    walk = Walk(step, *start(config))
    for _ in range(random.choice((draw_length(random), 90))):
        choices = enabled(walk.state)
        if not choices:
            break
        weights = [biases[one.action] * (3 if one.channel == favourite else 1) for one in choices]
        event = random.choices(choices, weights)[0]
        if random.random() < refused:
            event = Choice(random.choice((-1, config.channels, *range(config.channels))), random.choice(list(Action)))
        walk.play(event)
    return config, tuple(walk.events)
