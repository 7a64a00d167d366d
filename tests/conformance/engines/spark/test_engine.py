"""The Spark engine, in process, on the session that all tests of Spark share: few jobs, many cases in each."""

from itertools import chain, islice

import attrs
import pytest

from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.engines.spark import engine as spark_engine
from tidegate.conformance.engines.spark.engine import COMPONENTS, Spark
from tidegate.conformance.engines.spark.mutants import MUTANTS
from tidegate.conformance.judging.suite import Budget, plan
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.reference.components import COMPONENTS as SPECIFIED

FILES = Budget(cases=0, stages=("directed", "golden"))
DRAWN = Budget(cases=30, seed=11, stages=("generated",))
COMPLETE = Budget(stages=("complete",))


@pytest.fixture(scope="module")
def engine(spark):
    return Spark(session=spark)


def run(engine, planned):
    """Every case in one batch: a job for each component."""
    return list(Runner(InProcess(engine, batch=100_000)).run(planned))


def replay(engine, *cases):
    return engine.replay([{"case": str(index), **case} for index, case in enumerate(cases)])


def watermark(channel, timestamp):
    return {"type": "watermark", "channel": channel, "timestamp": str(timestamp)}


def valve(channels, *events):
    return {"component": "valve", "config": {"channels": channels}, "events": list(events)}


def test_the_suite_finds_no_difference(engine):
    description = InProcess(engine).start()
    planned = [
        one
        for name in COMPONENTS
        for one in chain(
            plan(description, name, FILES),
            plan(description, name, DRAWN),
            islice(plan(description, name, COMPLETE), 0, None, 100),
        )
    ]
    verdicts = run(engine, planned)
    assert [verdict for verdict in verdicts if verdict.status is not Status.PASS] == []
    assert {verdict.case.component for verdict in verdicts} == COMPONENTS.keys()
    assert len(verdicts) > 1500


def test_every_semantics_and_kind_of_its_components_is_declared(engine):
    components = engine.describe()["components"]
    assert components.keys() == {"valve", "combiner", "partitioner", "wiring", "serializer", "deserializer", "chaining"}
    for name, claim in components.items():
        assert tuple(claim.get("semantics", ())) == SPECIFIED[name].semantics


@pytest.mark.parametrize(
    "component", [pytest.param(name, marks=[pytest.mark.long] * (name == "chaining")) for name in COMPONENTS]
)
def test_the_suite_catches_wrong_queries(component, spark):
    """Each mutant replaces one condition; the directed and golden traces of its component must show it."""
    mutants = [mutant for mutant in MUTANTS if mutant.component == component]
    assert mutants
    for mutant in mutants:
        wrong = Spark(session=spark, mutant=mutant.name)
        description = InProcess(wrong).start()
        assert description.components.keys() == {component}
        cases = list(islice(plan(description, component, FILES), 120))
        failures = [verdict for verdict in run(wrong, cases) if verdict.status is Status.FAIL]
        named = {rule for verdict in failures for rule in verdict.rules}
        assert named & set(mutant.rules), (mutant.name, named)


def test_there_are_mutants_enough():
    names = {mutant.name for mutant in MUTANTS}
    assert len(names) == len(MUTANTS) >= 8


BAD = [
    valve(0),
    valve("2"),
    {**valve(2), "config": {"channels": 2, "semantics": None}},
    valve(2, watermark(0, 2**63)),
    valve(2, {"type": "watermark", "channel": 0, "timestamp": 5}),
    valve(2, watermark(0, "007")),
    valve(2, {"type": "watermark", "channel": True, "timestamp": "1"}),
    valve(2, {"type": "status", "channel": 0, "status": "asleep"}),
    valve(2, {"type": "tick", "channel": 0}),
    {"component": "valve", "config": [], "events": []},
    {"component": "valve", "config": {"channels": 1}, "events": [5]},
    {"component": "combiner", "config": {"inputs": 1}, "events": [watermark(0, 1)]},
    {"component": "partitioner", "config": {"kind": "hash", "channels": 2}, "events": []},
    {
        "component": "partitioner",
        "config": {"kind": "hash", "channels": 2, "max_parallelism": 128},
        "events": [{"type": "record", "key": {"type": "int", "value": 2**31}}],
    },
    {
        "component": "partitioner",
        "config": {"kind": "hash", "channels": 2, "max_parallelism": 128},
        "events": [{"type": "record", "key": {"type": "string", "value": "\ud800"}}],
    },
    {"component": "wiring", "config": {"pattern": "pointwise", "producers": 0, "consumers": 1}, "events": []},
    {"component": "serializer", "config": {"buffer_size": 0}, "events": []},
    {"component": "serializer", "config": {"buffer_size": 8}, "events": [{"type": "record", "payload": "ABC0"}]},
    {"component": "deserializer", "config": {}, "events": [{"type": "buffer"}]},
    {
        "component": "chaining",
        "config": {"chaining": True, "chain_different_max_parallelism": True},
        "events": [{"type": "graph", "operators": [], "edges": [{}]}],
    },
]


