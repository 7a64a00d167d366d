"""The library call behind `tidegate run`: what it takes, what it gives, and how it ends."""

import copy
import json
import os
from collections import Counter

import pytest

from tidegate.conformance.engines.base import Claim, Crashed, Engine, Steps
from tidegate.conformance.engines.museum import engine as museum
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.expectations import Entry, Expectations
from tidegate.conformance.judging.run import Candidate, candidate_for, replay, run
from tidegate.conformance.judging.suite import STAGES, Budget, UnknownNameError, accepts, declared_components
from tidegate.conformance.judging.trial import KEPT_FINDINGS, Observer, Runner, Tally, Trial
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.properties.drawing.cases import draw_case
from tidegate.properties.drawing.scopes import small
from tidegate.reference.components import COMPONENTS
from tidegate.traces.codec import decode
from tidegate.traces.notation.text import read_case

FILES = Budget(0, stages=("directed", "golden"))
RIGHT, WRONG = museum(None), museum("valve-always-flushes")


class Watching(Observer):
    """Remembers what it is shown, and interrupts the run after so many verdicts."""

    def __init__(self, most=None):
        self.most = most
        self.seen = []
        self.result = None

    def see(self, verdict):
        self.seen.append(verdict)
        if len(self.seen) == self.most:
            raise KeyboardInterrupt

    def finish(self, result):
        self.result = result


def test_a_right_engine_earns_its_claims():
    result = run(candidate_for(RIGHT), Budget(20), components=["wiring"])
    assert (result.exit_code, result.conclusion) == (Exit.CONFORMANT, "conformant")
    assert {stage for _component, stage, _status in result.counts} == set(STAGES) - {"metamorphic"}
    assert all("wiring" in claim for claim in result.claims)
    assert len(result.claims) == len([*small("wiring")])
    assert result.missing == ()


def test_an_observer_sees_every_verdict_and_the_result():
    watching = Watching()
    result = run(candidate_for(WRONG), FILES, components=["valve"], observers=[watching])
    assert len(watching.seen) == result.counts.total()
    assert watching.result is result
    failed = [verdict for verdict in watching.seen if verdict.status is Status.FAIL]
    assert tuple(failed) == result.findings
    assert len(failed) == result.count(Status.FAIL) > 0


def test_an_interrupt_keeps_what_is_known():
    result = run(candidate_for(WRONG), FILES, components=["valve"], observers=[Watching(most=9)])
    assert not result.complete
    assert result.cases == 9
    assert result.claims == ()
    assert [one.verdict for one in result.counterexamples] == list(result.findings), "shown, although not made small"
    assert "interrupted" in result.text()


def test_an_interrupt_in_the_complete_stage_claims_nothing():
    budget = Budget(0, stages=("complete", "golden"))
    watching = Watching(most=230)
    result = run(candidate_for(RIGHT), budget, components=["wiring"], observers=[watching])
    assert (result.exit_code, result.claims) == (Exit.UNDETERMINED, ())


def test_whoever_stops_reading_has_what_was_found_until_then():
    trial = Trial(Runner(InProcess(museum("valve-always-flushes"), batch=1)))
    verdicts = trial.try_component("valve", FILES)
    first = next(verdict for verdict in verdicts if verdict.status is Status.FAIL)
    verdicts.close()
    assert trial.tally.findings.kept == [first]
    assert trial.tally.exercised


def test_the_text_tells_counts_counterexamples_and_conclusion():
    result = run(candidate_for(WRONG), FILES, components=["valve"])
    text = str(result)
    assert text.startswith("component")
    for one in result.counterexamples:
        assert str(one) in text
        assert one.finding.reproduce in one.text()
    assert text.splitlines()[-1].startswith("museum valve-always-flushes 1 is not conformant: ")
    assert "## valve breaks VALVE-10" in result.markdown()
    told = json.loads(json.dumps(result.json()))
    assert (told["exit"], told["cases"]) == (1, result.cases)
    assert len(told["counterexamples"]) == len(result.counterexamples)
    assert repr(result) == f"<Result of {result.engine}: not conformant, {result.cases} cases>"


def test_an_object_is_named_as_the_command_line_names_its_class():
    assert candidate_for(RIGHT).name.startswith("object:tidegate.conformance.engines.museum"), "it takes arguments"
    assert candidate_for("exec:./engine", strict=True) == Candidate("exec:./engine", strict=True)
    assert candidate_for(InProcess(RIGHT)).name == "object:museum right"


def test_copies_are_made_by_default_only_where_they_are_cheap(monkeypatch):
    monkeypatch.setattr("tidegate.conformance.judging.run.cores", lambda: 6)
    jobs = {
        name: Candidate(name).usual_jobs(Budget())
        for name in ("reference", "python:a:B", "exec:./engine", "flink", "spark")
    }
    assert Candidate("reference").usual_jobs(FILES) == 1
    assert jobs == {"reference": 7, "python:a:B": 7, "exec:./engine": 7, "flink": 1, "spark": 1}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be taken away on this system")
def test_cores_that_we_may_not_use_do_not_count():
    usable = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(usable)})
        assert Candidate("exec:./engine").usual_jobs(Budget()) == 1
    finally:
        os.sched_setaffinity(0, usable)


