"""The Quix application: a topic for each edge, and a dataframe for each operator; see `flows` for the journals."""

import json
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tidegate.conformance.engines.flows import Element, Journal, Program, Steps
from tidegate.conformance.engines.kafka.mock_broker import GROUP, PARTITIONS, key_of, name_edge, name_source

quix: Any = import_module("quixstreams")
admin: Any = import_module("quixstreams.models.topics.admin")
models: Any = import_module("quixstreams.models.topics")

#: The output of a step: a target, and the element for it.
Sent = tuple[int, Element]


class Flow:
    def __init__(self, program: Program, journals: Path, broker: str) -> None:
        self.program = program
        self.steps = Steps(program, Journal(journals))
        self.steps.journal.live()
        # The broker does not answer requests about its topics.
        admin.TopicAdmin.inspect_topics = lambda _self, names, timeout=None: {name: describe() for name in names}  # noqa: ARG005
        self.app = quix.Application(
            broker_address=broker,
            consumer_group=GROUP,
            auto_offset_reset="earliest",
            auto_create_topics=False,
            state_dir=str(journals.parent / "state"),
            commit_interval=program.settings["commit_millis"] / 1000,
            processing_guarantee="at-least-once",
            loglevel="ERROR",
        )
        self.edges = {number: self.topic(name_edge(number)) for number, _source, _target in program.edges}
        for number in program.sources:
            self.hand_on(
                self.app.dataframe(self.topic(name_source(number))).apply(self.make_source(number), expand=True)
            )
        for number, _source, target in program.edges:
            read = self.app.dataframe(self.edges[number])
            if program.operators[target]["function"] == "sum":
                self.hand_on(read.apply(self.make_sum(target), expand=True, stateful=True))
            else:
                self.hand_on(read.apply(self.make_step(target), expand=True))

    def topic(self, name: str) -> Any:
        kinds = {"value_serializer": "json", "value_deserializer": "json"}
        return self.app.topic(name, key_serializer="str", key_deserializer="str", **kinds)

    def hand_on(self, frame: Any) -> None:
        """The output of an operator goes into the topic of its edge, under its key."""
        frame.to_topic(lambda sent, *_of: self.edges[sent[1][4]], key=lambda sent: key_of(sent[1][1]))

    def make_source(self, number: int) -> Callable[[dict[str, Any]], list[Sent]]:
        def read(item: dict[str, Any]) -> list[Sent]:
            time.sleep(self.program.settings["pause_millis"] / 1000)
            return self.steps.send_item(number, quix.message_context().partition, item["place"], item)

        return read

    def make_step(self, number: int) -> Callable[[Sent], list[Sent]]:
        return lambda sent: self.steps.receive(number, find_who(), sent[1])[1]

    def make_sum(self, number: int) -> Callable[[Sent, Any], list[Sent]]:
        def add(sent: Sent, state: Any) -> list[Sent]:
            total, made = self.steps.receive(number, find_who(), sent[1], state.get("total", default=0))
            state.set("total", total)
            return made

        return add


def describe() -> Any:
    """The settings of a topic."""
    kept = {"retention.ms": "604800000", "retention.bytes": "-1"}
    return models.TopicConfig(num_partitions=PARTITIONS, replication_factor=1, extra_config=kept)


def find_who() -> str:
    return str(quix.message_context().partition)


def run(path: str, journals: str, broker: str) -> None:
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    Flow(Program(job), Path(journals), broker).app.run()
