"""The Faust app: a topic and an agent for each edge, and a table for each sum; see `flows` for the journals."""

import asyncio
import json
from importlib import import_module
from pathlib import Path
from typing import Any

from tidegate.conformance.engines.flows import Element, Journal, Program, Steps
from tidegate.conformance.engines.kafka.mock_broker import GROUP, PARTITIONS, key_of, name_edge, name_source

faust: Any = import_module("faust")
# It imports modules lazily; those that all attempts need are imported once.
for name in ("faust.app.base", "faust.transport.drivers.aiokafka"):
    import_module(name)

#: The output of a step: a target, and the element for it.
Sent = tuple[int, Element]


class Flow:
    def __init__(self, program: Program, journals: Path, broker: str) -> None:
        self.program = program
        self.steps = Steps(program, Journal(journals))
        self.steps.journal.live()
        self.app = faust.App(
            GROUP,
            broker=f"kafka://{broker}",
            store="memory://",
            # Otherwise it creates a folder in the current directory.
            datadir=str(journals.parent / "faust"),
            web_enabled=False,
            # The broker creates topics itself, and only so.
            topic_allow_declare=False,
            topic_disable_leader=True,
            topic_partitions=PARTITIONS,
            consumer_auto_offset_reset="earliest",
            broker_commit_interval=program.settings["commit_millis"] / 1000,
        )
        self.edges = {number: self.topic(name_edge(number)) for number, _source, _target in program.edges}
        for number in program.sources:
            self.app.agent(self.topic(name_source(number)), name=f"read-{number}")(self.make_source(number))
        for number, _source, target in program.edges:
            self.app.agent(self.edges[number], name=f"step-{number}")(self.make_step(number, target))

    def topic(self, name: str) -> Any:
        return self.app.topic(name, key_type=str, key_serializer="raw", value_serializer="json", partitions=PARTITIONS)

    async def hand_on(self, sent: list[Sent]) -> None:
        """The output of an operator goes into the topic of its edge, under its key.

        It also waits for the future of each send: otherwise Faust may commit what it has read before its output is
        safe, and a kill loses that output.
        """
        for target, element in sent:
            await (await self.edges[element[4]].send(key=key_of(element[1]).encode(), value=[target, element]))

    def make_source(self, number: int) -> Any:
        async def read(stream: Any) -> None:
            async for event in stream.events():
                await asyncio.sleep(self.program.settings["pause_millis"] / 1000)
                script = event.message.partition
                await self.hand_on(self.steps.send_item(number, script, event.value["place"], event.value))

        return read

    def make_step(self, edge: int, number: int) -> Any:
        is_sum = self.program.operators[number]["function"] == "sum"
        totals = self.app.Table(f"totals{edge}", default=int, partitions=PARTITIONS) if is_sum else None

        async def step(stream: Any) -> None:
            async for event in stream.events():
                who, element = str(event.message.partition), event.value[1]
                key = key_of(element[1])
                total, sent = self.steps.receive(number, who, element, 0 if totals is None else totals[key])
                # The output of a total is sent before the total is stored: after a kill it may be sent again. In the
                # other order the record would count without an output.
                await self.hand_on(sent)
                if totals is not None:
                    totals[key] = total

        return step


async def main(flow: Flow) -> None:
    await flow.app.start()
    await asyncio.Event().wait()


def run(path: str, journals: str, broker: str) -> None:
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    asyncio.run(main(Flow(Program(job), Path(journals), broker)))
