"""Partitions that were not found, PROD-1 … PROD-5."""

from tidegate.conformance.engines.wire import (
    TASK_STATES,
    Host,
    Json,
    Observations,
    get_at_least,
    get_choice,
    get_integer,
    rejected,
    unknown_type,
)

_PRODUCERS = (*TASK_STATES, "timeout", "disposed", "error")


class MissingPartitions:
    def __init__(self, config: Json, host: Host) -> None:
        self.bug = host.bug.removeprefix("missing-partitions-")
        self.asked = [False] * get_at_least(config, "channels", 1)
        self.task = "deploying"
        self.again = {"scheduled", "deploying", "initializing", "running", "finished", "timeout"}
        self.gone = {"canceling", "canceled", "failed", "disposed"}
        if self.bug == "finished-is-gone":
            self.again.remove("finished")
            self.gone.add("finished")
        if self.bug == "silence-is-an-error":
            self.again.remove("timeout")
        if self.bug == "failed-producer-fails":
            self.gone.remove("failed")
        if self.bug == "unscheduled-is-tried-again":
            self.again.add("created")

    def step(self, event: Json) -> Observations:
        kind = event.get("type")
        if kind == "task":
            self.task = get_choice(event, "state", TASK_STATES)
            return []
        if kind not in ("not_found", "answer"):
            raise unknown_type(event)
        channel = get_integer(event, "channel")
        producer = get_choice(event, "producer", _PRODUCERS) if kind == "answer" else ""
        if not 0 <= channel < len(self.asked):
            return rejected()
        if self.asked[channel] != (kind == "answer") and self.bug != "asks-twice":
            return rejected()
        self.asked[channel] = kind == "not_found"
        if kind == "not_found":
            return [{"type": "ask", "channel": channel}]
        return self.decide(channel, producer)

    def decide(self, channel: int, producer: str) -> Observations:
        interested = {"deploying", "initializing", "running"}
        if self.bug == "only-running-tasks-hear":
            interested = {"running"}
        if self.task not in interested and self.bug != "late-answers-count":
            return []
        if producer in self.again:
            return [{"type": "retry", "channel": channel}]
        self.task = "canceling" if producer in self.gone else "failed"
        return [{"type": "cancel" if producer in self.gone else "fail"}]


make = MissingPartitions
