"""The engine `spark-native[:MASTER]`: whole jobs on Spark's own event time, several at once."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import attrs

from tidegate.conformance.engines.base import NotRun
from tidegate.conformance.engines.limits import Limits
from tidegate.conformance.engines.spark.native.logs import CAPABILITIES
from tidegate.conformance.engines.spark.native.mutants import find
from tidegate.conformance.engines.spark.native.query import Observed, UnfinishedError, observe
from tidegate.conformance.engines.spark.native.traces import Trace
from tidegate.conformance.engines.spark.session import LOCAL, SHORT_LIVED, borrow_session, check_master
from tidegate.conformance.engines.text import printable
from tidegate.traces.runlog import Capabilities

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The values of `spark.sql.streaming.multipleWatermarkPolicy`.
POLICIES = ("min", "max")
#: A micro-batch mostly waits for files, so this many traces run in parallel.
AT_ONCE = 4
#: Seconds for a trace, on a cold JVM and a busy machine, by default.
TIMEOUT = 600.0


@attrs.frozen
class Order:
    """A trace to run under a policy."""

    name: str
    trace: Trace
    policy: str


@attrs.frozen
class Declared:
    """What the engine declares."""

    name: str
    version: str
    language: str
    capabilities: Capabilities
    policies: tuple[str, ...]


class SparkNative:
    """A context manager: Spark starts on entry, and stops on exit if it was started here.

    Traces are files in the temporary folder, which all machines of a cluster must see.
    """

    def __init__(self, master: str = "", timeout: float | None = None, mutant: str = "") -> None:
        self.master = master or LOCAL
        check_master(self.master)
        self.timeout = Limits(case_timeout=TIMEOUT if timeout is None else timeout).case_timeout
        self.mutant = find(mutant)

    def __enter__(self) -> Self:
        """Raise CannotStartError if PySpark or its Java is missing."""
        self._borrowed = borrow_session(self.master, "tidegate spark-native", SHORT_LIVED)
        self._session: SparkSession = self._borrowed.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._borrowed.__exit__(kind, error, trace)

    def describe(self) -> Declared:
        return Declared(
            self.mutant.name or "spark-native", self._session.version, "Structured Streaming", CAPABILITIES, POLICIES
        )

    def run(self, orders: Iterable[Order]) -> Iterator[tuple[Order, Observed | NotRun]]:
        """Each order with its result, as they complete."""
        with TemporaryDirectory(prefix="tidegate-") as folder, ThreadPoolExecutor(AT_ONCE) as pool:
            places = ((Path(folder) / str(number), order) for number, order in enumerate(orders))
            futures = {pool.submit(self._run_one, place, order): order for place, order in places}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _run_one(self, folder: Path, order: Order) -> Observed | NotRun:
        from pyspark.errors import PySparkException  # noqa: PLC0415 - only where there is Spark

        py4j: Any = import_module("py4j.protocol")

        try:
            return observe(self._session, folder, order.trace, order.policy, self.timeout, self.mutant)
        except (PySparkException, py4j.Py4JError, UnfinishedError) as error:
            return NotRun(printable(str(error).partition("\n")[0]))
