"""The real gate and its channels, and what they are known to do otherwise."""

import pytest

from tests.conformance.engines.flink.replaying import answer
from tidegate.conformance.documents.flink_matrix import expectations_of
from tidegate.conformance.judging.suite import Budget, plan
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status


def test_what_differs_is_known(flink):
    known = expectations_of("flink-2.3.0")
    cases = plan(flink.start(), "input_channels", Budget(cases=60, stages=("directed", "generated")))
    short = (one for one in cases if len(one.case.events) <= 60)
    found = [known.apply(verdict).status for verdict in Runner(flink).run(short)]
    assert set(found) == {Status.PASS, Status.XFAIL}
    assert found.count(Status.PASS) > 30


@pytest.mark.rule("GATE-21")
@pytest.mark.parametrize(
    ("location", "events", "reason"),
    [
        ("unknown", ("request_partitions", "local"), "Unexpected type of channel to retrigger"),
        ("remote", ("remote",), "gone from the table"),
        ("remote", ("remote", "close"), "is null"),
    ],
)
def test_defects_of_updates(flink, location, events, reason):
    """A channel becomes local before its partition is registered; a known one is updated; such a gate is closed."""
    updates = {"local", "remote"}
    steps = [{"type": "update", "channel": 0, "location": one} if one in updates else {"type": one} for one in events]
    ((shown,),) = answer(flink, "input_channels", {"locations": [location]}, *steps)[-1:]
    assert shown["type"] == "rejected"
    assert reason in shown["reason"]
