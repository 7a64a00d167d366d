"""Traces step by step: alone, beside an engine, and as the lines that an engine is sent."""

import json
import subprocess
import sys

import pytest

from tests.paths import ROOT
from tests.processes import run_tidegate as tidegate
from tidegate.conformance.documents.explaining import describe_component
from tidegate.conformance.documents.pages import example_case
from tidegate.conformance.documents.stepping import WIDTH, changes, compare
from tidegate.reference.components import COMPONENTS
from tidegate.traces.notation.text import read_case

#: The valve that flushes although others are active: FLINK-7728's neighbour, wrong at the last step.
TRACE = ("--component", "valve", "--config", '{"channels":3}', "--trace", "2i 0w20 1w10 0i 2a 1i 2i")
WRONG = "python:tidegate.conformance.engines.museum.engines:ValveAlwaysFlushes"


@pytest.mark.parametrize("name", COMPONENTS)
def test_every_component_is_explained_and_its_example_stepped_through(name):
    case = example_case(COMPONENTS[name])
    assert describe_component(name)[0].startswith(name)
    steps = [] if case is None else list(compare(case))
    assert case is None or len(steps) == len(case.events)
    for number, step in enumerate(steps, start=1):
        assert step.agrees
        long = [line for line in step.text(number).splitlines() if len(line) > WIDTH]
        assert all(" " not in line.strip() or len(line.split()[-1]) > WIDTH // 2 for line in long), long


def test_only_what_changed_is_told_by_its_name():
    case = read_case("valve", {"channels": 2}, "0w5 0w5 1i")
    told = [step.changes for step in compare(case)]
    assert told == [
        ("channels[0].watermark: MIN → 5",),
        (),
        ("channels[1].active: yes → no", "channels[1].aligned: yes → no", "last: MIN → 5"),
    ]
    assert list(changes((1, 2), (1, 2, 3), "queue")) == ["queue: [1, 2] → [1, 2, 3]"]


def test_a_long_queue_is_told_by_what_came_and_went():
    case = read_case("credit_sender", {"initial_credit": 0}, "data data credit1")
    item = "[(kind=data data=64 finished=yes known_finished=yes)]"
    items = "reader.subpartition.items"
    assert [step.changes for step in compare(case)] == [
        (f"{items}: [] → {item}",),
        (f"{items}: added at the end {item}",),
        (f"{items}: removed from the front {item}", "reader.subpartition.sequence: 0 → 1"),
    ]
    before, after = tuple(range(10**9, 10**9 + 5)), tuple(range(10**9 + 1, 10**9 + 6))
    assert list(changes(before, (*after, 7), "q")) == [
        "q: removed from the front [1000000000]",
        "q: added at the end [1000000005, 7]",
    ]


def test_my_answer_stands_beside_what_is_allowed():
    done = tidegate("replay", "--steps", "--engine", WRONG, *TRACE)
    assert done.returncode == 1, done.stderr
    steps = done.stdout.split("step ")[1:]
    assert len(steps) == 7
    assert [step.count("mine") for step in steps] == [1] * 7
    wrong = [line for line in done.stdout.splitlines() if line.startswith("✗")]
    assert [line.split()[1] for line in wrong] == ["step", "mine"], wrong
    assert wrong[0].split()[2:] == ["7", "2i"]
    assert tidegate("replay", "--steps", *TRACE).returncode == 0


def test_an_answer_that_is_no_observation_is_shown_as_malformed():
    case = read_case("valve", {"channels": 1}, "0w5")
    (step,) = compare(case, [[{"type": "watermark"}]])
    assert not step.agrees
    assert step.mine.startswith("malformed: ")


def test_the_printed_lines_are_what_an_engine_reads():
    printed = tidegate("replay", "--print-request", *TRACE).stdout
    engine = [sys.executable, str(ROOT / "examples" / "python" / "engine.py")]
    answered = subprocess.run(engine, input=printed, capture_output=True, text=True, check=True, timeout=60).stdout
    hello, reply, *_bye = map(json.loads, answered.splitlines())
    assert hello["ok"]["protocol"] == 1
    assert reply["ok"]["steps"] == [
        [],
        [],
        [{"type": "watermark", "timestamp": "10"}],
        [],
        [],
        [],
        reply["ok"]["steps"][6],
    ]
    assert reply["ok"]["steps"][6] == [{"type": "status", "status": "idle"}]


def test_explain_steps_through_my_trace():
    done = tidegate("explain", "valve", *TRACE[2:])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("step ") == 7
    assert "mine" not in done.stdout
    wrong = tidegate("explain", "VALVE-1", "--trace", "0w1")
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (
        64,
        "tidegate explain: --trace needs a component; 'VALVE-1' is not one",
    )