def test_an_engine_that_is_given_is_tried_in_this_process_whatever_the_jobs():
    result = run(candidate_for(RIGHT), FILES, components=["wiring", "gate"], jobs=2)
    assert result.exit_code is Exit.CONFORMANT


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: run(candidate_for(RIGHT), FILES, components=["vlave"]), "no component 'vlave'; did you mean valve?"),
        (lambda: run(candidate_for(RIGHT), FILES, components=["pipe"]), "no component 'pipe'; there are chaining, "),
        (lambda: Budget(stages=("golden", "silver")), "no stage 'silver'; there are directed, "),
        (lambda: Candidate("reference", semantics="flink-1").make(), "no semantics 'flink-1'; did you mean flink-"),
    ],
)
def test_names_that_do_not_exist(make, message):
    with pytest.raises(UnknownNameError, match=message):
        make()


def test_no_stages_stand_for_all():
    assert Budget(stages=()).stages == STAGES


def test_replayed_cases_that_are_not_declared_are_skipped():
    cases = [read_case("valve", {"channels": 1}, "0w1"), read_case("gate", {"channels": 1}, "poll")]
    watching = Watching()
    result = replay(candidate_for(museum("valve-never-flushes")), cases, observers=[watching])
    assert [one.status for one in watching.seen] == [Status.PASS, Status.SKIP]
    assert (result.exit_code, result.cases) == (Exit.CONFORMANT, 1)


def test_known_failures_are_met_here_and_elsewhere():
    entries = (Entry("rule", "VALVE-10", "known"), Entry("case", "gate-*", "never tried"))
    tally, other = Tally(Expectations(entries)), Tally(Expectations(entries))
    for _verdict in Trial(Runner(InProcess(WRONG)), other).try_component("valve", FILES):
        pass
    tally.add(other)
    assert {status for _component, _stage, status in tally.counts} == {Status.PASS, Status.XFAIL}
    assert tally.expectations.problems() == ("case gate-*: nothing failed by it: delete the line, or correct the name",)
    assert (tally.exercised, tally.findings) == (other.exercised, other.findings)


def test_findings_beyond_a_number_are_counted_and_not_kept():
    tally = Tally()
    verdict = Verdict(draw_case("valve", 0, 0), "generated", Status.CRASH)
    for _ in range(KEPT_FINDINGS + 10):
        tally.take(verdict)
    tally.add(copy.deepcopy(tally))
    assert tally.counts["valve", "generated", Status.CRASH] == 2 * (KEPT_FINDINGS + 10)
    assert len(tally.findings.kept) == KEPT_FINDINGS
    assert len(tally.failures) == 2 * (KEPT_FINDINGS + 10)


def test_no_finding_is_crowded_out_by_others():
    """Known failures, other components and long words take no room from what is new."""
    tally = Tally(Expectations((Entry("case", "valve-*", "known"),)))
    for component, words in (("valve", "x"), ("gate", "y" * 100_000)):
        for _ in range(10 * KEPT_FINDINGS):
            tally.take(Verdict(draw_case(component, 0, 0), "generated", Status.ERROR, message=words))
    tally.take(Verdict(draw_case("wiring", 0, 0), "generated", Status.FAIL))
    kept = Counter((one.case.component, one.status) for one in tally.findings.kept)
    assert kept["valve", Status.XFAIL] == KEPT_FINDINGS
    assert 1 <= kept["gate", Status.ERROR] < 10, "bounded by bytes, too"
    assert kept["wiring", Status.FAIL] == 1
    assert len(tally.failures) == 10 * KEPT_FINDINGS + 1


class DiesOnce(Engine):
    """The right valve behind a process that was started again once."""

    restarts = 1

    def __init__(self):
        self.inner = InProcess(RIGHT)
        self.died = False

    def start(self):
        return self.inner.start()

    def replay(self, requests):
        for request, reply in self.inner.replay(requests):
            dies, self.died = not self.died and isinstance(reply, Steps), True
            yield request, Crashed("died") if dies else reply

    def close(self):
        self.inner.close()


def test_restarts_are_told():
    result = run(candidate_for(DiesOnce()), FILES, components=["wiring"])
    assert (result.exit_code, result.restarts, result.count(Status.CRASH)) == (Exit.VIOLATIONS, 1, 1)
    assert "restarted 1 time." in result.text()


def test_components_come_in_the_order_of_the_path():
    description = InProcess(RIGHT).start()
    assert declared_components(description, ["valve", "wiring"]) == ["wiring", "valve"]
    assert declared_components(description)[0] == "chaining"


@pytest.mark.parametrize(("declared", "asked"), [(None, False), ({"other"}, False), ({"late_timers"}, True)])
def test_extensions_are_for_engines_that_declare_them(declared, asked):
    config = {"kind": "alternating", "channels": 2, "finished_channels": True, "timeout": 1}
    plain, late = (
        decode(one, COMPONENTS["barriers"].config) for one in (config, config | {"extension": "late_timers"})
    )
    claim = Claim(extensions=declared and frozenset(declared))
    assert accepts(claim, "barriers", plain)
    assert accepts(claim, "barriers", late) == asked
