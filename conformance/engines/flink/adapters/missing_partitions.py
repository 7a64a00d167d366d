"""Partitions that were not found: `RemoteInputChannel`, `SingleInputGate` and `RemoteChannelStateChecker`.

The adapter answers for the producers, and is the task that is cancelled or fails. A repeated request shows where the
channel calls its connection; its back-off is reset each time. Answers that nothing waits for are
refused here.
"""

from functools import partial
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.remote_gate import CONSUMER, NETWORK, RemoteGate
from tidegate.conformance.engines.flink.jvm import Jvm

OTHERS = ("timeout", "disposed", "error")
PROVIDER = f"{NETWORK}partition.PartitionProducerStateProvider"
STATES = "org.apache.flink.runtime.execution.ExecutionState"
CHECKER = f"{CONSUMER}RemoteChannelStateChecker"


def declare(jvm: Jvm) -> wire.Json | None:
    """Since 1.14 a task initializes before it runs."""
    if not jvm.has(CHECKER, "isProducerReadyOrAbortConsumption"):
        return None
    return {} if {str(one.name()).lower() for one in jvm.cls(STATES).values()} >= set(wire.TASK_STATES) else None


class MissingPartitions:
    def __init__(self, jvm: Jvm, channels: int) -> None:
        self._jvm = jvm
        self._shown: wire.Observations = []
        self._task = "deploying"
        self._states = jvm.cls(STATES)
        self._either = jvm.cls("org.apache.flink.types.Either")
        provider = jvm.implement(PROVIDER, {"requestPartitionProducerState": self._ask})
        handlers = {"requestSubpartition": self._request}
        self._rig = RemoteGate(jvm, channels, 1, 1, handlers, provider=provider, waits=(1, 1000, 1))
        self._asked: dict[int, Any] = {}
        self._channel = 0
        self._partition = jvm.cls(f"{NETWORK}partition.ResultPartitionID")()
        self._begun = True

    def _request(self, *arguments: Any) -> None:
        if hasattr(self, "_begun"):
            (channel,) = [one for one in arguments if hasattr(one, "getChannelIndex")]
            self._shown.append({"type": "retry", "channel": int(channel.getChannelIndex())})

    def _ask(self, _result: Any, _partition: Any, then: Any) -> None:
        self._asked[self._channel] = then
        self._shown.append({"type": "ask", "channel": self._channel})

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "task":
            self._task = wire.get_choice(event, "state", wire.TASK_STATES)
            return []
        if kind not in ("not_found", "answer"):
            raise wire.unknown_type(event)
        channel = wire.get_integer(event, "channel")
        producer = wire.get_choice(event, "producer", (*wire.TASK_STATES, *OTHERS)) if kind == "answer" else ""
        known = 0 <= channel < len(self._rig.channels)
        if not known or (channel in self._asked) != (kind == "answer"):
            return wire.rejected()
        self._shown, self._channel = [], channel
        remote = self._rig.channels[channel]
        if kind == "not_found":
            remote.onFailedPartitionRequest()
        else:
            self._jvm.set_field(remote, "currentBackoff", self._jvm.integer(0))
            self._asked.pop(channel).accept(self._make_handle(producer))
        return self._shown

    def _make_handle(self, producer: str) -> Any:
        handlers = {
            "getConsumerExecutionState": lambda: self._states.valueOf(self._task.upper()),
            "getProducerExecutionState": lambda: self._make_answer(producer),
            "cancelConsumption": partial(self._end, "canceling", "cancel"),
            "failConsumption": partial(self._end, "failed", "fail"),
        }
        return self._jvm.implement(f"{PROVIDER}$ResponseHandle", handlers)

    def _make_answer(self, producer: str) -> Any:
        if producer in wire.TASK_STATES:
            return self._either.Left(self._states.valueOf(producer.upper()))
        causes = {
            "timeout": self._jvm.cls("java.util.concurrent.TimeoutException"),
            "disposed": lambda: self._jvm.cls("org.apache.flink.runtime.jobmanager.PartitionProducerDisposedException")(
                self._partition
            ),
            "error": lambda: self._jvm.cls("java.lang.RuntimeException")("asking failed"),
        }
        return self._either.Right(causes[producer]())

    def _end(self, state: str, kind: str, *_cause: Any) -> None:
        self._task = state
        self._shown.append({"type": kind})

    def close(self) -> None:
        self._rig.close()


def make(jvm: Jvm, config: wire.Json) -> MissingPartitions:
    return MissingPartitions(jvm, wire.get_at_least(config, "channels", 1))
