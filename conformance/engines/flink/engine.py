"""The engine `flink[:VERSION]`: a process of its own with its own JVM.

`FlinkEngine` is our side of it: it checks for Java and the jars before it starts the process, to report clearly
what is missing. `Flink` is the other side, hosted like any Python engine; a JVM that dies takes the process
along, which is one crash and a new process.
"""

import sys
from collections.abc import Iterable
from typing import Any

from tidegate.conformance.engines.base import Check, Description
from tidegate.conformance.engines.errors import UnknownEngineError
from tidegate.conformance.engines.flink import adapters, cache
from tidegate.conformance.engines.flink.jvm import Jvm, start
from tidegate.conformance.engines.java import check_flink
from tidegate.conformance.engines.limits import Limits
from tidegate.conformance.engines.processes.process import ProcessEngine
from tidegate.conformance.engines.python.host import serve
from tidegate.conformance.engines.text import printable
from tidegate.conformance.engines.wire import BadRequestError, Json


class FlinkEngine(ProcessEngine):
    """Flink of one version, from the cache."""

    def __init__(self, version: str, limits: Limits | None = None, *, check: Check | None = None) -> None:
        self.version = version or cache.DEFAULT_VERSION
        if not cache.is_version(self.version):
            raise UnknownEngineError(
                f"'{printable(version)}' is not a version of Flink", f"for example flink:{cache.DEFAULT_VERSION}"
            )
        limits = limits or Limits()
        command = [
            sys.executable,
            "-m",
            "tidegate.conformance.engines.flink.engine",
            self.version,
            str(limits.case_timeout / 4),
        ]
        super().__init__(command, limits, check=check)

    def start(self) -> Description:
        cache.check_jars(self.version)
        check_flink()
        return super().start()


class Flink:
    """The real classes of one version as a Python engine."""

    def __init__(self, version: str = cache.DEFAULT_VERSION, components: Iterable[str] | None = None) -> None:
        self.jvm: Jvm = start(cache.folder_of(version), version)
        self.makers: dict[str, Any] = {}
        self.declared: Json = {}
        for name, adapter in adapters.load_all().items():
            if components is not None and name not in components:
                continue
            claim = adapter.declare(self.jvm)
            if claim is not None:
                self.makers[name] = adapter.make
                self.declared[name] = claim

    def describe(self) -> Json:
        implementation = {"name": "Apache Flink", "version": self.jvm.version, "language": "java"}
        return {"implementation": implementation, "components": self.declared}

    def replay(self, cases: list[Json]) -> list[Json]:
        return [self._replay(case) for case in cases]

    def _replay(self, case: Json) -> Json:
        make = self.makers.get(case["component"])
        if make is None:
            return _error("unsupported", f"Flink {self.jvm.version} has no {case['component']} here")
        try:
            return self._steps(make, case)
        except BadRequestError as error:
            return _error("bad_request", str(error))

    def _steps(self, make: Any, case: Json) -> Json:
        machine = make(self.jvm, case["config"])
        try:
            step = machine.step
            return {"steps": [step(event) for event in case["events"]]}
        finally:
            close = getattr(machine, "close", None)
            if close is not None:
                close()
            self.jvm.end_case()


def _error(kind: str, message: str) -> Json:
    return {"error": {"kind": kind, "message": message}}


def main(version: str, quick: float) -> None:
    serve(lambda: Flink(version), quick)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
