"""Aims: what the generated cases of the default run find that chance alone does not."""

import pytest

from tidegate.conformance.engines.museum import Engine, find
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.judging.suite import Budget
from tidegate.conformance.judging.trial import Runner, Trial
from tidegate.conformance.judging.verdicts import VIOLATIONS

GENERATED = Budget(stages=("generated",))


@pytest.mark.parametrize(
    "mutant",
    [
        "valve-idle-above-rechecks",
        "partitioner-shuffle-always-first",
        "partitioner-shuffle-never-last",
        "partitioner-shuffle-takes-turns",
        "partitioner-turn-in-8-bits",
        pytest.param("partitioner-turn-in-16-bits", marks=pytest.mark.long),
        pytest.param("partitioner-counts-in-16-bits", marks=pytest.mark.long),
        "partitioner-counts-in-two-bytes",
        "idleness-records-in-a-byte",
        "pools-free-in-two-bytes",
        "pools-requirements-in-a-byte",
        "source-ids-in-two-bytes",
        "alignment-samples-in-a-byte",
        "group-numbers-in-a-byte",
        "valve-256-channels-count",
        "combiner-flushes-the-first-eight",
        "multiplexer-eight-decide",
        "multiplexer-every-advance-derives",
        "union-eight-members-finish",
        "chaining-eight-sources",
        "mailbox-handles-in-a-byte",
        "sender-announces-in-a-byte",
        "receiver-exclusive-in-a-byte",
        "writer-eight-readers-decide",
        "input-1024-channels-told-apart",
        "vertex-settings-64-are-asked",
        "wiring-256-consumers-read",
        "partition-broadcast-goes-on-behind-a-flush",
    ],
)
def test_generated_cases_find(mutant):
    verdicts = Trial(Runner(InProcess(Engine(mutant)))).try_component(find(mutant).component, GENERATED)
    assert any(verdict.status in VIOLATIONS for verdict in verdicts)
