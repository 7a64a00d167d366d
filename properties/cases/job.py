"""Cases for whole jobs: small programs of every shape, and schedules, each with its own bias.

Operators are added one by one, each reading one or two earlier ones; at the end sinks read the unread outputs. Some
programs are then changed towards rare situations: a second reader, totals that cancel out, few keys, a join of
sources. Some schedules starve an edge.
"""

import sys
from collections.abc import Callable, Iterator
from random import Random

import attrs

from tidegate.properties.cases import valve as valve_cases
from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import Race
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import MAX, MIN, Long, Status, StatusChange, Watermark
from tidegate.reference.job import step as job
from tidegate.reference.job.exactly_once import drop_barriers
from tidegate.reference.job.programs import (
    EVENT_TIME,
    EXTENSION,
    FINISHED,
    RECOVERY,
    Barrier,
    Config,
    Edge,
    Function,
    Operator,
    Record,
    Recovery,
    Rescaled,
    ScriptItem,
    Side,
    Wire,
)
from tidegate.reference.job.states import Observation, State
from tidegate.reference.job.step import PLAIN, Action, Choice
from tidegate.reference.model import Rejected
from tidegate.reference.watermarks import valve
from tidegate.reference.watermarks.valve import SEMANTICS

KEYS = ("a", "b", "a b", "b c a", "", "ä")
MIDDLE = (Function.MAP, Function.FLAT_MAP, Function.FILTER, Function.SUM, Function.UNION, Function.JOIN)
#: Few cases are this long.
MOST_CHOICES = 200


@attrs.frozen
class Run:
    """A run of a job: the choices, the observations, and the last state."""

    choices: tuple[job.Choice, ...]
    seen: tuple[Observation | Rejected, ...]
    state: State


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[job.Choice, ...]]:
    config = config or draw_config(random)
    most = random.choice((5, 20, 40, MOST_CHOICES))
    return config, draw_run(random, config, most, refused=random.choice((0, 0.05, 0.15))).choices


def draw_config(random: Random) -> Config:
    return bend(stream(random, "operators"), draw_program(random))


def draw_run(random: Random, config: Config, most: int = sys.maxsize, refused: float = 0) -> Run:
    """Possible choices, to the end or up to `most`; and at the rate `refused` any choices."""
    biases: dict[job.Action, float] = {
        action: pick(random, f"share of {action.value}", (0.05, 0.3, 1, 1, 3)) for action in job.PLAIN
    }
    biases |= {job.Action.FIRE: 1, job.Action.FAIL: 0.3}
    race = Race[job.Choice](random, lambda choice: choice.action.value)
    walk = Walk(random, job.start(config), job.step, length=most)
    favourite, starved = random.randrange(len(walk.state.subtasks)), draw_starved(random, walk.state)
    observations: list[Observation | Rejected] = []
    for _ in walk.rounds():
        possible = job.enabled(walk.state)
        if not possible:
            break
        weights = [
            biases[one.action] * (3 if one.at == favourite else 1) * (0.02 if one in starved else 1) for one in possible
        ]
        choice = race.draw(possible, weights)
        if random.random() < refused:
            choice = draw_refused(random, walk.state)
        observations += walk.play_one(choice).observations
    return Run(walk.events, tuple(observations), walk.state)


def draw_starved(random: Random, state: State) -> frozenset[job.Choice]:
    """In half of the runs, all choices that move the channels of one edge: without them its producers fill up."""
    routes = state.layout.routes
    if not routes or random.random() < 0.5:
        return frozenset()
    edge = random.choice(routes).edge
    channels = [number for number, route in enumerate(routes) if route.edge == edge]
    return frozenset(
        job.Choice(action, at) for action in job.Action if action not in job.OF_SUBTASKS for at in channels
    )


