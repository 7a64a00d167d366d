"""From the output of a Flink host for a job to the answer in the protocol (docs/protocol.md, whole jobs).

A host names vertices, ports and channels as Flink does. The graph of the request maps them to tasks, edges and
subtasks. That works only if Flink makes the same job graph of the program: if not, the answer has that graph, and no
rows.

The rows of a job with faults come from journals, one for each subtask and attempt. Each restore at another parallelism
begins a generation.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from tidegate.traces.runlog import OWN_KINDS, Direction, Kind

Json = dict[str, Any]

_OPERATOR = re.compile(r"\bo(\d+)\b")
_KINDS = frozenset(kind.value for kind in Kind)
#: The kinds of rows that a run shows.
SHOWN = ("record", "watermark", "status", "barrier", "end_of_data", "end_of_partition", "timer")
#: The same for a job with faults: watermarks as clocks of subtasks, neither statuses, barriers nor ends of channels.
SHOWN_HARMED = ("record", "watermark", "timer", "clock", "snapshot", "restored", "result")
#: Flink sends this event when a checkpoint is cancelled: then the visible barriers are not complete.
_GIVEN_UP = "CancelCheckpointMarker"
#: The header of a journal: vertex, subtask, the graph of its attempt and the number there, when it began, its
#: writers.
HEADER = 6
#: The columns of a row in a journal.
ROW = 8
_END = Kind.END_OF_PARTITION.value
#: Parts of an answer about the whole job, whatever it has shown.
_OF_THE_JOB = ("error", "timeout", "hit")


class OtherGraphError(ValueError):
    """Flink's job graph of the program differs from that of the request."""


def translate_run(graph: Json, shown: Json, *, unaligned: bool) -> Json:
    """The answer to a job without faults."""
    answer = keep_outcome(shown)
    vertices = shown.get("graph", [])
    if vertices:
        answer["graph"] = describe_graph(vertices)
    try:
        places = Places(graph, vertices, shown.get("writers", {}))
    except OtherGraphError:
        return {**answer, "rows": []}
    # Barriers that overtake have no order relative to the rest.
    kinds = _KINDS - {Kind.BARRIER.value} if unaligned else _KINDS
    rows = [places.read(line) for line in shown.get("rows", ()) if line[5] in kinds]
    given_up = any(line[5] == _GIVEN_UP for line in shown.get("rows", ()))
    if unaligned or given_up or is_injected(rows):
        answer["shows"] = [kind for kind in SHOWN if kind != Kind.BARRIER]
    if "totals" in shown:
        answer |= {"totals": shown["totals"], "collected": shown["collected"]}
    if shown.get("read"):
        answer["read"] = shown["read"]
    return {**answer, "rows": rows}


def translate_harmed(graph: Json, shown: Json) -> Json:
    """The answer to a job that was killed and restored; committed results belong to the last generation."""
    generations: list[Json] = []
    for number, one in enumerate(shown.get("generations", ())):
        told: Json = {"parallelism": one["parallelism"], "graph": describe_graph(one["graph"]), "rows": []}
        is_last = number == len(shown["generations"]) - 1
        try:
            generation = Generation(widen(graph, one["parallelism"]), one)
        except OtherGraphError:
            generations.append(told)
            continue
        rows = [*generation.read_all(), *(generation.commit(shown["committed"]) if is_last else ())]
        generations.append({**told, "restored": generation.find_restored(rows), "rows": generation.begin(rows)})
    return {**keep_outcome(shown), "shows": list(SHOWN_HARMED), **name_generations(generations)}


def name_generations(generations: list[Json]) -> Json:
    return {"generations": generations} if generations else {"rows": []}


def keep_outcome(shown: Json) -> Json:
    return {name: shown[name] for name in _OF_THE_JOB if name in shown}


def describe_graph(vertices: list[Json]) -> Json:
    """Flink's job graph in the format of a request."""
    names = {vertex["vertex"]: vertex["name"] for vertex in vertices}
    tasks = [
        {
            "name": vertex["name"],
            "operators": list(map(int, _OPERATOR.findall(vertex["name"]))),
            "parallelism": vertex["parallelism"],
        }
        for vertex in vertices
    ]
    edges = [
        {
            "source": names[read["vertex"]],
            "target": vertex["name"],
            "partitioner": read["partitioner"].lower(),
            "pattern": read["pattern"].lower(),
        }
        for vertex in vertices
        for read in vertex["inputs"]
    ]
    return {"tasks": tasks, "edges": edges}


def widen(graph: Json, parallelism: dict[str, int]) -> Json:
    """The graph of the same program at another parallelism."""
    tasks = [{**task, "parallelism": parallelism[str(task["operators"][0])]} for task in graph["tasks"]]
    widths = {task["name"]: task["parallelism"] for task in tasks}
    edges = [
        {**edge, "producers": widths[edge["source"]], "consumers": widths[edge["target"]]} for edge in graph["edges"]
    ]
    return {"tasks": tasks, "edges": edges}


