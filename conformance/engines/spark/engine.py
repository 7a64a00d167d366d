"""The engine `spark`: cases in batches, one Spark job for all cases of a component in a batch.

`Spark` is judged, hosted in a process of its own like any Python engine. `SparkEngine` in `process` is our
side of it.
"""

import sys
import traceback
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tidegate.conformance.engines.spark.chaining import CHAINING
from tidegate.conformance.engines.spark.combiner import COMBINER
from tidegate.conformance.engines.spark.component import Component
from tidegate.conformance.engines.spark.deserializer import DESERIALIZER
from tidegate.conformance.engines.spark.mutants import find
from tidegate.conformance.engines.spark.partitioner import PARTITIONER
from tidegate.conformance.engines.spark.serializer import SERIALIZER
from tidegate.conformance.engines.spark.session import LOCAL, SHORT_LIVED, make_session
from tidegate.conformance.engines.spark.valve import VALVE
from tidegate.conformance.engines.spark.wiring import WIRING
from tidegate.conformance.engines.wire import BadRequestError, Json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COMPONENTS = {one.name: one for one in (VALVE, COMBINER, PARTITIONER, WIRING, SERIALIZER, DESERIALIZER, CHAINING)}

SETTINGS = {
    # The formulas need Java's arithmetic, which wraps around, and NULL beyond the end of an array.
    "spark.sql.ansi.enabled": "false",
    # The optimizer would compute a small table on the driver, on one core and without a job.
    "spark.sql.execution.arrow.localRelationThreshold": "0",
}

#: A failed job costs seconds. If this many of a batch have failed, the cause is not one of its cases.
MOST_FAILURES = 50


class Spark:
    """Answers in Spark's own terms. Its session is made on first use, unless one is given."""

    #: the name of the mutant to be: see `mutants`
    mutant: str | None = None

    def __init__(self, master: str = LOCAL, session: "SparkSession | None" = None, mutant: str | None = None) -> None:
        import pyspark  # noqa: PLC0415 - the engine that is asked for, and no other, pays for it

        self.version = pyspark.__version__
        name = mutant or self.mutant
        self._wrong = find(name) if name else None
        base = session or make_session(master, "tidegate spark engine", SHORT_LIVED)
        self._session = base.newSession()  # so that our settings do not affect others
        for key, value in SETTINGS.items():
            self._session.conf.set(key, value)

    def describe(self) -> Json:
        return {
            "implementation": {"name": "spark", "version": self.version, "language": "Spark SQL"},
            "components": {
                name: component.claim
                for name, component in COMPONENTS.items()
                if self._wrong is None or name == self._wrong.component
            },
        }

    def replay(self, cases: list[Json]) -> list[Json]:
        answers: dict[int, Json] = {}
        batches: dict[str, list[Json]] = defaultdict(list)
        for index, case in enumerate(cases):
            component = COMPONENTS.get(case["component"])
            if component is None:
                answers[index] = make_error("unsupported", f"no component {case['component']!r} here")
                continue
            try:
                row = {"id": index, **read(component, case)}
            except BadRequestError as error:
                answers[index] = make_error("bad_request", str(error))
                continue
            if row["events"]:
                batches[component.name].append(row)
            else:
                answers[index] = {"steps": []}
        for name, rows in batches.items():
            answers |= self._answer(COMPONENTS[name], rows)
        return [answers[index] for index in range(len(cases))]

    def _answer(self, component: Component, rows: list[Json]) -> dict[int, Json]:
        """An answer for each row, by its id. A failed job is repeated in halves: one case is to blame."""
        from pyspark.errors import AnalysisException  # noqa: PLC0415

        answers: dict[int, Json] = {}
        failures = 0
        left = [rows] if rows else []
        while left:
            batch = left.pop()
            try:
                answers |= self._ask(component, batch)
            except Exception as error:  # noqa: BLE001 - whatever Spark raises, the other cases are to be answered
                failures += 1
                if len(batch) > 1 and failures <= MOST_FAILURES and not isinstance(error, AnalysisException):
                    half = len(batch) // 2
                    left += [batch[:half], batch[half:]]
                    continue
                traceback.print_exc(file=sys.stderr)
                said = f"{type(error).__name__}: {first_line(error)}"
                answers |= {row["id"]: make_error("internal", said) for row in batch}
        return answers

    def _ask(self, component: Component, rows: list[Json]) -> dict[int, Json]:
        table = self._make_table(component, rows)
        self._session.createDataFrame(table).createOrReplaceTempView("cases")
        for name, text in component.queries(self._pieces(component)).items():
            answer = self._define(component, name, text)
        found = answer.toArrow()
        steps = dict(zip(found["id"].to_pylist(), found["steps"].to_pylist(), strict=True))
        return {row["id"]: {"steps": [component.show(step) for step in steps[row["id"]]]} for row in rows}

    def _pieces(self, component: Component) -> dict[str, str]:
        is_wrong = self._wrong is not None and self._wrong.component == component.name
        return self._wrong.pieces if self._wrong and is_wrong else {}

    def _define(self, component: Component, name: str, text: str) -> "DataFrame":
        """The view of that name, cached or repeated as the component requires."""
        view = self._session.sql(text)
        if name in component.kept or name in component.repeated:
            view = view.localCheckpoint()
        view.createOrReplaceTempView(name)
        while name in component.repeated and not view.filter("changed").isEmpty():
            view = self._session.sql(component.repeated[name]).localCheckpoint()
            view.createOrReplaceTempView(name)
        return view

    def _make_table(self, component: Component, rows: list[Json]) -> Any:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415
        from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415
        from pyspark.sql.types import StructType  # noqa: PLC0415

        schema = StructType.fromDDL(f"id INT, {component.columns}")
        assert isinstance(schema, StructType)
        return pa.Table.from_pylist(rows, schema=to_arrow_schema(schema))


def read(component: Component, case: Json) -> Json:
    config, events = case.get("config"), case.get("events")
    if not isinstance(config, dict) or not isinstance(events, list):
        raise BadRequestError("config must be an object and events a list")
    if not all(type(event) is dict for event in events):
        raise BadRequestError("an event is an object")
    return component.read(config, events)


def first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def make_error(kind: str, message: str) -> Json:
    return {"error": {"kind": kind, "message": message}}