def draw_refused(random: Random, state: State) -> job.Choice:
    """Mostly actions of a blocked task: with full outputs, or an empty gate."""
    if random.random() < 0.3:
        return job.Choice(random.choice(job.PLAIN), random.choice((-1, 0, 1, len(state.channels))))
    numbers = range(len(state.subtasks))
    full = [number for number in numbers if job.is_backpressured(state, number)]
    held_up = full or [number for number in numbers if not job.actions_of_subtask(state, number)]
    number = random.choice(held_up or numbers)
    return job.Choice(job.Action.EMIT if state.subtasks[number].gate is None else job.Action.POLL, number)


# --- a valve in a job -----------------------------------------------------------------------------------------


def draw_through_a_valve(random: Random) -> tuple[Config, tuple[job.Choice, ...]]:
    """A case of the valve as a job: each event is emitted by the source of its channel, and read by a map at once."""
    valve_config, events = valve_cases.draw(random, valve.Config(random.choice((3, 3, 4)), random.choice(SEMANTICS)))
    events = tuple(fit_for_scripts(events[:24], valve_config.channels))
    numbers = range(valve_config.channels)
    scripts = tuple(tuple(as_item(event) for event in events if event.channel == number) for number in numbers)
    operators = (
        Operator(1, "source", Function.SOURCE, len(numbers), scripts),
        Operator(2, "map", Function.MAP),
        Operator(3, "sink", Function.SINK),
    )
    edges = Edge(1, 2), Edge(2, 3, Partitioner.REBALANCE)
    config = Config(operators, edges, semantics=valve_config.semantics)
    order = [*(event.channel for event in events), *random.sample(numbers, len(numbers))]
    pairs = ((job.Choice(job.Action.EMIT, at), job.Choice(job.Action.POLL, len(numbers))) for at in order)
    return config, tuple(choice for pair in pairs for choice in pair)


def fit_for_scripts(events: tuple[valve.Event, ...], channels: int) -> Iterator[valve.Event]:
    """Watermarks of sources: they increase, and the end has the last."""
    latest = dict.fromkeys(range(channels), MIN)
    for event in events:
        if event.channel not in latest:
            continue
        if isinstance(event, valve.ChannelWatermark):
            if not latest[event.channel] < event.timestamp < MAX:
                continue
            latest[event.channel] = event.timestamp
        yield event


def as_item(event: valve.Event) -> Watermark | StatusChange:
    if isinstance(event, valve.ChannelWatermark):
        return Watermark(event.timestamp)
    return StatusChange(event.status)


# --- extensions -----------------------------------------------------------------------------------------------


def draw_in_event_time(random: Random) -> tuple[Config, tuple[job.Choice, ...]]:
    """Sources, timers or windows of their records, a sink, and in half of the jobs one for late records."""
    function = random.choice(sorted(EVENT_TIME))
    barriers, inputs = random.choice((0, 0, 1)), 2 if function is Function.CO_TIMER else 1
    operators = []
    for number in range(inputs):
        scripts = tuple(draw_script(random, 6, barriers) for _ in range(random.choice((1, 1, 2))))
        operators.append(Operator(number + 1, f"source{number}", Function.SOURCE, len(scripts), scripts))
    size = random.choice((1, 2, 3)) if function is Function.WINDOW else None
    lateness = random.choice((None, 0, 1, 3)) if function is Function.WINDOW else None
    operators.append(Operator(3, "timed", function, random.choice((1, 1, 2)), size=size, lateness=lateness))
    operators.append(Operator(4, "sink", Function.SINK))
    edges = [Edge(at + 1, 3, Partitioner.HASH, at) for at in range(inputs)]
    edges.append(Edge(3, 4, Partitioner.GLOBAL))
    if random.random() < 0.5:
        operators.append(Operator(5, "late", Function.SINK))
        edges.append(Edge(3, 5, Partitioner.GLOBAL, output=Side.LATE))
    return draw(random, Config(tuple(operators), tuple(edges), None, random.choice(SEMANTICS), EXTENSION))


