"""Watermark alignment in a source: its claims, and the rules that are named."""

import attrs
import pytest

from tests.reference.walking import claim, walk
from tidegate.reference.elements import MAX, Long, Status
from tidegate.reference.model import Outcome
from tidegate.reference.watermarks import source_alignment as alignment

FLINK_39073, FLINK_40093 = alignment.SEMANTICS


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
