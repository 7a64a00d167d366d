"""Metamorphic relations hold for two right engines that share no code, and tell wrong ones."""

import pytest

from conformance.engines.python import InProcess
from conformance.engines.reference import ReferenceEngine
from conformance.metamorphic import check
from conformance.museum.engines import Engine
from conformance.suite import Budget
from conformance.verdicts import Result
from properties.metamorphic import RELATIONS

COMPONENTS = sorted({relation.component for relation in RELATIONS})


def results(engine, component, cases=1000):
    running = InProcess(engine)
    return [verdict.result for verdict in check(running, running.start(), component, Budget(cases))]


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("engine", [ReferenceEngine(), Engine()], ids=["reference", "museum"])
def test_relations_hold_for_right_engines(engine, component):
    found = results(engine, component)
    assert len(found) > 40
    assert set(found) == {Result.PASS}


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
    assert Result.FAIL in results(Engine(mutant), component, cases=1500)