def draw_restored(random: Random) -> tuple[Config, tuple[job.Choice, ...]]:
    """Sources with one checkpoint, their totals by key, a failure at any time, and a restore at any parallelism.

    Some jobs have a task in between, which is read by key or round robin, and sends its own records.
    """
    scripts = tuple(draw_records_and_a_barrier(random) for _ in range(random.choice((1, 2, 2))))
    before, after = random.choice((1, 2, 2, 3)), random.choice((None, 1, 2, 3))
    operators = [
        Operator(1, "source", Function.SOURCE, len(scripts), scripts),
        Operator(2, "sum", Function.SUM, before),
        Operator(3, "sink", Function.SINK, before),
    ]
    rescaled = [] if after is None else [Rescaled(2, after), Rescaled(3, after)]
    edges = [Edge(1, 2, Partitioner.HASH), Edge(2, 3)]
    between = random.choice((None, None, None, Partitioner.HASH, Partitioner.REBALANCE))
    if between is not None:
        operators.append(Operator(4, "map", Function.MAP, random.choice((1, 2))))
        edges = [Edge(1, 4, between), Edge(4, 2, Partitioner.HASH), Edge(2, 3)]
        if between is Partitioner.HASH:
            rescaled.append(Rescaled(4, random.choice((1, 2, 3))))
    recovery = Recovery(random.random() < 0.5, tuple(rescaled))
    semantics = random.choice(SEMANTICS)
    return draw(random, Config(tuple(operators), tuple(edges), None, semantics, extension=RECOVERY, recovery=recovery))


def draw_finished(random: Random) -> tuple[Config, tuple[job.Choice, ...]]:
    """Sources, some of which end before the checkpoint; at times one with its own task, which ends with it."""
    goes_on = [draw_records_and_a_barrier(random) for _ in range(random.choice((1, 1, 2)))]
    ends = [drop_barriers(draw_records_and_a_barrier(random)) for _ in range(random.choice((1, 1, 2)))]
    scripts = tuple(random.sample([*goes_on, *ends], len(goes_on) + len(ends)))
    before, after = random.choice((1, 2, 2)), random.choice((None, None, 1, 3))
    operators = [
        Operator(1, "source", Function.SOURCE, len(scripts), scripts),
        Operator(2, "sum", Function.SUM, before),
        Operator(3, "sink", Function.SINK, before),
    ]
    edges = [Edge(1, 2, Partitioner.HASH), Edge(2, 3)]
    if random.random() < 0.4:
        script = drop_barriers(draw_records_and_a_barrier(random))
        operators += [Operator(4, "other", Function.SOURCE, 1, (script,)), Operator(5, "end", Function.SINK, 1)]
        edges.append(Edge(4, 5, Partitioner.HASH))
    rescaled = () if after in (None, before) else (Rescaled(2, after), Rescaled(3, after))
    recovery = Recovery(random.random() < 0.4, rescaled)
    return draw(random, Config(tuple(operators), tuple(edges), None, extension=FINISHED, recovery=recovery))


def draw_records_and_a_barrier(random: Random) -> tuple[ScriptItem, ...]:
    items: list[ScriptItem] = [
        Record(random.choice("abcd"), Long(random.randint(-1, 3)), Long(0)) for _ in range(random.randint(0, 4))
    ]
    items.insert(random.randint(0, len(items)), Barrier(1))
    return tuple(items)


