"""Groups of sources that are aligned: what is no config, claims, and the rules that are named."""

import attrs
import pytest

from tests.reference.walking import claim, walk
from tidegate.reference.elements import MAX, Long
from tidegate.reference.model import InvalidInputError, Outcome
from tidegate.reference.watermarks import alignment_group as group

IDLE = 2**63 - 1


@pytest.mark.parametrize("drift", [-1, MAX])
def test_drifts_that_are_none(drift):
    with pytest.raises(InvalidInputError, match="drift must be from 0 to"):
        group.Source(0, Long(drift))


STATE = group.start(group.Config((group.Source(0, Long(5)), group.Source(1, Long(5))), 2))[0]
REPORTED = attrs.evolve(STATE, sources=((group.Subtask(Long(9)), group.Subtask(Long(7))), STATE.sources[1]))
ANNOUNCE = group.AnnounceLimits(0)


@pytest.mark.parametrize(
    ("name", "event", "limits"),
    [
        ("the-slowest-never-waits", ANNOUNCE, [(0, 6), (1, 6)]),
        ("the-slowest-never-waits", ANNOUNCE, [(0, 12), (1, 6)]),
        ("one-limit-for-all", ANNOUNCE, [(0, 12)]),
        ("one-limit-for-all", ANNOUNCE, [(0, 12), (1, 13)]),
        ("one-limit-for-all", group.TaskReady(0, 0), [(0, 12)]),
        ("groups-are-apart", ANNOUNCE, [(0, 11), (1, 11)]),
    ],
)
def test_claim_refuses(name, event, limits):
    outcome = Outcome(REPORTED, tuple(group.Limit(one, Long(limit)) for one, limit in limits), ())
    assert not claim("alignment_group", name)(REPORTED, event, outcome)


def test_a_limit_that_another_group_decides_is_refused(monkeypatch):
    """The claim asks for the limit again without the other groups: where these make a difference, it says so."""
    lowest = min(subtask.report for subtask in REPORTED.sources[0])
    slower = attrs.evolve(REPORTED, sources=(REPORTED.sources[0], (group.Subtask(Long(lowest - 3)),) * 2))
    apart = claim("alignment_group", "groups-are-apart")
    assert apart(slower, ANNOUNCE, *group.step(slower, ANNOUNCE))
    monkeypatch.setattr(group, "group_watermark", lowest_of_all)
    assert not apart(slower, ANNOUNCE, *group.step(slower, ANNOUNCE))


def lowest_of_all(state, _source):
    return min(one.report for subtasks in state.sources for one in subtasks if one.report is not None)


@pytest.mark.parametrize(
    ("trace", "rules"),
    [
        ("0.0w5 0.1w6 0announce", "GROUP-2 GROUP-3"),
        ("0.0w5 0.1w6 0.1fails 0announce", "GROUP-2 GROUP-3 GROUP-5"),
        (f"0.0w{IDLE} 0announce", "GROUP-4 GROUP-3"),
    ],
)
def test_all_the_rules_at_work_are_named(trace, rules):
    config = {"sources": [{"group": 0, "drift": "1"}], "subtasks": 2}
    assert walk("alignment_group", config, trace)[-1].rules == tuple(rules.split())