def connect(pattern: str, producers: int, consumers: int) -> list[tuple[int, int, int]]:
    """The channels of an edge: the writer, its subpartition, and the reader."""
    if pattern == "all_to_all":
        return [(writer, reader, reader) for reader in range(consumers) for writer in range(producers)]
    if producers >= consumers:
        return [
            (writer, 0, reader)
            for reader in range(consumers)
            for writer in range(reader * producers // consumers, (reader + 1) * producers // consumers)
        ]
    writers = [reader * producers // consumers for reader in range(consumers)]
    # Readers of one writer divide its subpartitions by their own numbers.
    return [(writer, reader % writers.count(writer), reader) for reader, writer in enumerate(writers)]


def is_injected(rows: list[Json]) -> bool:
    """Whether a task took part in a checkpoint although a channel ended without its barrier.

    When all producers of a task have ended, Flink triggers the checkpoint at the task itself, which may not have read
    their ends yet.
    """
    sent: dict[tuple[str, int], set[int]] = defaultdict(set)
    met: dict[tuple[str, int], dict[tuple[int, int], set[int]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        is_barrier, subtask = row["kind"] == Kind.BARRIER, (row["task"], row["subtask"])
        if row.get("dir") == Direction.IN:
            met[subtask][row["edge"], row["producer"]] |= {row["value"]} if is_barrier else set()
        elif is_barrier:
            sent[subtask].add(row["value"])
    return any(sent[subtask] - known for subtask, channels in met.items() for known in channels.values())


class Places:
    """Maps vertices to tasks, and ports to edges; `writers` are the outputs of subtasks by their numbers."""

    def __init__(self, graph: Json, vertices: list[Json], writers: dict[Any, Any]) -> None:
        self.graph, self.writers = graph, writers
        by_operators = {frozenset(task["operators"]): task for task in graph["tasks"]}
        self.tasks: dict[str, Json] = {}
        for vertex in vertices:
            task = by_operators.pop(frozenset(map(int, _OPERATOR.findall(vertex["name"]))), None)
            if task is None or task["parallelism"] != vertex["parallelism"]:
                raise OtherGraphError(vertex["name"])
            self.tasks[vertex["vertex"]] = task
        if by_operators and vertices:
            raise OtherGraphError(*(task["name"] for task in by_operators.values()))
        self.outputs: dict[tuple[str, int], Json] = {}
        self.gates: dict[tuple[str, int], Json] = {}
        for vertex in vertices:
            for gate, source in enumerate(vertex["inputs"]):
                edge = self.find_edge(source, vertex)
                self.outputs[source["vertex"], source["output"]] = self.gates[vertex["vertex"], gate] = edge
        self.consumers: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.producers: dict[tuple[int, int], list[int]] = defaultdict(list)
        for edge in graph["edges"]:
            channels = connect(edge["pattern"], edge["producers"], edge["consumers"])
            for producer, _subpartition, consumer in sorted(channels):
                self.consumers[edge["number"], producer].append(consumer)
                self.producers[edge["number"], consumer].append(producer)

    def find_edge(self, source: Json, target: Json) -> Json:
        """No two edges between two tasks have the same partitioner: Flink never gets such programs (twin_edges)."""
        ends = self.tasks[source["vertex"]]["name"], self.tasks[target["vertex"]]["name"]
        kind = source["partitioner"].lower(), source["pattern"].lower()
        for edge in self.graph["edges"]:
            if (edge["source"], edge["target"]) == ends and (edge["partitioner"], edge["pattern"]) == kind:
                return dict(edge)
        raise OtherGraphError(*ends)

    def read(self, line: list[Any]) -> Json:
        """A row in the format of the protocol."""
        vertex, subtask, direction, port, channel, kind, timestamp, number, key, value = line
        row: Json = {"task": self.tasks[vertex]["name"], "subtask": subtask, "kind": kind}
        if kind in OWN_KINDS:
            own = {"timestamp": timestamp, "key": key, "id": value, "value": number}
            return {**row, **{name: one for name, one in own.items() if one is not None}}
        edge, producer, consumer = self.find_channel(vertex, subtask, direction, port, channel)
        row |= {"dir": direction, "edge": edge["number"], "producer": producer, "consumer": consumer}
        of_kind = {"key": key, "id": number} if kind == Kind.RECORD else {"value": number}
        return {**row, **{name: one for name, one in ({"timestamp": timestamp} | of_kind).items() if one is not None}}

    def find_channel(
        self, vertex: str, subtask: int, direction: str, port: int | None, channel: int
    ) -> tuple[Json, int, int]:
        """Subpartitions count the consumers of a producer, the channels of a gate the producers of a consumer."""
        if direction == Direction.OUT:
            assert port is not None
            edge = self.outputs[vertex, port]
            return edge, subtask, self.consumers[edge["number"], subtask][channel]
        if port is None:
            its_vertex, its_subtask, its_port = self.writers[channel]
            return self.outputs[its_vertex, its_port], its_subtask, subtask
        edge = self.gates[vertex, port]
        return edge, self.producers[edge["number"], subtask][channel], subtask


class Generation:
    """The journals of a generation. `attempts`: the number of each, by the job graph and Flink's number there."""

    def __init__(self, graph: Json, shown: Json) -> None:
        self.journals = [one for one in shown["journals"] if len(one[0]) == HEADER]
        writers = {
            writer: (vertex, subtask, port)
            for vertex, subtask, _graph, _attempt, _start, mine in (one[0] for one in self.journals)
            for port, writer in enumerate(mine)
        }
        self.writers = writers
        self.graph = graph
        self.places = Places(graph, shown["graph"], writers)
        starts: dict[tuple[str, int], int] = {}
        for _vertex, _subtask, of, attempt, start, _mine in (one[0] for one in self.journals):
            starts[of, attempt] = min(start, starts.get((of, attempt), start))
        self.attempts = {which: number for number, which in enumerate(sorted(starts, key=starts.__getitem__))}

    def read_all(self) -> list[Json]:
        rows = [row for journal in self.journals for row in self.read(journal)]
        return [*rows, *self.finish(rows)]

    def read(self, journal: list[Any]) -> Iterator[Json]:
        """Without in-flight data of the generation before: its sender does not belong to this one."""
        vertex, subtask, graph, attempt, _start, _mine = journal[0]
        for line in journal[1:]:
            if len(line) != ROW or line[3] == _END:
                continue
            if (line[0], line[3]) == (Direction.IN, Kind.RECORD) and line[2] not in self.writers:
                continue
            yield {**self.places.read([vertex, subtask, *line]), "attempt": self.attempts[graph, attempt]}

    def finish(self, rows: list[Json]) -> Iterator[Json]:
        """A snapshot for each subtask that had ended before the checkpoint that a later attempt restored.

        Such a subtask has no row for the checkpoint: its snapshot is that it has ended.
        """
        taken: dict[int, set[int]] = defaultdict(set)
        for row in rows:
            if row["kind"] == Kind.SNAPSHOT:
                taken[row["value"]].add(row["attempt"])
        homes = {
            (max((one for one in taken[row["value"]] if one < row["attempt"]), default=None), row["value"])
            for row in rows
            if row["kind"] == Kind.RESTORED and "value" in row
        }
        saved = {
            (row["attempt"], row["task"], row["subtask"], row["value"]) for row in rows if row["kind"] == Kind.SNAPSHOT
        }
        for journal in self.journals:
            vertex, subtask, graph, attempt, *_rest = journal[0]
            task, number = self.places.tasks[vertex]["name"], self.attempts[graph, attempt]
            for home, checkpoint in homes:
                if home == number and (number, task, subtask, checkpoint) not in saved and self.is_over(journal):
                    row = {"task": task, "subtask": subtask, "kind": str(Kind.SNAPSHOT), "value": checkpoint}
                    yield {**row, "attempt": number}

    def is_over(self, journal: list[Any]) -> bool:
        """Whether the subtask has ended all its outputs, or, if it has none, read the ends of all its inputs."""
        vertex, subtask, *_rest, mine = journal[0]
        ends: dict[str, set[Any]] = defaultdict(set)
        for line in journal[1:]:
            if len(line) == ROW and line[3] == _END:
                ends[line[0]].add(line[1] if line[0] == Direction.OUT else (line[1], line[2]))
        if mine:
            return len(ends[Direction.OUT]) == len(mine)
        name = self.places.tasks[vertex]["name"]
        edges = [edge["number"] for edge in self.graph["edges"] if edge["target"] == name]
        return len(ends[Direction.IN]) == sum(len(self.places.producers[edge, subtask]) for edge in edges)

    def commit(self, committed: list[list[Any]]) -> Iterator[Json]:
        """Which subtask committed a result does not matter; its parallelism may differ.

        The row belongs to the last attempt of the task: a task that had ended is not in later ones.
        """
        tasks = {operator: task["name"] for task in self.graph["tasks"] for operator in task["operators"]}
        attempts: Counter[str] = Counter()
        for vertex, subtask, graph, attempt, *_rest in (one[0] for one in self.journals):
            task = self.places.tasks[vertex]["name"]
            attempts[task] = max(attempts[task], self.attempts[graph, attempt] if subtask == 0 else 0)
        for operator, key, value in committed:
            row = {"task": tasks[operator], "subtask": 0, "kind": str(Kind.RESULT), "key": key, "value": value}
            yield {**row, "attempt": attempts[tasks[operator]]}

    def begin(self, rows: list[Json]) -> list[Json]:
        """Without restores from the snapshots of the generation before: that is how this one begins.

        A run log does not contain tasks without channels.
        """
        begun = {row.get("value") for row in rows if row["kind"] == Kind.RESTORED and row["attempt"] == 0}
        joined = {edge[end] for edge in self.graph["edges"] for end in ("source", "target")}
        return [
            row
            for row in rows
            if row["task"] in joined and not (row["kind"] == Kind.RESTORED and row.get("value") in begun)
        ]

    def find_restored(self, rows: list[Json]) -> dict[str, int | None]:
        """The checkpoint that each later attempt restored."""
        restored: dict[str, int | None] = {str(number): None for number in range(1, len(self.attempts))}
        for row in self.begin(rows):
            if row["kind"] == Kind.RESTORED:
                restored[str(row["attempt"])] = row.get("value")
        return restored
