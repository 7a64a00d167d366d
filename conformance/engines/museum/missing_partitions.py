"""Partitions that were not found, PROD-1 … PROD-5."""

from tidegate.conformance.engines.museum.wrong import changed, wrong
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
        self.asked = [False] * get_at_least(config, "channels", 1)
        self.task = "deploying"
        self.again = {"scheduled", "deploying", "initializing", "running", "finished", "timeout"}
        self.gone = {"canceling", "canceled", "failed", "disposed"}

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
        if self.asked[channel] != (kind == "answer"):
            return rejected()
        self.asked[channel] = kind == "not_found"
        if kind == "not_found":
            return [{"type": "ask", "channel": channel}]
        return self.decide(channel, producer)

    def decide(self, channel: int, producer: str) -> Observations:
        interested = {"deploying", "initializing", "running"}
        if self.task not in interested:
            return []
        if producer in self.again:
            return [{"type": "retry", "channel": channel}]
        self.task = "canceling" if producer in self.gone else "failed"
        return [{"type": "cancel" if producer in self.gone else "fail"}]


make = MissingPartitions

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("PROD-1")
class MissingPartitionsAsksTwice(MissingPartitions):
    """A channel that waits for an answer asks once more."""

    step = changed(MissingPartitions.step, 'self.asked[channel] != (kind == "answer")', "False")


@wrong("PROD-2")
class MissingPartitionsFinishedIsGone(MissingPartitions):
    """A producer that has finished is taken for one that is gone."""

    def __init__(self, config: Json, host: Host) -> None:
        super().__init__(config, host)
        self.again.remove("finished")
        self.gone.add("finished")


@wrong("PROD-2")
class MissingPartitionsSilenceIsAnError(MissingPartitions):
    """Nobody answered in time, and the task fails."""

    def __init__(self, config: Json, host: Host) -> None:
        super().__init__(config, host)
        self.again.remove("timeout")


@wrong("PROD-3")
class MissingPartitionsFailedProducerFails(MissingPartitions):
    """The consumer of a producer that failed fails too, and is taken for a cause."""

    def __init__(self, config: Json, host: Host) -> None:
        super().__init__(config, host)
        self.gone.remove("failed")


@wrong("PROD-4")
class MissingPartitionsLateAnswersCount(MissingPartitions):
    """A task that is being cancelled is failed by an answer that comes too late."""

    decide = changed(MissingPartitions.decide, "self.task not in interested", "False")


@wrong("PROD-4")
class MissingPartitionsOnlyRunningTasksHear(MissingPartitions):
    """A task that is being deployed ignores the answer, and waits for its partition for ever."""

    decide = changed(MissingPartitions.decide, '{"deploying", "initializing", "running"}', '{"running"}')


@wrong("PROD-5")
class MissingPartitionsUnscheduledIsTriedAgain(MissingPartitions):
    """A producer that was never scheduled is asked for over and over."""

    def __init__(self, config: Json, host: Host) -> None:
        super().__init__(config, host)
        self.again.add("created")
