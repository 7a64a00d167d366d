"""Runs the chunks: on all cores of Spark, or in this process one after the other.

Choices
-------
*One job per chunk.* Each chunk is a Spark job of one task. As many jobs run as there are task slots, and two more wait
for a free core. So each outcome reaches the driver as soon as it exists, and the driver writes it: executors need no
shared file system. And a chunk that cannot run fails alone. A job costs some ten milliseconds, a chunk a second.
"""

from collections.abc import Generator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tidegate.conformance.campaign.campaign import Orders
from tidegate.conformance.campaign.outcome import Outcome, not_run
from tidegate.conformance.campaign.plan import Order
from tidegate.conformance.campaign.worker import close_engine, run_chunk, run_in_worker
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.text import printable

if TYPE_CHECKING:
    from pyspark import SparkContext

#: Waiting jobs, so that no core is idle while the driver submits the next chunk.
SPARE = 2
MOST_JOBS = 1000
#: How often Spark tries a task, on a cluster and in one process.
ATTEMPTS = 4
_TAG = "tidegate-campaign"


def run_here(orders: Orders) -> Generator[Outcome, None, None]:
    """Run the chunks in this process. The queue may grow and shrink meanwhile."""
    try:
        while orders:
            yield run_chunk(orders.popleft())
    finally:
        close_engine()


def run_on_spark(context: "SparkContext", orders: Orders) -> Generator[Outcome, None, None]:
    """Run the chunks as jobs, and yield their outcomes as they come. The queue may grow and shrink meanwhile."""
    running: dict[Future[Outcome], Order] = {}
    with ThreadPoolExecutor(MOST_JOBS, thread_name_prefix=_TAG) as threads:
        try:
            while orders or running:
                while orders and len(running) < min(count_slots(context) + SPARE, MOST_JOBS):
                    order = orders.popleft()
                    running[threads.submit(run_job, context, order)] = order
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    del running[future]
                    yield future.result()
        finally:
            if running:
                context.cancelJobsWithTag(_TAG)


def run_job(context: "SparkContext", order: Order) -> Outcome:
    py4j: Any = import_module("py4j.protocol")
    errors: Any = import_module("pyspark.errors")
    try:
        context.addJobTag(_TAG)
        (outcome,) = context.parallelize([order], 1).map(run_in_worker).collect()
    except errors.PySparkException as error:  # how PySpark raises an exception of a worker
        return not_run(order.chunk, explain(str(error)))
    except py4j.Py4JJavaError as error:
        return not_run(order.chunk, explain(str(error.java_exception.getMessage())))
    except (py4j.Py4JError, OSError, AttributeError) as error:
        raise CannotStartError(f"Spark is gone: {error}", "run the same command to resume") from error
    return outcome


def explain(message: str) -> str:
    """The useful part of the message of a failed job.

    Raises
    ------
    CannotStartError
        No chunk can run with this setup.
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    cause = next((line for line in reversed(lines) if "Error" in line and not line.startswith(("at ", "File "))), "")
    if "ModuleNotFoundError" in cause:
        raise CannotStartError(
            f"the executors cannot import tidegate: {cause}",
            "install it on all executors, and set PYSPARK_PYTHON to that Python",
        )
    return printable(cause or lines[0] if lines else "the job failed")


def count_slots(context: "SparkContext") -> int:
    """How many tasks can run at once now: executors come and go."""
    jvm_context: Any = context._jsc.sc()  # noqa: SLF001 - PySpark has no name of its own for it
    profile = jvm_context.resourceProfileManager().defaultResourceProfile()
    return max(int(jvm_context.maxNumConcurrentTasks(profile)), 1)


def with_attempts(master: str) -> str:
    """A local master that retries tasks, as every other does: `local[2]` becomes `local[2,4]`."""
    if master == "local":
        master = "local[1]"
    if master.startswith("local[") and "," not in master:
        return f"{master.removesuffix(']')},{ATTEMPTS}]"
    return master
