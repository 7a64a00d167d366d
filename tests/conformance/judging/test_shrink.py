"""Shrinking: small, still failing, in the same way, across a process border."""

from random import Random

import pytest

from tidegate.conformance.engines.base import Broken, Crashed, Steps, TimedOut
from tidegate.conformance.engines.museum.catalog import all_mutants
from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.engines.python.engine import InProcess, PythonEngine
from tidegate.conformance.judging import shrink as shrinking
from tidegate.conformance.judging.expected import expected_rules
from tidegate.conformance.judging.shrink import (
    DEATHS,
    classify,
    leaves_a_choice,
    renumber,
    shrink,
    shrink_findings,
    simpler,
)
from tidegate.conformance.judging.suite import Planned, is_declared
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.conformance.reports.findings import describe
from tidegate.properties.drawing.cases import AIMED_EVERY, draw_case, drawn_once
from tidegate.traces.notation.text import read_case

#: But for those that are right up to 256 channels and more: nothing small shows them.
LARGE = ("valve-256-channels-count", "valve-257-channels-told-apart")
VALVES = [one.name for one in all_mutants() if one.component == "valve" and one.name not in LARGE]


def first_failure(engine, component, cases):
    description = engine.start()
    runner = Runner(engine)
    # Without the large ones: of 16 channels that must all turn idle, none can be left out.
    once = len(drawn_once(component)) * AIMED_EVERY
    usual = (index for index in range(cases) if index >= once or (index + 1) % AIMED_EVERY)
    drawn = (draw_case(component, "shrink", index) for index in usual)
    planned = (Planned("generated", case) for case in drawn if is_declared(description, case))
    failures = (verdict for verdict in runner.run(planned) if verdict.status in (Status.FAIL, Status.ERROR))
    return runner, next(failures, None)


@pytest.mark.parametrize("name", VALVES)
def test_wrong_valves_shrink_to_a_dozen_events(name):
    runner, failure = first_failure(InProcess(Engine(name)), "valve", 4000)
    if failure is None:
        pytest.fail(f"{name} was not caught by 4000 generated cases")
    shrunken = shrink(runner, failure)
    assert shrunken.verdict.status is failure.status
    assert len(shrunken.verdict.case.events) <= 12


def test_shrinks_across_a_process_border():
    with PythonEngine("tidegate.conformance.engines.museum.engines:ValveAlwaysFlushes") as engine:
        runner, failure = first_failure(engine, "valve", 1000)
        shrunken = shrink(runner, failure)
    assert len(shrunken.verdict.case.events) <= 11
    assert shrunken.replays > 0


def test_the_search_on_a_slow_engine_ends_in_time(monkeypatch):
    """What is known by then is the counterexample: at least it ends with the step that is wrong."""
    runner, failure = first_failure(InProcess(Engine("valve-always-flushes")), "valve", 1000)
    seconds = iter(range(10**9))
    monkeypatch.setattr(shrinking.time, "monotonic", lambda: 10 * next(seconds))
    shrunken = shrink(runner, failure)
    assert 0 < shrunken.replays <= 10 * shrinking.BATCH
    assert shrunken.verdict.status is Status.FAIL
    assert len(shrunken.verdict.case.events) == shrunken.verdict.violation.step + 1


class StopsAtTheSecondIdle(InProcess):
    """Right, and silent from the second event on that turns a channel idle; counts how often it was silent."""

    def __init__(self, silence):
        super().__init__(Engine())
        self.silence, self.silent = silence, 0

    def replay(self, requests):
        for request, reply in super().replay(requests):
            idle = [event for event in request.events if event.get("status") == "idle"]
            self.silent += len(idle) >= 2
            yield request, self.silence if len(idle) >= 2 else reply


@pytest.mark.parametrize(
    ("silence", "left", "title"),
    [(TimedOut(10), "0w1 0w2 1i 1w3 0i", "valve hangs"), (Crashed("gone"), "1i 0i", "valve crashes")],
)
def test_what_is_not_answered_is_cut_at_the_step_that_it_ends_with(silence, left, title):
    engine = StopsAtTheSecondIdle(silence)
    case = read_case("valve", {"channels": 2}, "0w1 0w2 1i 1w3 0i 0a 0w7 1a 1w9 0w11 0i 1i")
    runner = Runner(engine)
    shrunken = shrink(runner, runner.run_one(case, "generated"))
    told = describe(shrunken.verdict, "engine", is_cut=True)
    assert (told.title, told.trace) == (title, left)
    assert f"at step   {len(left.split())}, 0i" in told.text()
    assert engine.silent <= 2 + len(case.events).bit_length() + DEATHS


def test_hangs_are_one_kind_however_long_they_were_waited_for():
    case = read_case("valve", {"channels": 2}, "0i 1i")
    hangs = [Runner(StopsAtTheSecondIdle(TimedOut(seconds))).run_one(case, "generated") for seconds in (10, 2)]
    assert len({classify(verdict) for verdict in hangs}) == 1
    assert [verdict.message for verdict in hangs] == ["no answer in 10 s", "no answer in 2 s"]