def draw_overtaken(random: Random) -> tuple[Config, tuple[job.Choice, ...]]:
    """A barrier overtakes on one channel; records come before the other one, and behind it; then the job fails.

    A second task that reads late keeps the checkpoint open for so long.
    """
    records, more = (
        tuple(Record(random.choice("abcd"), Long(random.randint(1, 3)), Long(0)) for _ in range(random.choice(counts)))
        for counts in ((2, 3, 4), (0, 2, 3, 3))
    )
    scripts: tuple[tuple[ScriptItem, ...], ...] = (*records, Barrier(1), *more), (Barrier(1), records[0])
    tasks = random.choice((1, 2, 2))
    operators = (
        Operator(1, "source", Function.SOURCE, 2, scripts),
        Operator(2, "sum", Function.SUM, tasks),
        Operator(3, "sink", Function.SINK, tasks),
    )
    edges = Edge(1, 2, Partitioner.HASH), Edge(2, 3)
    config = Config(operators, edges, None, extension=RECOVERY, recovery=Recovery(unaligned=True))
    walk = Walk(random, job.start(config), job.step)
    ahead = random.randrange(len(records))
    awake = random.sample(range(2, 2 + tasks), random.choice((1, 1, tasks)))
    for source in (*[0] * ahead, 1, *[0] * (len(scripts[0]) - ahead)):
        walk.play_one(job.Choice(job.Action.EMIT, source))
        for poll in (job.Choice(job.Action.POLL, task) for task in awake):
            while poll in job.enabled(walk.state):
                walk.play_one(poll)
    late, restored = random.choice((0, 2, 20, 20, 20)), random.choice((0, 8, 30, 30))
    others = tuple(one for one in job.Action if one is not job.Action.FAIL)
    for actions, times in (((job.Action.POLL,), late), ((job.Action.FAIL,), 1), (others, restored)):
        for _ in range(times):
            possible = [one for one in job.enabled(walk.state) if one.action in actions]
            walk.play([random.choice(possible)] if possible else [])
    return config, walk.events


AIMS = (
    draw_through_a_valve, draw_in_event_time, draw_restored, draw_through_a_valve, draw_overtaken, draw_finished,
)  # fmt: skip
#: Each operator has its own id, and each edge is unique.
NAMED = ("operators", "edges")


# --- changed programs -----------------------------------------------------------------------------------------


def bend(random: Random, config: Config) -> Config:
    operators, edges = list(config.operators), list(config.edges)
    if random.random() < 0.2:
        read = random.choice([operator for operator in operators if operator.function is not Function.SINK])
        add_operator(random, operators, edges, "again", Function.SINK, (read,))
    if random.random() < 0.3:
        operators = [attrs.evolve(one, scripts=tuple(map(narrow, one.scripts))) for one in operators]
    if random.random() < 0.1:
        add_totals(random, operators, edges)
    if random.random() < 0.1:
        add_join(random, operators, edges)
    return attrs.evolve(config, operators=tuple(operators), edges=tuple(edges))


def add_totals(random: Random, operators: list[Operator], edges: list[Edge]) -> None:
    """Totals, keyed or not, of which only positive ones pass: so the sums are visible."""
    place = random.choice([place for place, one in enumerate(operators) if one.function is Function.SOURCE])
    read = operators[place]
    more = [tuple(draw_addend(random) for _ in range(2)) + script for script in read.scripts]
    operators[place] = attrs.evolve(read, scripts=tuple(more))
    number, parallelism = len(operators) + 1, random.choice((1, 2, 2))
    operators += (
        Operator(number, "total", Function.SUM, parallelism),
        Operator(number + 1, "positive", Function.FILTER, parallelism),
        Operator(number + 2, "kept", Function.SINK, 3 - parallelism),
    )
    spread = random.choice((Partitioner.HASH, Partitioner.REBALANCE))
    edges += (Edge(read.id, number, spread), Edge(number, number + 1), Edge(number + 1, number + 2))


def add_join(random: Random, operators: list[Operator], edges: list[Edge]) -> None:
    """A new source joined with an existing one: two inputs, each with its own event time and statuses."""
    read = random.choice([one for one in operators if one.function is Function.SOURCE])
    barriers = sum(isinstance(item, Barrier) for item in read.scripts[0])
    scripts = tuple(draw_script(random, 4, barriers) for _ in range(random.choice((1, 2))))
    other = Operator(len(operators) + 1, "other", Function.SOURCE, len(scripts), scripts)
    operators.append(other)
    pair = (read, other) if random.random() < 0.5 else (other, read)
    add_operator(random, operators, edges, "joined", Function.JOIN, pair)
    add_operator(random, operators, edges, "matched", Function.SINK, (operators[-1],))


