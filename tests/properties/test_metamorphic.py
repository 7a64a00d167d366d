"""Metamorphic relations hold for two right engines that share no code, and tell wrong ones."""

import pytest

from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.judging.metamorphic import check
from tidegate.conformance.judging.reference_engine import ReferenceEngine
from tidegate.conformance.judging.suite import Budget
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.metamorphic import RELATIONS

COMPONENTS = sorted({relation.component for relation in RELATIONS})


def results(engine, component, cases=1000):
    running = InProcess(engine)
    return [verdict.status for verdict in check(Runner(running).replies, running.start(), component, Budget(cases))]


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("engine", [ReferenceEngine(), Engine()], ids=["reference", "museum"])
def test_relations_hold_for_right_engines(engine, component):
    found = results(engine, component)
    assert len(found) > 40
    assert set(found) == {Status.PASS}


@pytest.mark.parametrize(
    ("mutant", "component"),
    [
        ("valve-first-channel-decides", "valve"),
        ("valve-repeats-minimum", "valve"),
        ("valve-never-flushes", "valve"),
        ("combiner-two-inputs-only", "combiner"),
        ("multiplexer-timestamps-32-bit", "multiplexer"),
        ("partitioner-watermark-advances-cursor", "partitioner"),
        ("serializer-flushed-bytes-repeated", "serializer"),
        ("deserializer-leftover-dropped", "deserializer"),
        ("sender-credit-replaces", "credit_sender"),
        ("gate-lowest-channel-first", "gate"),
    ],
)
def test_relations_tell_wrong_engines(mutant, component):
    assert Status.FAIL in results(Engine(mutant), component, cases=4000)