class TurnsBackAt(InProcess):
    """A rebalance over 257 channels that begins anywhere, and never takes the last channel."""

    random = Random(7)

    def replay(self, requests):
        for request in requests:
            first = self.random.randrange(257)
            taken = [(first + n) % 256 if first < 256 else n % 256 for n in range(len(request.events))]
            yield request, Steps([[{"type": "send", "channel": channel}] for channel in taken])


def test_where_the_engine_has_a_choice_the_counterexample_fails_again():
    """From one start of 257 it fails soon: that would be a short trace, which passes nearly always."""
    runner = Runner(TurnsBackAt(Engine()))
    case = read_case("partitioner", {"kind": "rebalance", "channels": 257}, "r*600")
    shrunken = shrink(runner, runner.run_one(case))
    again = [runner.run_one(shrunken.verdict.case).status for _ in range(20)]
    assert again.count(Status.FAIL) >= 15, "by far most of the time"
    assert len(shrunken.verdict.case.events) < 600


def test_what_fails_by_what_the_engine_drew_is_no_leak():
    """Of 20 records, and any first channel of 257, the last one is met now and then."""
    engine = TurnsBackAt(Engine())
    case = read_case("partitioner", {"kind": "rebalance", "channels": 257}, "r*20")
    failing = next(one for one in (Runner(engine).run_one(case) for _ in range(500)) if one.status is Status.FAIL)
    (found,) = shrink_findings(engine, [failing], lambda: TurnsBackAt(Engine()))
    assert found.times == 1


def test_only_cases_with_a_choice_are_tried_again():
    assert leaves_a_choice(read_case("partitioner", {"kind": "rebalance", "channels": 2}, "r"))
    assert leaves_a_choice(read_case("partitioner", {"kind": "hash", "channels": 2, "max_parallelism": 8}, "r1 m"))
    assert not leaves_a_choice(read_case("partitioner", {"kind": "rescale", "channels": 2}, "r r"))
    assert not leaves_a_choice(read_case("valve", {"channels": 2}, "0i 1i"))


class AnswersTwice(InProcess):
    """Right, but for every fifth answer since it was made, which breaks the protocol."""

    answers = 0

    def replay(self, requests):
        for request, reply in super().replay(requests):
            self.answers += 1
            yield request, Broken("wrote an answer to no request in flight") if self.answers % 5 == 0 else reply


def test_what_breaks_the_protocol_behind_other_cases_is_called_that():
    engine = AnswersTwice(Engine())
    verdicts = [Runner(engine).run_one(read_case("valve", {"channels": 1}, f"0w{n}")) for n in range(1, 8)]
    (found,) = shrink_findings(engine, verdicts, lambda: AnswersTwice(Engine()))
    told = describe(found.verdict, "exec:engine", times=found.times)
    assert told.title == "valve: the protocol is broken"
    assert "in a new process this case passes" in told.text()
    assert "VALVE" not in told.text(), "no rule is to blame"
    assert told.reproduce == "tidegate run --engine exec:engine --component valve"


class NeverTakesALongRecord(InProcess):
    """Right, but it fails on a record whose length has its first bits set, negative or not."""

    def replay(self, requests):
        for request, reply in super().replay(requests):
            long = any(event.get("data", "")[:1] in ("7", "f") for event in request.events)
            yield request, Steps([[] for _step in reply.steps]) if long else reply


def test_shrinking_stays_where_engines_are_held_to_the_rules():
    """A length that is cut to a negative one is nobody's business: SPAN-28 is internal."""
    case = read_case("deserializer", {}, "b7fffffff61 b626364")
    runner = Runner(NeverTakesALongRecord(Engine()))
    shrunken = shrink(runner, runner.run_one(case))
    assert "SPAN-28" not in {rule for rules in expected_rules(shrunken.verdict.case) for rule in rules}


def test_bytes_become_zeros():
    assert "0000" in list(simpler("6162"))
    assert {"0062", "6100"} <= set(simpler("6162"))
    assert not {"0000", "0"} & set(simpler("blocking"))


def test_every_proposal_is_simpler():
    assert list(simpler(5)) == [0, 1, 2, 4]
    assert list(simpler("9")) == ["0", "1", "4", "", ""]
    assert [] in list(simpler([3]))
    assert list(simpler(True)) == []  # noqa: FBT003
    assert all(proposal["type"] == "x" for proposal in simpler({"type": "x", "amount": 3}))


def test_timestamps_are_renumbered_in_their_order():
    events = [{"type": "watermark", "timestamp": t} for t in ("100", "-7", "100")]
    assert [event["timestamp"] for event in renumber({"events": events})["events"]] == ["2", "1", "2"]
