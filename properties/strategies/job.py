"""Cases for whole jobs: small programs of every shape, and schedules, each with a bias of its own.

Operators are added one by one, each reading one or two of those before it; at the end sinks read what nobody reads.
"""

from random import Random

import attrs

from reference.chains import Partitioner
from reference.elements import Long, Status, StatusChange, Watermark
from reference.job.programs import Barrier, Config, Edge, Function, Operator, Record, ScriptItem, Wire
from reference.job.scheduler import Action, Choice, enabled, start, step
from reference.job.states import Observation, State
from reference.model import Rejected
from reference.valve import SEMANTICS

KEYS = ("a", "b", "a b", "b c a", "", "ä")
MIDDLE = (Function.MAP, Function.FLAT_MAP, Function.FILTER, Function.SUM, Function.UNION, Function.JOIN)
#: Few cases go on for so long.
MOST_CHOICES = 200


@attrs.frozen
class Run:
    """A run of a job: what the scheduler chose, what was seen, and where it ended."""

    choices: tuple[Choice, ...]
    seen: tuple[Observation | Rejected, ...]
    state: State


def draw(random: Random) -> tuple[Config, tuple[Choice, ...]]:
    config = draw_config(random)
    most = random.choice((5, 20, 40, MOST_CHOICES))
    return config, draw_run(random, config, most, refused=random.choice((0, 0, 0.05))).choices


def draw_run(random: Random, config: Config, most: int | None = None, refused: float = 0) -> Run:
    """Choices that lead on, to the end or up to `most`; and with the rate `refused` ones that may not."""
    biases = {action: random.choice((0.05, 0.3, 1, 1, 3)) for action in Action}
    (state,) = start(config)
    favourite = random.randrange(len(state.subtasks))
    choices: list[Choice] = []
    observations: list[Observation | Rejected] = []
    while (most is None or len(choices) < most) and (possible := enabled(state)):
        weights = [biases[one.action] * (3 if one.at == favourite else 1) for one in possible]
        choice = random.choices(possible, weights)[0]
        if random.random() < refused:
            choice = Choice(random.choice(list(Action)), random.choice((-1, 0, 1, len(state.channels))))
        (outcome,) = step(state, choice)
        choices.append(choice)
        observations += outcome.observations
        state = outcome.state
    return Run(tuple(choices), tuple(observations), state)


# --- programs -------------------------------------------------------------------------------------------------


def draw_config(random: Random, lengths: tuple[int, ...] = (1, 2, 3)) -> Config:
    """`lengths`: scripts have up to one of these many items."""
    operators = draw_sources(random, lengths)
    edges: list[Edge] = []
    for number in range(random.choice((0, 1, 1, 2))):
        add_operator(random, operators, edges, f"op{number}", random.choice(MIDDLE))
    read = {edge.source for edge in edges}
    for operator in list(operators):
        if operator.id not in read:
            add_operator(random, operators, edges, f"sink{operator.id}", Function.SINK, (operator,))
    return Config(tuple(operators), tuple(edges), draw_wire(random), random.choice(SEMANTICS))


def draw_wire(random: Random) -> Wire | None:
    if random.random() < 0.7:
        return None
    size = random.choice((3, 16, 30, 64, 200))
    return Wire(size, random.choice((0, 0, 1, 2)), random.choice((1, 1, 2, 3)), random.choice((1, 2, 4)))


def add_operator(
    random: Random,
    operators: list[Operator],
    edges: list[Edge],
    name: str,
    function: Function,
    read: tuple[Operator, ...] = (),
) -> None:
    several = min(2, len(operators)) if function in (Function.UNION, Function.JOIN) else 1
    read = read or tuple(random.sample(operators, several))
    if function is Function.JOIN and len(read) < 2:
        function = Function.UNION
    parallelism = random.choice((1, 2, read[0].parallelism))
    target = Operator(len(operators) + 1, name, function, parallelism)
    for place, source in enumerate(read):
        partitioner = draw_partitioner(random, source, target)
        edges.append(Edge(source.id, target.id, partitioner, place if function is Function.JOIN else 0))
    operators.append(target)


def draw_partitioner(random: Random, source: Operator, target: Operator) -> Partitioner | None:
    if target.function is Function.SUM:
        return Partitioner.HASH
    offered = [None, None, *(Partitioner(name) for name in ("rebalance", "rescale", "global", "broadcast", "hash"))]
    if source.parallelism == target.parallelism:
        offered.append(Partitioner.FORWARD)
    return random.choice(offered)


# --- scripts --------------------------------------------------------------------------------------------------


def draw_sources(random: Random, lengths: tuple[int, ...]) -> list[Operator]:
    barriers = random.choice((0, 0, 1, 2))
    most = random.choice(lengths)
    sources = []
    for number in range(random.choice((1, 1, 2))):
        parallelism = random.choice((1, 2, 2, 3)) if number == 0 else 1
        scripts = tuple(draw_script(random, most, barriers) for _ in range(parallelism))
        sources.append(Operator(number + 1, f"source{number}", Function.SOURCE, parallelism, scripts))
    return sources


def draw_script(random: Random, most: int, barriers: int) -> tuple[ScriptItem, ...]:
    items: list[ScriptItem] = []
    time = random.choice((-3, 0))
    for _ in range(random.randint(0, most)):
        draw_item = random.random()
        if draw_item < 0.5:
            items.append(Record(random.choice(KEYS), Long(random.randint(-1, 3)), Long(time + random.randint(-1, 4))))
        elif draw_item < 0.8:
            time += random.randint(1, 3)
            items.append(Watermark(Long(time)))
        else:
            items.append(StatusChange(random.choice(list(Status))))
    places = sorted(random.randint(0, len(items)) for _ in range(barriers))
    for checkpoint, place in enumerate(places):
        items.insert(place + checkpoint, Barrier(checkpoint + 1))
    return tuple(items)