def draw_addend(random: Random) -> Record:
    return Record(random.choice("ab"), Long(random.choice((-1, 1))), Long(0))


def narrow(script: tuple[ScriptItem, ...]) -> tuple[ScriptItem, ...]:
    """The same script with few keys, and values that cancel out."""
    return tuple(
        attrs.evolve(item, key=item.key[:1], value=Long(1 if item.value > 0 else -1))
        if isinstance(item, Record)
        else item
        for item in script
    )


# --- programs -------------------------------------------------------------------------------------------------


def draw_program(random: Random, lengths: tuple[int, ...] = (1, 2, 3)) -> Config:
    """`lengths`: scripts have up to one of these many items."""
    own = stream(random, "operators")
    operators = draw_sources(own, lengths)
    edges: list[Edge] = []
    for number in range(own.choice((0, 1, 1, 2))):
        add_operator(own, operators, edges, f"op{number}", own.choice(MIDDLE))
    read = {edge.source for edge in edges}
    for operator in list(operators):
        if operator.id not in read:
            add_operator(own, operators, edges, f"sink{operator.id}", Function.SINK, (operator,))
    wire, semantics = draw_wire(stream(random, "wire")), stream(random, "semantics").choice(SEMANTICS)
    return Config(tuple(operators), tuple(edges), wire, semantics)


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


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, in_runs=False, unrepeatable=NAMED)


# --- scopes ---------------------------------------------------------------------------------------------------


IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)
HASH, BROADCAST = Partitioner.HASH, Partitioner.BROADCAST
ON_THE_WIRE = (Action.FLUSH, Action.DELIVER, Action.ANNOUNCE, Action.DELIVER_CREDIT)


def rec(key: str, value: int = 1) -> Record:
    return Record(key, Long(value), Long(1))


def at(timestamp: int, key: str) -> Record:
    return Record(key, Long(1), Long(timestamp))


def mark(timestamp: int) -> Watermark:
    return Watermark(Long(timestamp))


def source(*scripts: tuple[ScriptItem, ...], number: int = 1, name: str = "in") -> Operator:
    return Operator(number, name, Function.SOURCE, len(scripts), scripts)


def play_any(_config: Config, state: State) -> Iterator[Choice]:
    """Everything everywhere, one index too low and one too high."""
    most = max(len(state.subtasks), len(state.channels))
    yield from (Choice(action, at) for action in PLAIN for at in range(-1, most + 1))


def play_all(config: Config, state: State) -> Iterator[Choice]:
    """Each subtask, each channel, whether or not it can go on."""
    return play(config, state, len(state.subtasks))


def play_but_the_last(config: Config, state: State) -> Iterator[Choice]:
    """Writes to the last task are visible; its reads are the same as everywhere else."""
    return play(config, state, state.layout.tasks[-1].first)


def play(config: Config, state: State, subtasks: int) -> Iterator[Choice]:
    for number in range(subtasks):
        yield Choice(Action.EMIT if state.subtasks[number].gate is None else Action.POLL, number)
        if config.extension == EXTENSION:
            yield Choice(Action.FIRE, number)
    if config.extension in (RECOVERY, FINISHED):
        yield Choice(Action.FAIL, 0)
    if config.wire is not None:
        yield from (Choice(action, number) for number in range(len(state.channels)) for action in ON_THE_WIRE)


Alphabet = Callable[[Config, State], Iterator[Choice]]

#: The alphabets, in words.
PLAYED: dict[Alphabet, str] = {
    play_any: "every choice at every index, one too low and one too high",
    play_all: "every schedule, with what is not possible there and must be refused",
    play_but_the_last: (
        "every schedule in which the last task does not run, with what is not possible there and must be refused"
    ),
}


def make_scope(name: str, covers: str, alphabet: Alphabet, *configs: Config) -> Scope:
    return Scope(name=name, component="job", configs=configs, alphabet=alphabet, covers=f"{covers}; {PLAYED[alphabet]}")


# --- programs -------------------------------------------------------------------------------------------------


