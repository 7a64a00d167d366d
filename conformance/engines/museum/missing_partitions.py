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
    #: What a producer answers so that it is asked again, and so that the task is cancelled.
    again = frozenset({"scheduled", "deploying", "initializing", "running", "finished", "timeout"})
    gone = frozenset({"canceling", "canceled", "failed", "disposed"})

    def __init__(self, config: Json, host: Host) -> None:
        self.asked = [False] * get_at_least(config, "channels", 1)
        self.task = "deploying"

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
        if self.task not in {"deploying", "initializing", "running"}:
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

    again = MissingPartitions.again - {"finished"}
    gone = MissingPartitions.gone | {"finished"}


@wrong("PROD-2")
class MissingPartitionsSilenceIsAnError(MissingPartitions):
    """Nobody answered in time, and the task fails."""

    again = MissingPartitions.again - {"timeout"}


@wrong("PROD-3")
class MissingPartitionsFailedProducerFails(MissingPartitions):
    """The consumer of a producer that failed fails too, and is taken for a cause."""

    gone = MissingPartitions.gone - {"failed"}


@wrong("PROD-4")
class MissingPartitionsLateAnswersCount(MissingPartitions):
    """A task that is being cancelled is failed by an answer that comes too late."""

    decide = changed(MissingPartitions.decide, 'self.task not in {"deploying", "initializing", "running"}', "False")


@wrong("PROD-4")
class MissingPartitionsOnlyRunningTasksHear(MissingPartitions):
    """A task that is being deployed ignores the answer, and waits for its partition for ever."""

    decide = changed(MissingPartitions.decide, '{"deploying", "initializing", "running"}', '{"running"}')


@wrong("PROD-5")
class MissingPartitionsUnscheduledIsTriedAgain(MissingPartitions):
    """A producer that was never scheduled is asked for over and over."""

    again = MissingPartitions.again | {"created"}
