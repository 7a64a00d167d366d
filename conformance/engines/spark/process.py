"""The engine `spark[:MASTER]` as the harness sees it: a process of its own, with a JVM of its own."""

import os
import sys
from importlib import import_module
from tempfile import TemporaryDirectory

from tidegate.conformance.engines.base import Check, Description
from tidegate.conformance.engines.java import check_spark
from tidegate.conformance.engines.limits import Limits
from tidegate.conformance.engines.processes.process import ProcessEngine
from tidegate.conformance.engines.python.host import serve
from tidegate.conformance.engines.spark.session import LOCAL, check_master

#: The class that answers cases of components. Those for whole jobs are in `conformance/kinds.py`.
COMPONENTS = "tidegate.conformance.engines.spark.engine:Spark"
#: How many cases one job answers, unless that takes too long: half of those in flight.
BATCH = 4096
#: Seconds that a batch should take: far below the limit, so that a busy machine does not look like a hang.
QUICK = 20.0
#: Requests come as fast as a pipe carries them; one that is this late belongs to the next batch.
LINGER = 0.1


class SparkEngine(ProcessEngine):
    """Spark behind the protocol. Its requirements are checked before the start, to report what is missing.

    `what`: the answering class, by module and name.
    """

    def __init__(
        self, master: str = "", limits: Limits | None = None, *, check: Check | None = None, what: str = COMPONENTS
    ) -> None:
        check_master(master or LOCAL)
        command = [sys.executable, "-m", "tidegate.conformance.engines.spark.process", master or LOCAL, what]
        super().__init__(command, limits, check=check)

    def launch(self) -> None:
        check_spark()
        super().launch()

    def start(self) -> Description:
        check_spark()
        return super().start()


def main(master: str, what: str) -> None:
    """The class is imported here, only in the process of the engine.

    At the end Java is killed. The files that it would have removed are in a folder of ours.
    """
    module, _colon, name = what.partition(":")
    with TemporaryDirectory(prefix="tidegate-spark-", ignore_cleanup_errors=True) as scratch:
        os.environ.setdefault("SPARK_LOCAL_DIRS", scratch)
        os.environ["SPARK_SUBMIT_OPTS"] = f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} -Djava.io.tmpdir={scratch}"
        serve(lambda: getattr(import_module(module), name)(master), QUICK, BATCH, LINGER)


if __name__ == "__main__":
    main(*sys.argv[1:])