def make_line(
    *scripts: tuple[ScriptItem, ...], kind: Partitioner | None = None, sinks: int = 1, wire: Wire | None = None
) -> Config:
    """Sources with sinks."""
    return Config((source(*scripts), Operator(2, "out", Function.SINK, sinks)), (Edge(1, 2, kind),), wire)


def make_middle(*scripts: tuple[ScriptItem, ...], wire: Wire | None = None) -> Config:
    """Sources, one task that reads them all, and one sink behind it."""
    operators = (source(*scripts), Operator(2, "mid", Function.UNION), Operator(3, "out", Function.SINK))
    return Config(operators, (Edge(1, 2, Partitioner.GLOBAL), Edge(2, 3, Partitioner.GLOBAL)), wire)


def make_two_inputs(function: Function, left: tuple[ScriptItem, ...], right: tuple[ScriptItem, ...]) -> Config:
    """Two sources, the union or the join of them, and a sink."""
    operators = (
        source(left, name="left"),
        source(right, number=2, name="right"),
        Operator(3, "both", function),
        Operator(4, "out", Function.SINK),
    )
    second = int(function is Function.JOIN)
    return Config(operators, (Edge(1, 3), Edge(2, 3, None, second), Edge(3, 4, Partitioner.GLOBAL)))


def make_chain(*script: ScriptItem) -> Config:
    """A source that writes to two sinks, and an operator chained to it that writes to another one."""
    operators = (
        source(script),
        Operator(2, "double", Function.MAP),
        Operator(3, "near", Function.SINK, 2),
        Operator(4, "far", Function.SINK),
    )
    return Config(operators, (Edge(1, 2), Edge(1, 3), Edge(2, 4, HASH)))


def make_fork(*script: ScriptItem, wire: Wire | None = None) -> Config:
    """A source that two sinks read."""
    operators = (source(script), Operator(2, "one", Function.SINK), Operator(3, "other", Function.SINK))
    return Config(operators, tuple(Edge(1, sink, Partitioner.REBALANCE) for sink in (2, 3)), wire)


def make_totals(kind: Partitioner, sums: int, *script: ScriptItem) -> Config:
    """A source, its totals, and a sink for the positive ones."""
    operators = (
        source(script),
        Operator(2, "sum", Function.SUM, sums),
        Operator(3, "positive", Function.FILTER, sums),
        Operator(4, "out", Function.SINK, 3 - sums),
    )
    return Config(operators, (Edge(1, 2, kind), Edge(2, 3), Edge(3, 4)))


def make_timed(operator: Operator, *scripts: tuple[ScriptItem, ...], late: bool = False) -> Config:
    """Sources, an operator that knows event time, and a sink; and another one for what is late."""
    sources = [source(script, number=at + 1, name=f"in{at}") for at, script in enumerate(scripts)]
    sinks = [Operator(11, "out", Function.SINK), Operator(12, "late", Function.SINK)][: 1 + late]
    edges = [Edge(one.id, operator.id, HASH, one.id - 1) for one in sources]
    edges += [Edge(operator.id, 11, Partitioner.GLOBAL)]
    edges += [Edge(operator.id, 12, Partitioner.GLOBAL, output=Side.LATE)] * late
    return Config((*sources, operator, *sinks), tuple(edges), extension=EXTENSION)


def make_restored(*scripts: tuple[ScriptItem, ...], before: int = 2, after: int = 2, unaligned: bool = False) -> Config:
    """Sources, their totals by key with a sink chained to each, and as many or others after the restore."""
    operators = (
        source(*scripts),
        Operator(2, "sum", Function.SUM, before),
        Operator(3, "out", Function.SINK, before),
    )
    rescaled = tuple(Rescaled(operator, after) for operator in (2, 3) if after != before)
    recovery, extension = Recovery(unaligned, rescaled), name_recovery(scripts)
    return Config(operators, (Edge(1, 2, HASH), Edge(2, 3)), extension=extension, recovery=recovery)


