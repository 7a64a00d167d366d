"""Groups of sources that are aligned, rule by rule, in short notation."""

import attrs
import pytest

from tests.reference.walking import claim, last, walk
from tidegate.reference.elements import MAX, Long
from tidegate.reference.model import InvalidInputError, Outcome
from tidegate.reference.watermarks import alignment_group as group

IDLE = 2**63 - 1


def run(sources, subtasks, trace):
    config = {"sources": [{"group": one, "drift": str(drift)} for one, drift in sources], "subtasks": subtasks}
    return [
        " ".join(f"{seen.subtask}:{seen.timestamp}" if isinstance(seen, group.Limit) else "rejected" for seen in one)
        for one in (outcome.observations for outcome in walk("alignment_group", config, trace))
    ]


@pytest.mark.parametrize(
    ("rule", "sources", "trace", "answers"),
    [
        ("GROUP-1", [(0, 10)], "0.0w5 0announce 0.0w3 0announce", ["", "0:15", "", "0:13"]),
        ("GROUP-1", [(0, 10)], "1announce 0.2w5 0.0w-9223372036854775808", ["rejected"] * 3),
        ("GROUP-2", [(0, 10), (0, 10)], "0.0w5 1.1w3 0announce 1announce", ["", "", "0:13", "1:13"]),
        ("GROUP-2", [(0, 10), (1, 10)], "0.0w5 1.1w3 0announce 1announce", ["", "", "0:15", "1:13"]),
        ("GROUP-3", [(0, 10), (0, 1)], "0announce 0.0w5 1announce 1.0w7 1.1w8 1announce", [*4 * [""], "", "0:6 1:6"]),
        ("GROUP-4", [(0, 10)], f"0.0w{IDLE} 0announce 0.0w{IDLE - 10} 0announce", ["", f"0:{IDLE}"] * 2),
        (
            "GROUP-5",
            [(0, 10)],
            "0.0w5 0.1w9 0.0fails 0announce 0.0ready 0announce",
            [*3 * [""], "1:15", "", "0:15 1:15"],
        ),
    ],
)
def test_rule(rule, sources, trace, answers):
    assert run(sources, 2, trace) == [*answers]


def test_what_is_refused_by_which_rule():
    config = {"sources": [{"group": 0, "drift": "0"}], "subtasks": 1}
    assert last("alignment_group", config, "0.1fails") == ("rejected", "GROUP-1")


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
