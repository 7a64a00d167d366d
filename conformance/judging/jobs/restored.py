"""From what a job of Flink's has shown that was killed and restored on its way to its run logs.

There is a log for each generation, since at other widths there are other channels; what was committed is in the last. A
subtask that has come to its end before a checkpoint says nothing of it: that it was over is what it has saved.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import attrs

from tidegate.conformance.judging.jobs.reading import Map, number_records
from tidegate.properties.runlog.attempts import find_home, find_taken
from tidegate.properties.runlog.recording import make_job
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.job.programs import Config
from tidegate.traces.runlog import OWN, Capabilities, Direction, Kind, Row, RunLog, count_subtasks, renumber

Json = dict[str, Any]

#: What can be seen: records, timers and clocks, neither barriers nor statuses, nor the ends of channels.
CAPABILITIES = Capabilities(idleness=False, checkpoints=False, endings=False)
#: Whose a journal is: vertex, subtask, the graph of its attempt and the number there, when it began, its writers.
HEADER = 6
#: The columns of a row in a journal.
ROW = 8
END = str(Kind.END_OF_PARTITION)


def read_restored(config: Config, answer: Json, run: str, engine: str) -> list[RunLog]:
    """Raise OtherGraphError where a job graph is not that of the program."""
    generations = answer["generations"]
    logs = []
    for number, shown in enumerate(generations):
        widths = {int(one): width for one, width in shown["parallelism"].items()}
        operators = tuple(attrs.evolve(one, parallelism=widths[one.id]) for one in config.operators)
        is_last = number == len(generations) - 1
        reader = Generation(attrs.evolve(config, operators=operators), shown, f"{run}.{number}")
        rows = [*reader.rows(), *(reader.results(answer["committed"]) if is_last else ())]
        job = attrs.evolve(
            make_job(reader.config), engine=engine, capabilities=CAPABILITIES, restored=reader.restored(rows)
        )
        known = count_subtasks(job)  # those that edges join: of others a log knows nothing
        kept = tuple(row for row in reader.begin(rows) if row.task in known)
        logs.append(renumber(RunLog(reader.run, job, kept, complete=is_last and "error" not in answer)))
    return logs


class Generation:
    """`attempts`: the number of each, by the graph that Flink has made of the job and its own number there."""

    def __init__(self, config: Config, shown: Json, run: str) -> None:
        self.config, self.run = config, run
        self.journals = [one for one in shown["journals"] if len(one[0]) == HEADER]
        writers = {
            writer: (vertex, subtask, port)
            for vertex, subtask, _graph, _attempt, _start, mine in (one[0] for one in self.journals)
            for port, writer in enumerate(mine)
        }
        self.writers = writers
        self.places = Map(config, {"graph": shown["graph"], "writers": writers})
        starts: dict[tuple[str, int], int] = {}
        for _vertex, _subtask, graph, attempt, start, _mine in (one[0] for one in self.journals):
            starts[graph, attempt] = min(start, starts.get((graph, attempt), start))
        self.attempts = {which: number for number, which in enumerate(sorted(starts, key=starts.__getitem__))}

    @property
    def last(self) -> int:
        return max(self.attempts.values(), default=0)

    def rows(self) -> list[Row]:
        rows = [row for journal in self.journals for row in self.read(journal)]
        rows += self.finished(rows)
        return list(number_records(rows, self.places.layout))

    def read(self, journal: list[Any]) -> Iterator[Row]:
        """What was in flight when the generation before was over has a sender that is none of this one."""
        vertex, subtask, graph, attempt, _start, _mine = journal[0]
        for line in journal[1:]:
            if len(line) != ROW or line[3] == END:
                continue
            if (line[0], line[3]) == (Direction.IN, Kind.RECORD) and line[2] not in self.writers:
                continue
            row = self.places.read([vertex, subtask, *line], self.run)
            yield attrs.evolve(row, attempt=self.attempts[graph, attempt])

    def finished(self, rows: list[Row]) -> Iterator[Row]:
        """For each checkpoint that was restored, the subtasks that were over when it was taken."""
        taken = find_taken(rows)
        saved = {(row.attempt, row.task, row.subtask, row.value) for row in rows if row.kind is Kind.SNAPSHOT}
        homes = {
            (find_home(taken, row.value, row.attempt), row.value)
            for row in rows
            if row.kind is Kind.RESTORED and row.value is not None
        }
        for journal in self.journals:
            vertex, subtask, graph, attempt, *_rest = journal[0]
            task, number = self.places.tasks[vertex].name, self.attempts[graph, attempt]
            for home, checkpoint in homes:
                if home == number and (number, task, subtask, checkpoint) not in saved and self.is_over(journal):
                    own = Direction.OUT, OWN, subtask, subtask, 0, Kind.SNAPSHOT
                    yield Row(self.run, task, subtask, 0, *own, value=checkpoint, attempt=number)

    def is_over(self, journal: list[Any]) -> bool:
        """Whether the subtask has ended all its outputs, or, if it has none, read the ends of all its inputs."""
        vertex, subtask, *_rest, mine = journal[0]
        ends: dict[str, set[Any]] = defaultdict(set)
        for line in journal[1:]:
            if len(line) == ROW and line[3] == END:
                ends[line[0]].add(line[1] if line[0] == Direction.OUT else (line[1], line[2]))
        if mine:
            return len(ends[Direction.OUT]) == len(mine)
        operators, routes = self.places.tasks[vertex].operators, self.places.layout.routes
        inputs = [one for one in routes if one.edge.target in operators and one.consumer == subtask]
        return len(ends[Direction.IN]) == len(inputs)

    def results(self, committed: list[list[Any]]) -> Iterator[Row]:
        """Who has committed one does not matter, and may be a subtask of another width.

        They stand in the last attempt that their subtask was in: one that was over is not in those behind it.
        """
        tasks = {one: task.name for task in compute_layout(self.config).tasks for one in task.operators}
        attempts: dict[str, int] = defaultdict(int)
        for vertex, subtask, graph, attempt, *_rest in (one[0] for one in self.journals):
            task = self.places.tasks[vertex].name
            attempts[task] = max(attempts[task], self.attempts[graph, attempt] if subtask == 0 else 0)
        for operator, key, value in committed:
            own = Direction.OUT, OWN, 0, 0, 0, Kind.RESULT
            task = tasks[operator]
            yield Row(self.run, task, 0, 0, *own, key=key, value=value, attempt=attempts[task])

    def begun_from(self, rows: list[Row]) -> set[int | None]:
        """What a savepoint of the generation before brought is the beginning of this one."""
        return {row.value for row in rows if row.kind is Kind.RESTORED and row.attempt == 0}

    def begin(self, rows: list[Row]) -> Iterator[Row]:
        begun = self.begun_from(rows)
        return (row for row in rows if row.kind is not Kind.RESTORED or row.value not in begun)

    def restored(self, rows: list[Row]) -> dict[str, int | None]:
        restored: dict[str, int | None] = {str(number): None for number in range(1, self.last + 1)}
        for row in self.begin(rows):
            if row.kind is Kind.RESTORED:
                restored[str(row.attempt)] = row.value
        return restored