def make_restored_lines(*lines: tuple[ScriptItem, ...], unaligned: bool = False) -> Config:
    """Sources, each with its own sink that nothing else feeds."""
    sources = (Operator(number, f"in{number}", Function.SOURCE, 1, (line,)) for number, line in enumerate(lines))
    sinks = (Operator(10 + number, f"out{number}", Function.SINK, 1) for number in range(len(lines)))
    edges = tuple(Edge(number, 10 + number, HASH) for number in range(len(lines)))
    extension = name_recovery(lines)
    return Config((*sources, *sinks), edges, extension=extension, recovery=Recovery(unaligned))


def name_recovery(scripts: tuple[tuple[ScriptItem, ...], ...]) -> str:
    """Whether some sources have finished before the checkpoint."""
    return RECOVERY if all(Barrier(1) in script for script in scripts) else FINISHED


def make_restored_jobs() -> dict[str, Config]:
    """Two sources with a checkpoint, totals in two subtasks, and a failure at any time, by name."""
    first, second = (rec("a"), Barrier(1), rec("c", 2)), (rec("c", 4), Barrier(1), rec("a", 8))
    short, empty = (rec("a"), Barrier(1)), (Barrier(1),)
    return {
        "a failure, restored at the same parallelism": make_restored(first, second),
        "a failure, restored with three subtasks instead of two": make_restored(first, second, after=3),
        "a failure, an unaligned checkpoint, restored with one subtask instead of two": make_restored(
            short, empty, after=1, unaligned=True
        ),
        "a failure, one source had finished, restored with one subtask instead of two": make_restored(
            (rec("a"),), second, after=1
        ),
        "a failure, a whole line had finished": make_restored_lines((rec("a"),), first),
    }


TIMER = Operator(10, "timer", Function.TIMER)
CO_TIMER = Operator(10, "timer", Function.CO_TIMER)
WINDOW = Operator(10, "window", Function.WINDOW, size=2, lateness=2)


# --- scopes ---------------------------------------------------------------------------------------------------

TWO_BARRIERS = (Barrier(1), Barrier(2))


