#!/usr/bin/env python3
"""A Tidegate engine that runs whole jobs, in plain Python: records over channels, without event time.

It answers `job` with the rows of its run log. Every operator is a task of its own. The next channel to read
is chosen at random, as the threads of a real engine would.
"""

import json
import random
import sys
from collections import defaultdict, deque
from typing import Any

MASK = 0xFFFFFFFF
HELLO = {
    "protocol": 1,
    "implementation": {"name": "example-jobs-python", "version": "1.0.0", "language": "python"},
    "components": {},
    "jobs": {
        "operators": ["source", "map", "filter", "sum", "union", "sink"],
        "partitioners": ["rebalance", "global", "broadcast", "hash"],
        "parallelism": 3,
        "shows": ["record", "end_of_data", "end_of_partition"],
        "settings": {"newest_first": [False, True]},
    },
}


def murmur(key: str) -> int:  # PART-7, PART-8: strings are hashed by their UTF-16 units
    units = key.encode("utf-16-be")
    code = 0
    for at in range(0, len(units), 2):
        code = (code * 31 + int.from_bytes(units[at : at + 2])) & MASK
    code = code * 0xCC9E2D51 & MASK
    code = (code << 15 | code >> 17) * 0x1B873593 & MASK
    code = ((code << 13 | code >> 19) * 5 + 0xE6546B64) & MASK ^ 4
    code = (code ^ code >> 16) * 0x85EBCA6B & MASK
    code = (code ^ code >> 13) * 0xC2B2AE35 & MASK
    code ^= code >> 16
    return min(code, 2**32 - code) & 0x7FFFFFFF


class Job:
    def __init__(self, request: dict[str, Any]) -> None:
        operators = {one["id"]: one for one in request["program"]["operators"]}
        self.tasks = {one["name"]: operators[one["operators"][0]] for one in request["graph"]["tasks"]}
        self.edges = request["graph"]["edges"]
        self.newest_first = request["settings"].get("newest_first", False)
        self.random = random.Random(request["case"])
        self.channels: dict[tuple[int, int, int], deque[Any]] = {}
        for edge in self.edges:
            for producer in range(edge["producers"]):
                for consumer in range(edge["consumers"]):
                    self.channels[edge["number"], producer, consumer] = deque()
        self.rows: list[dict[str, Any]] = []
        self.turns: dict[Any, int] = defaultdict(int)  # of rebalance
        self.totals: dict[Any, int] = defaultdict(int)
        self.ended: dict[Any, int] = defaultdict(int)
        self.records = 0

    def run(self) -> list[dict[str, Any]]:
        for task, operator in self.tasks.items():
            for subtask, script in enumerate(operator.get("scripts", ())):
                for item in script:
                    self.emit(task, subtask, item["key"], int(item["value"]), item["timestamp"])
                self.announce(task, subtask, "end_of_data")
                self.announce(task, subtask, "end_of_partition")
        while waiting := [channel for channel, queue in self.channels.items() if queue]:
            self.receive(waiting[-1] if self.newest_first else self.random.choice(waiting))
        return self.rows

    def log(self, task: str, subtask: int, direction: str, channel: Any, kind: str, **more: Any) -> None:
        edge, producer, consumer = channel
        where = {"edge": edge, "producer": producer, "consumer": consumer}
        self.rows.append({"task": task, "subtask": subtask, "dir": direction, **where, "kind": kind, **more})

    def emit(self, task: str, subtask: int, key: str, value: int, timestamp: str) -> None:
        for edge in self.edges:
            if edge["source"] == task:
                self.records += 1
                record = {"key": key, "timestamp": timestamp, "id": str(self.records)}
                for consumer in self.pick(edge, subtask, key):
                    channel = (edge["number"], subtask, consumer)
                    self.log(task, subtask, "out", channel, "record", **record)
                    self.channels[channel].append(("record", record, value))

    def pick(self, edge: dict[str, Any], subtask: int, key: str) -> list[int]:
        consumers = edge["consumers"]
        if edge["partitioner"] == "broadcast":
            return list(range(consumers))
        if edge["partitioner"] == "global":
            return [0]
        if edge["partitioner"] == "hash":
            return [murmur(key) % edge["max_parallelism"] * consumers // edge["max_parallelism"]]
        self.turns[edge["number"], subtask] += 1
        return [self.turns[edge["number"], subtask] % consumers]

    def announce(self, task: str, subtask: int, kind: str) -> None:
        for edge in self.edges:
            if edge["source"] == task:
                for consumer in range(edge["consumers"]):
                    channel = (edge["number"], subtask, consumer)
                    self.log(task, subtask, "out", channel, kind)
                    self.channels[channel].append((kind, {}, 0))

    def receive(self, channel: tuple[int, int, int]) -> None:
        number, _producer, subtask = channel
        task = next(edge["target"] for edge in self.edges if edge["number"] == number)
        kind, record, value = self.channels[channel].popleft()
        self.log(task, subtask, "in", channel, kind, **record)
        if kind == "record":
            self.apply(task, subtask, record, value)
            return
        self.ended[task, subtask, kind] += 1
        if self.ended[task, subtask, kind] == sum(e["producers"] for e in self.edges if e["target"] == task):
            self.announce(task, subtask, kind)

    def apply(self, task: str, subtask: int, record: dict[str, Any], value: int) -> None:
        function, key = self.tasks[task]["function"], record["key"]
        if function == "map":
            value *= 2
        if function == "sum":
            self.totals[task, key] += value
            value = self.totals[task, key]
        if function != "filter" or value > 0:
            self.emit(task, subtask, key, value, record["timestamp"])


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "bye":
            return
        if request["op"] == "hello":
            answer = {"ok": HELLO}
        elif request["op"] == "job":
            answer = {"ok": {"rows": Job(request).run()}}
        else:
            answer = {"error": {"kind": "unsupported", "message": "this engine runs whole jobs"}}
        print(json.dumps({"id": request["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
