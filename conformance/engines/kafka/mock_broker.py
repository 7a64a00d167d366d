"""A Kafka broker in this process: librdkafka's mock broker, made for its own tests.

It creates a topic of four partitions on first use, and keeps offsets of groups. It has no
transactions, so exactly-once cannot be judged on it; groups use our coordinator (`coordinator`).
"""

import json
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from tidegate.conformance.engines.flows import KILL, Program, run_flow
from tidegate.conformance.engines.forked import Forked
from tidegate.conformance.engines.kafka.coordinator import HOST, Coordinator

Json = dict[str, Any]

PARTITIONS = 4
#: The number of consumers: an engine has one.
GROUP = "tidegate"
#: The abilities of an engine on such a broker. All records of a key meet in one partition and keep their order. It runs
#: at least once: after a kill it reads again what it had not committed, and may count it again.
JOBS = {
    "operators": ["source", "map", "flat_map", "filter", "sum", "sink"],
    "partitioners": ["hash"],
    "parallelism": PARTITIONS,
    "uniform": True,
    "faults": [KILL],
    "shows": ["record", "result"],
    "settings": {"pause_millis": [2, 10], "commit_millis": [200, 20, 1000]},
    "order_scope": "key",
    "delivery": "at_least_once",
    "known_routing": False,
    "keys_meet": True,
    "counts_once": False,
}
#: Seconds for an answer.
PATIENCE = 30.0


class MockBroker:
    def __init__(self) -> None:
        kafka: Any = import_module("confluent_kafka")
        self._kafka = kafka
        self._producer = kafka.Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})
        (broker,) = self._producer.list_topics(timeout=PATIENCE).brokers.values()
        self.port = int(broker.port)

    @cached_property
    def _consumer(self) -> Any:
        """It reads nothing, and only queries the offsets of the group."""
        return self._kafka.Consumer({"bootstrap.servers": f"{HOST}:{self.port}", "group.id": GROUP})

    def make_topics(self, *names: str) -> None:
        for name in names:
            self._producer.list_topics(name, timeout=PATIENCE)

    def feed(self, program: Program) -> None:
        """The scripts of sources: a topic for each source, a partition for each script."""
        for source in program.sources:
            self.make_topics(name_source(source))
            for script in range(len(program.operators[source]["scripts"])):
                for place, item in enumerate(program.records_of(source, script)):
                    value = json.dumps({"place": place, **item})
                    self._producer.produce(name_source(source), value, key_of(item["key"]), partition=script)
        self._producer.flush(PATIENCE)

    def is_read(self, *names: str) -> bool:
        """Whether the group has committed everything in these topics."""
        places = [self._kafka.TopicPartition(name, number) for name in names for number in range(PARTITIONS)]
        ends = {(one.topic, one.partition): self._consumer.get_watermark_offsets(one, PATIENCE)[1] for one in places}
        committed = self._consumer.committed(places, PATIENCE)
        return all(max(one.offset, 0) >= ends[one.topic, one.partition] for one in committed)


def name_source(operator: int) -> str:
    return f"source{operator}"


def name_edge(number: int) -> str:
    return f"edge{number}"


def key_of(key: str) -> str:
    """Some treat an empty key as no key."""
    return f"k{key}"


def run_on_broker(job: Json, flow: str, name_changelog: Callable[[int], str]) -> Json:
    """A job over the topics of a broker of its own. A module is the process; a subtask has partitions."""
    program = Program(job)
    broker = MockBroker()
    for number, _source, _target in program.edges:
        broker.make_topics(name_edge(number), name_changelog(number))
    broker.feed(program)
    path = program.write()
    with Coordinator(broker.port) as coordinator:

        def launch(journals: Path, _width: int, errors: Path) -> Forked:
            return Forked(flow, (str(path), str(journals), f"{HOST}:{coordinator.port}"), errors)

        topics = [*map(name_source, program.sources), *(name_edge(number) for number, *_ends in program.edges)]
        return run_flow(program, launch, lambda who, _people: int(who) % program.width, lambda: broker.is_read(*topics))