def test_a_bad_case_is_refused_and_its_neighbours_are_answered(engine):
    good = valve(1, watermark(0, 7), watermark(1, 8))
    answers = replay(engine, *chain.from_iterable((bad, good) for bad in BAD))
    assert [answer["error"]["kind"] for answer in answers[::2]] == ["bad_request"] * len(BAD)
    shown = {"steps": [[{"type": "watermark", "timestamp": "7"}], [{"type": "rejected"}]]}
    assert answers[1::2] == [shown] * len(BAD)


def test_a_case_without_events_has_no_steps(engine):
    empty = {"component": "partitioner", "config": {"kind": "global", "channels": 2}, "events": []}
    assert replay(engine, empty) == [{"steps": []}]


def test_what_is_not_declared_is_unsupported(engine):
    [answer] = replay(engine, {"component": "gate", "config": {"channels": 1}, "events": []})
    assert answer["error"]["kind"] == "unsupported"


def test_a_case_that_fails_the_job_costs_itself_alone(engine, monkeypatch):
    unlucky = {
        **COMPONENTS["valve"].pieces,
        "news": "IF(size(channels) = 13, raise_error('unlucky'), candidate > s.last)",
    }
    monkeypatch.setitem(spark_engine.COMPONENTS, "valve", attrs.evolve(COMPONENTS["valve"], pieces=unlucky))
    answers = replay(engine, *(valve(channels, watermark(0, 7)) for channels in (1, 2, 13, 3)))
    assert [list(answer) for answer in answers] == [["steps"], ["steps"], ["error"], ["steps"]]
    assert answers[2]["error"]["kind"] == "internal"


def test_a_query_that_cannot_be_analysed_is_not_tried_case_by_case(engine, monkeypatch):
    monkeypatch.setitem(
        spark_engine.COMPONENTS,
        "valve",
        attrs.evolve(COMPONENTS["valve"], pieces={**COMPONENTS["valve"].pieces, "news": "no_such_column"}),
    )
    asked = []
    monkeypatch.setattr(engine, "_make_table", lambda *a, make=engine._make_table: asked.append(a) or make(*a))
    answers = replay(engine, *(valve(1, watermark(0, 7)) for _ in range(8)))
    assert {answer["error"]["kind"] for answer in answers} == {"internal"}
    assert len(asked) == 1


def test_long_chains_are_found_by_doubling(engine):
    operators = [
        {
            "id": index,
            "name": f"n{index}",
            "kind": "operator" if index else "legacy_source",
            "strategy": "always",
            "parallelism": 1,
            "max_parallelism": -1,
            "slot_group": "default",
            "yielding": index in {60, 90},
        }
        for index in range(100)
    ]
    edges = [
        {"source": index, "target": index + 1, "partitioner": "forward", "exchange": "undefined"} for index in range(99)
    ]
    config = {"chaining": True, "chain_different_max_parallelism": True}
    event = {"type": "graph", "operators": operators, "edges": edges}
    [answer] = replay(engine, {"component": "chaining", "config": config, "events": [event]})
    [vertices] = answer["steps"]
    # Cut in front of the first yielding operator below a legacy source, and only there.
    assert [(vertex["head"], vertex["operators"][-1]) for vertex in vertices] == [(0, 59), (60, 99)]
