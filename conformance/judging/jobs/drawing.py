"""Random jobs for an engine: programs of every shape, without a schedule, within what the engine declares.

The scripts contain no barriers: a real engine decides itself when a checkpoint begins. An engine that does not
chain operators gets programs in which nothing can be chained. Settings and faults are drawn by the names that the
engine gives them; only the engine knows what they mean.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import count
from random import Random
from typing import Any

import attrs

from tidegate.conformance.engines.base import Abilities, JobRequest
from tidegate.conformance.engines.errors import BadHelloError
from tidegate.conformance.judging.jobs.draws import Draws, choose
from tidegate.properties.cases.job import KEYS
from tidegate.properties.runlog.recording import make_job
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.job.programs import (
    EVENT_TIME,
    EXTENSION,
    KEYED,
    OFFERED,
    TWO_INPUTS,
    Config,
    Edge,
    Function,
    Operator,
    Record,
    ScriptItem,
    Side,
)
from tidegate.reference.watermarks.valve import SEMANTICS
from tidegate.traces.codec import encode
from tidegate.traces.runlog import Kind

LENGTHS = (2, 6, 12, 30)
#: Of scripts that must last until a fault has happened.
LONG = (60, 120, 240)
#: The probability that an item of a script is a record, or a status: the rest are watermarks.
RHYTHMS = ((0.5, 0.2), (0.8, 0.1), (0.6, 0.05), (0.35, 0.35))
#: The furthest step from one watermark to the next, and its probability.
STRIDES = {3: 2, 10: 1}
#: The probability that a script consists of rounds.
ROUNDS = 0.5
#: Limits: rounds of a script, and records of a round that wait for its watermark.
MOST_ROUNDS = 5
MOST_WAITING = 6
#: The probability that an idle source becomes active again before it ends.
GOES_ON = 0.75
#: A time that no record of a steady script reaches.
ALL_TIME = 10_000
#: The probability that a setting differs from the default.
MOODS = (0.0, 0.2, 0.8, 1.0)
#: Partitioners that let operators share a task.
CHAINS = frozenset((None, Partitioner.FORWARD))


@attrs.frozen
class JobCase:
    """A drawn job; `settings` and `faults` are in the terms of the engine."""

    name: str
    config: Config
    settings: dict[str, Any] = attrs.Factory(dict)
    faults: tuple[dict[str, Any], ...] = ()

    @property
    def size(self) -> int:
        """The number of items in its scripts."""
        return sum(len(script) for operator in self.config.operators for script in operator.scripts)

    def as_json(self) -> Any:
        return encode(self.config)

    def as_request(self, log: str = "") -> JobRequest:
        return JobRequest(
            self.name, encode(self.config), describe_graph(self.config), self.settings, list(self.faults), log
        )


def describe_graph(config: Config) -> dict[str, Any]:
    """The job graph of the program: tasks with their operators, and the edges between them, numbered as in rows."""
    tasks = [
        {"name": task.name, "operators": list(task.operators), "parallelism": task.parallelism}
        for task in compute_layout(config).tasks
    ]
    edges = [
        {name: value for name, value in encode(one).items() if value is not None} for one in make_job(config).edges
    ]
    return {"tasks": tasks, "edges": edges}


def check_drawable(abilities: Abilities) -> None:
    """Raise BadHelloError if no job can be drawn within these abilities."""
    if not Draw(Draws(""), abilities).partitioners:
        known = ", ".join(one for one in OFFERED if abilities.chaining or one not in CHAINS)
        raise BadHelloError(
            f"jobs.partitioners must name one that connects tasks: {known}",
            "without chaining, operators behind one that fuses them could not be told apart",
        )


# --- a job ----------------------------------------------------------------------------------------------------


def draw_job(seed: int, index: int, abilities: Abilities, faults: int = 0) -> JobCase:
    """The same seed, index and abilities give the same job.

    With faults, or if only results are visible, the result of the job must not depend on chance.
    """
    draws = Draws(f"job/{seed}/{index}")
    faulted = bool(faults and abilities.faults)
    steady = faulted or (Kind.RESULT in abilities.shows and Kind.WATERMARK not in abilities.shows)
    for number in count():
        drawn = draws.within(f"program {number}")
        config = Draw(drawn, abilities, steady=steady, lengths=LONG if faulted else LENGTHS).program()
        if can_run(abilities, config) and not (faulted and has_lonely_tasks(config)):
            break
    settings, harm = draw_settings(draws, abilities.settings), draw_faults(draws, abilities, faults)
    if not harm:
        settings |= draw_settings(draws.within("sources"), abilities.sources)
    return JobCase(f"job-{seed}-{index}", config, settings, harm)


def can_run(abilities: Abilities, config: Config) -> bool:
    """Whether the edges of the program are within what the engine declares."""
    return abilities.twin_edges or not has_twin_edges(config)


def has_twin_edges(config: Config) -> bool:
    """Whether two edges between the same two tasks have the same partitioner."""
    layout = compute_layout(config)
    by_operator = {operator: task.head for task in layout.tasks for operator in task.operators}
    ends = [(by_operator[edge.source], by_operator[edge.target], edge.kind) for edge in layout.edges]
    return len(set(ends)) < len(ends)


def has_lonely_tasks(config: Config) -> bool:
    """Whether a task is a whole program in itself: without channels, nothing that it does is visible."""
    layout = compute_layout(config)
    joined = {end for edge in layout.edges for end in (edge.source, edge.target)}
    return any(joined.isdisjoint(task.operators) for task in layout.tasks)


def draw_settings(draws: Draws, settings: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Some jobs use all defaults, some hardly any: a failure may need several settings at once."""
    odd = draws.pick("mood", MOODS)
    return {name: draw_setting(draws, name, values, odd) for name, values in sorted(settings.items())}


