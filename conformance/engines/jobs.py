"""Whole jobs: what an engine declares for them, a job, and its result.

The engine runs a job in its own way; its answer is the rows of a run log. The harness draws programs
within what the engine declares in `hello`, under `jobs`. Any engine that speaks the protocol can run jobs
(`ProtocolJobs`); Flink has an engine of its own.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TypeVar

from tidegate.conformance.engines.base import Description, JobReply, JobRequest, Started
from tidegate.conformance.engines.errors import BadHelloError
from tidegate.conformance.engines.processes.process import ProcessEngine

Value = TypeVar("Value")


def weigh(usual: Value, others: Mapping[Value, int]) -> tuple[Value, ...]:
    """The values of a setting: the default, and each other as often as its weight.

    In jobs with many settings, a setting that others exclude may so have its default more often than not.
    """
    return (usual, *(value for value, share in others.items() for _ in range(share)))


class JobEngine(Started):
    """Anything that runs whole jobs, one at a time."""

    @abstractmethod
    def start(self) -> Description:
        """Start the engine unless it runs; `jobs` of its description says what it can do.

        Raises
        ------
        CannotStartError
            It cannot be started, or runs no jobs.
        """

    @abstractmethod
    def run(self, request: JobRequest) -> JobReply: ...


class ProtocolJobs(JobEngine):
    """An engine that speaks the protocol and gets `job` requests."""

    def __init__(self, engine: ProcessEngine) -> None:
        self._engine = engine

    def start(self) -> Description:
        description = self._engine.start()
        if description.jobs is None:
            self._engine.close()
            raise BadHelloError(
                f"{description.name} declares no jobs",
                'an engine that runs whole jobs says so in the reply to hello, under "jobs": see docs/protocol.md',
            )
        return description

    def run(self, request: JobRequest) -> JobReply:
        return self._engine.run_job(request)

    def close(self) -> None:
        self._engine.close()