def small() -> Iterator[Scope]:
    yield make_scope(
        "choices", "a source with one record and its keyed sink", play_any, make_line((rec("a"),), kind=HASH)
    )
    yield make_scope(
        "records",
        "2 sources with one record each and a keyed sink; 1 source with one record, broadcast to 2 sinks",
        play_all,
        make_line((rec("a"),), (rec("b"),), kind=HASH),
        make_line((rec("a"),), kind=BROADCAST, sinks=2),
    )
    yield make_scope(
        "keys", "a source with one record and 2 keyed sinks", play_all, make_line((rec("d"),), kind=HASH, sinks=2)
    )
    yield make_scope(
        "inputs",
        "the union and the join of 2 sources with one watermark each, a join of one with a watermark and one that "
        "turns idle, each with a sink behind it",
        play_but_the_last,
        make_two_inputs(Function.UNION, (mark(1),), (mark(2),)),
        make_two_inputs(Function.JOIN, (mark(1),), (mark(2),)),
        make_two_inputs(Function.JOIN, (mark(1),), (IDLE,)),
    )
    yield make_scope(
        "barriers",
        "2 sources with two barriers each, a task that aligns them, and a sink",
        play_but_the_last,
        make_middle(TWO_BARRIERS, TWO_BARRIERS),
    )
    yield make_scope(
        "chains",
        "a source that says a record, idle, and a record to two sinks and to an operator chained to it with a sink of "
        "its own; a source that says two records and idle to two sinks; totals of three records by key, of two records "
        "dealt out to two subtasks, and a sink for the positive",
        play_but_the_last,
        make_fork(rec("a"), rec("b"), IDLE),
        make_chain(rec("a"), IDLE, rec("a")),
        make_totals(HASH, 1, rec("a", -1), rec("b"), rec("a")),
        make_totals(Partitioner.REBALANCE, 2, rec("a", -1), rec("a")),
    )
    yield make_scope(
        "wire",
        "a source with one record and its keyed sink, on a wire with buffers of 64 bytes, none exclusive, 1 floating, "
        "1 for the output",
        play_all,
        make_line((rec("a"),), kind=HASH, wire=Wire(64, 0, 1, 1)),
    )

    yield make_scope(
        "timers",
        "a source with two keys at one time, their watermark and idle, or with two times, a watermark for each and a "
        "late record, their timers and a sink; two sources whose timers a watermark of each makes due, one of them "
        "idle then",
        play_but_the_last,
        make_timed(TIMER, (rec("a"), rec("b"), mark(1), IDLE)),
        make_timed(TIMER, (rec("b"), at(2, "a"), mark(1), mark(2), rec("c")), late=True),
        make_timed(CO_TIMER, (rec("a"), mark(2)), (rec("a"), mark(1), IDLE)),
    )
    yield make_scope(
        "windows",
        "a source with a record in time, one within the lateness of 2, and one behind it, in windows of 2, a sink for "
        "the sums and one for what is late",
        play_but_the_last,
        make_timed(WINDOW, (at(0, "a"), at(1, "a"), mark(1), at(0, "a"), mark(3), at(1, "a")), late=True),
    )

    yield make_scope(
        "recovery",
        "a source with a record and an unaligned barrier that overtakes it, or with an aligned one alone, and its "
        "totals in one subtask, with a failure at any time",
        play_all,
        make_restored((rec("a"), Barrier(1)), before=1, after=1, unaligned=True),
        make_restored((Barrier(1),), before=1, after=1),
    )
    yield make_scope(
        "finished",
        "a source with a record that ends before the checkpoint, and one with a barrier, and their totals in one "
        "subtask; the same with nothing to say and a barrier that overtakes; or with a sink of their own each; with a "
        "failure at any time",
        play_all,
        make_restored((rec("a"),), (Barrier(1),), before=1, after=1),
        make_restored((), (Barrier(1), rec("a")), before=1, after=1, unaligned=True),
        make_restored_lines((rec("a"),), (Barrier(1),)),
    )


def thorough() -> Iterator[Scope]:
    yield from small()
    yield make_scope(
        "idle",
        "a task that reads a source with a watermark and one that turns idle and active again, or two that turn idle, "
        "and a sink",
        play_but_the_last,
        make_middle((mark(1),), (IDLE, ACTIVE)),
        make_middle((mark(1), IDLE), (IDLE,)),
    )
    yield make_scope(
        "behind-barriers",
        "a task that reads 2 sources with a record behind or before their barrier, and a sink",
        play_all,
        make_middle((Barrier(1), rec("a")), (rec("b"), Barrier(1))),
    )
    yield make_scope(
        "wires",
        "a source and its keyed sink on a wire with 1 floating buffer and 1 for the output: a record and a watermark "
        "in buffers of 64 bytes, a watermark in buffers of 8 with 1 exclusive, a barrier with and without an exclusive "
        "one",
        play_all,
        make_line((rec("a"), mark(1)), kind=HASH, wire=Wire(64, 0, 1, 1)),
        make_line((mark(1),), kind=HASH, wire=Wire(8, 1, 1, 1)),
        make_line((Barrier(1),), kind=HASH, wire=Wire(64, 0, 1, 1)),
        make_line((Barrier(1),), kind=HASH, wire=Wire(64, 1, 1, 1)),
    )
    yield make_scope(
        "wired-barriers",
        "a source with two barriers and its keyed sink, on a wire with 1 floating buffer and 1 for the output",
        play_all,
        make_line(TWO_BARRIERS, kind=HASH, wire=Wire(64, 0, 1, 1)),
    )
    yield make_scope(
        "wired-fork",
        "a source with a watermark that two sinks read, on wires with buffers of 64 bytes, none exclusive, 1 floating, "
        "1 for each output",
        play_but_the_last,
        make_fork(mark(1), wire=Wire(64, 0, 1, 1)),
    )