def draw_setting(draws: Draws, name: str, values: tuple[Any, ...], odd: float = 1.0) -> Any:
    """The first value is the default; another one has the probability `odd`."""
    random = draws.stream(f"setting {name}")
    return random.choice(values[1:]) if len(values) > 1 and random.random() < odd else values[0]


def draw_faults(draws: Draws, abilities: Abilities, most: int) -> tuple[dict[str, Any], ...]:
    """`after` is the progress of the job, roughly, in percent: the engine does what it can."""
    if not abilities.faults or not most:
        return ()
    random = draws.stream("faults")
    times = sorted(random.randint(5, 90) for _ in range(random.randint(1, most)))
    return tuple(
        {"fault": draws.pick(f"fault {number}", abilities.faults), "after": after} for number, after in enumerate(times)
    )


class Draw:
    """A program, operator by operator. In a steady one all values are 1, and no record is late."""

    def __init__(
        self, draws: Draws, abilities: Abilities, *, steady: bool = False, lengths: tuple[int, ...] = LENGTHS
    ) -> None:
        self.draws = draws
        self.abilities = abilities
        self.steady = steady
        self.lengths = lengths
        self.width = draws.stream("width").randint(1, abilities.parallelism) if abilities.uniform else None
        self.operators: list[Operator] = []
        self.edges: list[Edge] = []
        kinds = [Partitioner(name) for name in OFFERED if name in abilities.partitioners]
        self.partitioners = kinds if abilities.chaining else [kind for kind in kinds if kind not in CHAINS]
        functions = [one for one in Function if one in abilities.operators]
        ends = (Function.SOURCE, Function.SINK)
        able = self.partitioners if Partitioner.HASH in self.partitioners else ()
        self.middle = [one for one in functions if one not in ends and (one not in KEYED or able)]

    def program(self) -> Config:
        draws = self.draws
        most = draws.pick("length", self.lengths)
        widths = {1: 1, 2: 2, 3: 1} if self.steady else {1: 2, 2: 1, 3: 1}
        for number in range(draws.weigh("sources", {1: 2, 2: 1})):
            name = f"source{number}"
            width = self.parallelism(draws.within(name), widths) if number == 0 else 1
            scripts = tuple(self.script(draws.stream(f"{name}/script {at}"), most) for at in range(width))
            self.operators.append(Operator(number + 1, name, Function.SOURCE, width, scripts))
        for number in range(draws.weigh("operators", {0: 1, 1: 2, 2: 1, 3: 1}) if self.middle else 0):
            self.add(f"op{number}", self.function(draws.within(f"op{number}")))
        read = {edge.source for edge in self.edges}
        for operator in [one for one in self.operators if one.id not in read]:
            self.add(f"sink{operator.id}", Function.SINK, operator)
        extension = EXTENSION if any(one.function in EVENT_TIME for one in self.operators) else None
        return Config(tuple(self.operators), tuple(self.edges), None, SEMANTICS[0], extension)

    def function(self, draws: Draws) -> Function:
        """Every other operator uses event time, if the engine has such; in a steady program, all are equally likely."""
        timed = [one for one in self.middle if one in EVENT_TIME]
        others = [one for one in self.middle if one not in EVENT_TIME]
        if self.steady or not timed or not others:
            return draws.pick("function", self.middle)
        return draws.pick("function", timed if draws.chance("timed") < 0.5 else others)

    def parallelism(self, draws: Draws, wanted: Mapping[int, int]) -> int:
        return min(draws.weigh("parallelism", wanted), max(1, self.abilities.parallelism))

    def add(self, name: str, function: Function, only: Operator | None = None) -> None:
        """An operator that reads one or two earlier ones, most often the newest."""
        draws = self.draws.within(name)
        several = 2 if function in TWO_INPUTS or function is Function.UNION else 1
        if function in TWO_INPUTS and len(self.operators) < several:
            return
        reads = draws.stream("reads")
        newest = self.operators[-1:] if reads.random() < 0.5 else []
        others = [one for one in self.operators if one not in newest]
        read = [only] if only else [*newest, *reads.sample(others, len(others))][:several]
        target = Operator(
            len(self.operators) + 1,
            name,
            function,
            self.width or self.parallelism(draws, Counter((1, 2, read[0].parallelism))),
            **self.details(draws, function),
        )
        for place, source in enumerate(read):
            edge = draws.within(f"edge {place}")
            kind = self.partitioner(edge, source, target)
            side = Side.LATE if source.function in EVENT_TIME and edge.chance("late") < 0.2 else None
            self.edges.append(Edge(source.id, target.id, kind, place if function in TWO_INPUTS else 0, side))
        self.operators.append(target)

    def details(self, draws: Draws, function: Function) -> dict[str, Any]:
        if function is not Function.WINDOW:
            return {}
        return {"size": draws.pick("size", (1, 2, 5)), "lateness": draws.weigh("lateness", {0: 2, 1: 1, 3: 1})}

    def partitioner(self, draws: Draws, source: Operator, target: Operator) -> Partitioner | None:
        if target.function in KEYED:
            return Partitioner.HASH
        alike = source.parallelism == target.parallelism
        shares: dict[Partitioner | None, int] = {
            one: 1 for one in self.partitioners if alike or one is not Partitioner.FORWARD
        }
        return draws.weigh("partitioner", {**shares, None: 2} if self.abilities.chaining else shares)

    def script(self, random: Random, most: int) -> tuple[ScriptItem, ...]:
        return self.steady_script(random, most) if self.steady else self.any_script(random, most)

    def steady_script(self, random: Random, most: int) -> tuple[ScriptItem, ...]:
        """Records in time; once no operator waits for event time any more, the source may turn idle and active."""
        items: list[ScriptItem] = []
        time, announced = 0, -1
        for _ in range(random.randint(most // 2, most)):
            if random.random() < 0.8 or not self.abilities.watermarks:
                time = max(time + random.randint(-2, 4), announced + 1)
                items.append(Record(random.choice(KEYS), Long(1), Long(time)))
            else:
                announced = max(announced + 1, time - random.randint(0, 6))
                items.append(Watermark(Long(announced)))
        announced = ALL_TIME
        for turn in range(choose(random, {0: 2, 1: 1, 3: 1}) if self.abilities.idleness else 0):
            items += [Watermark(Long(announced))] * (turn == 0)
            announced += random.randint(1, 3)
            items += [StatusChange(Status.IDLE), StatusChange(Status.ACTIVE), Watermark(Long(announced))]
        return tuple(items)

    def any_script(self, random: Random, most: int) -> tuple[ScriptItem, ...]:
        is_round = self.abilities.watermarks and random.random() < ROUNDS
        items = self.rounds(random) if is_round else self.mixture(random, most)
        statuses = [item for item in items if isinstance(item, StatusChange)]
        is_idle = bool(statuses) and statuses[-1].status is Status.IDLE
        if is_idle and (not self.abilities.idle_ends or random.random() < GOES_ON):
            items.append(StatusChange(Status.ACTIVE))
        return tuple(items)

    def mixture(self, random: Random, most: int) -> list[ScriptItem]:
        """Some scripts have frequent watermarks in small steps; others have few, in large steps."""
        items: list[ScriptItem] = []
        time = random.choice((-3, 0))
        records, changes = random.choice(RHYTHMS)
        stride = choose(random, STRIDES)
        for _ in range(random.randint(0, most)):
            chance = random.random()
            if chance < records:
                at = Long(time + random.randint(-1, stride + 1))
                items.append(Record(random.choice(KEYS), Long(random.randint(-1, 3)), at))
            elif chance < 1 - changes:
                time += random.randint(1, stride)
                items += [Watermark(Long(time))] * self.abilities.watermarks
            else:
                items += [StatusChange(random.choice(list(Status)))] * self.abilities.idleness
        return items

    def rounds(self, random: Random) -> list[ScriptItem]:
        """Records wait for a time, a watermark reaches it, and then anything may follow, or nothing.

        This tests whether an operator emits everything due at a watermark before the next element.
        """
        items: list[ScriptItem] = []
        time = random.choice((-3, 0))
        for _ in range(random.randint(1, MOST_ROUNDS)):
            stride = choose(random, STRIDES)
            for _ in range(random.randint(1, MOST_WAITING)):
                at = Long(time + random.randint(1, stride))
                items.append(Record(random.choice(KEYS), Long(random.randint(-1, 3)), at))
            time += stride
            items.append(Watermark(Long(time)))
            behind: list[ScriptItem] = [
                Watermark(Long(time + 1)),
                Record(random.choice(KEYS), Long(1), Long(time + random.randint(-1, 1))),
                *([StatusChange(status) for status in Status] if self.abilities.idleness else ()),
            ]
            items.append(random.choice(behind))
            if items[-1] == StatusChange(Status.IDLE) and random.random() < GOES_ON:
                items.append(StatusChange(Status.ACTIVE))
            time += 1
        return items
