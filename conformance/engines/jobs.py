"""Whole jobs: what an engine declares of them, a job to run, and what came of it.

A job is a program that the engine runs as it likes; its answer are the rows of a run log. The harness draws programs
within what the engine declares in `hello`, under `jobs`. Any engine that speaks the protocol can be asked
(`ProtocolJobs`); Flink brings an engine of its own.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TypeVar

from tidegate.conformance.engines.base import Description, JobReply, JobRequest, Started
from tidegate.conformance.engines.errors import BadHelloError
from tidegate.conformance.engines.processes.process import ProcessEngine

Value = TypeVar("Value")


def weigh(usual: Value, others: Mapping[Value, int]) -> tuple[Value, ...]:
    """The values of a setting: the usual one, and each other as often as it is to be drawn beside the rest of them.

    In jobs in which everything is odd, a setting that others rule out may so be usual more often than not.
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
    """An engine that speaks the protocol, given `job` requests."""

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
