"""Watermark alignment in a source, rule by rule, in short notation."""

import attrs
import pytest

from tests.reference.walking import claim, last, walk
from tidegate.reference.elements import MAX, Long, Status
from tidegate.reference.model import Outcome, Rejected
from tidegate.reference.watermarks import source_alignment as alignment

FLINK_39073, FLINK_40093 = alignment.SEMANTICS
HIGHEST = "report9223372036854775807"


def short(seen):
    return "rejected" if isinstance(seen, Rejected) else seen.type + "".join(map(str, attrs.astuple(seen)))


def run(config, trace):
    breaks = {"nobody-is-forgotten"} if config.get("semantics", FLINK_39073) == FLINK_39073 else set()
    outcomes = walk("source_alignment", config, trace, breaks=breaks)
    return [" ".join(map(short, outcome.observations)) for outcome in outcomes]


@pytest.mark.parametrize(
    ("rule", "samples", "trace", "answers"),
    [
        ("ALIGN-1", 0, "add0 0w5 add0 limit4", ["", "", "", "pause0"]),
        ("ALIGN-1", 0, "0w5 0i", ["rejected", "rejected"]),
        ("ALIGN-2", 2, "add0 0w5 limit4 sample sample", ["", "", "", "", "pause0"]),
        ("ALIGN-2", 1, "w5 limit4 w3 sample w9 sample", ["", "", "", "report3", "", "wait report9"]),
        ("ALIGN-3", 0, "limit5 w5 w6 limit6 limit5", ["", "", "wait", "go_on", "wait"]),
        ("ALIGN-3", 0, "limit5 w6 w5", ["", "wait", "go_on"]),
        ("ALIGN-4", 0, "add0 limit5 0w6 0w7 limit5", ["", "", "pause0", "", ""]),
        ("ALIGN-5", 0, "add0 limit5 0w6 0w5 sample limit4", ["", "", "pause0", "", "resume0", "pause0"]),
        (
            "ALIGN-5",
            1,
            "add0 add1 0w9 limit5 sample 0w1 1w9 sample",
            ["", "", "", "", "pause0", "", "", "pause1 resume0"],
        ),
        ("ALIGN-6", 0, "add0 0i 0w6 limit5 sample 0i 0a 0a", ["", "", "", "", "", "", "pause0", ""]),
        ("ALIGN-7", 0, "add0 limit5 0w6 0i limit9 sample 0a limit9", ["", "", "pause0", "", "", "", "", "resume0"]),
        ("ALIGN-8", 0, "add0 0w6 drop0 limit5 0w6", ["", "", "", "", "rejected"]),
        ("ALIGN-8", 0, "add0 limit5 0w6 drop0 add0 0w6 limit6", ["", "", "pause0", "", "", "", "resume0"]),
        ("ALIGN-9", 3, "sample w5 sample i sample a sample", ["", "", "report5", "", HIGHEST, "", "report5"]),
        ("ALIGN-10", 0, "limit5 w6 end sample limit9", ["", "wait", HIGHEST, HIGHEST, ""]),
        ("ALIGN-11", 1, "add0 0w9 w9 limit5 sample", ["", "", "", "", "wait pause0 report9"]),
    ],
)
def test_rule(rule, samples, trace, answers):
    assert run({"samples": samples}, trace) == answers


def test_flink_40093_resumes_idle_splits_and_leaves_them_idle():
    config = {"samples": 0, "semantics": FLINK_40093}
    assert run(config, "add0 limit5 0w6 0i limit9 limit5 0a") == ["", "", "pause0", "", "resume0", "", "pause0"]


def test_what_is_refused_by_which_rule():
    assert last("source_alignment", {}, "add0 1w5") == ("rejected", "ALIGN-1")


STATE = alignment.start(alignment.Config(0))[0]
AHEAD = alignment.Split(0, alignment.Samples(Long(6), ()))
PAUSE, RESUME = alignment.PauseSplit(0), alignment.ResumeSplit(0)
SAMPLE = alignment.Sample()


@pytest.mark.parametrize(
    ("name", "before", "event", "observations", "after"),
    [
        ("nobody-is-forgotten", {}, SAMPLE, [], {"splits": (AHEAD,), "paused": frozenset({0})}),
        ("nobody-is-forgotten", {}, SAMPLE, [], {"splits": (AHEAD,), "paused": frozenset({0}), "limit": Long(6)}),
        ("pauses-and-resumes-alternate", {"paused": frozenset({0})}, SAMPLE, [PAUSE], {"paused": frozenset({0})}),
        ("pauses-and-resumes-alternate", {}, SAMPLE, [RESUME], {}),
        ("pauses-and-resumes-alternate", {}, SAMPLE, [], {"paused": frozenset({0})}),
        (
            "idle-splits-are-not-paused",
            {"splits": (attrs.evolve(AHEAD, idle=True),)},
            SAMPLE,
            [PAUSE],
            {"splits": (attrs.evolve(AHEAD, idle=True),)},
        ),
        ("one-report-at-the-end", {}, SAMPLE, [alignment.Report(MAX)], {}),
        ("one-report-at-the-end", {}, SAMPLE, [], {"source": alignment.Samples(Long(5), ())}),
        ("one-report-at-the-end", {}, alignment.SourceStatus(Status.IDLE), [alignment.Report(MAX)], {}),
        ("samples-age", {}, SAMPLE, [], {"source": alignment.Samples(Long(5), (Long(5),))}),
    ],
)
def test_claim_refuses(name, before, event, observations, after):
    outcome = Outcome(attrs.evolve(STATE, **after), tuple(observations), ())
    assert not claim("source_alignment", name)(attrs.evolve(STATE, **before), event, outcome)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("waits-while-ahead", {"mode": alignment.Mode.WAITING}),
        ("whoever-is-ahead-is-paused", {"splits": (AHEAD,), "limit": Long(5)}),
    ],
)
def test_invariant_refuses(name, state):
    assert not claim("source_alignment", name)(attrs.evolve(STATE, **state))


@pytest.mark.parametrize(
    ("samples", "trace", "rules"),
    [
        (0, "add0 w9 0w9 limit5", "ALIGN-3 ALIGN-4"),
        (1, "add0 add1 0w9 limit5 sample 0w1 1w9 sample", "ALIGN-4 ALIGN-5 ALIGN-9 ALIGN-2"),
        (1, "add0 w9 0w9 limit5 sample", "ALIGN-3 ALIGN-4 ALIGN-9 ALIGN-2 ALIGN-11"),
        (0, "add0 0i 0w9 limit5", "ALIGN-6 ALIGN-3"),
        (0, "add0 limit5 0w9 0i limit5", "ALIGN-3"),
        (0, "add0 limit5 0w9 0i limit10", "ALIGN-5 ALIGN-7 ALIGN-3"),
    ],
)
def test_all_the_rules_at_work_are_named(samples, trace, rules):
    config = {"samples": samples, "semantics": FLINK_40093}
    assert walk("source_alignment", config, trace)[-1].rules == tuple(rules.split())
