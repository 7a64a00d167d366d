"""What the adapters of dataflows share: rows from what was written down, and attempts that are killed."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.conformance.engines.base import Abilities
from tidegate.conformance.engines.flows import (
    DONE,
    RECEIVED,
    SENT,
    Attempt,
    FlowError,
    Journal,
    Program,
    Run,
    Steps,
    make_rows,
    run_flow,
)
from tidegate.conformance.engines.forked import Forked
from tidegate.conformance.judging.jobs.drawing import JobCase
from tidegate.conformance.judging.jobs.judging import Judge
from tidegate.properties.cases.job import at
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.job.programs import Config, Edge, Function, Operator

ABILITIES = Abilities(
    operators=("source", "sum", "sink"),
    partitioners=("hash",),
    uniform=True,
    shows=("record", "result"),
    order_scope="key",
    delivery="at_least_once",
    known_routing=False,
    keys_meet=True,
)
OPERATORS = (
    Operator(1, "source", Function.SOURCE, 1, ((at(0, "a"), at(1, "b"), at(2, "a")),)),
    Operator(2, "sum", Function.SUM, 2),
    Operator(3, "sink", Function.SINK, 2),
)
CONFIG = Config(OPERATORS, (Edge(1, 2, Partitioner.HASH), Edge(2, 3, Partitioner.HASH)))
#: What every process of these tests begins with.
BEGIN = """
import json, os, sys, time
from pathlib import Path
from tidegate.conformance.engines.flows import Journal, Program, Steps
program = Program(json.loads(Path(sys.argv[1]).read_text()))
steps = Steps(program, Journal(Path(sys.argv[2])))
RECORDS = program.records_of(1, 0)
def whole(place, total):
    for _target, element in steps.send_item(1, 0, place, RECORDS[place]):
        for _target, made in steps.receive(2, "here", element, total)[1]:
            steps.receive(3, "here", made)
"""
RIGHT = BEGIN + "whole(0, 0); whole(1, 0); whole(2, 1)\n"


@pytest.fixture
def program(tmp_path):
    return make_program(tmp_path)


def make_program(folder, faults=()):
    case = JobCase("flow", CONFIG, {}, tuple(faults))
    return Program(case.as_request(str(folder / "rows.jsonl")).as_job())


def starting(program, *texts):
    """Attempts that are programs in Python."""
    path = program.write()

    def launch(journals, _width, errors):
        text = texts[min(int(journals.name), len(texts) - 1)]
        with errors.open("ab") as file:
            return subprocess.Popen([sys.executable, "-c", text, path, journals], stdout=file, stderr=file)

    return launch


def run(program, *texts, is_read=None):
    launch = starting(program, *texts)
    return run_flow(program, launch, lambda who, people: people.index(who), is_read)


def judge(answer, faults=()):
    class Said:
        def start(self):
            from tidegate.conformance.engines.base import Description

            return Description(1, "flow", "1", "python", {}, 1, ABILITIES)

    return Judge(Said()).judge(JobCase("flow", CONFIG, {}, tuple(faults)), answer)


def test_a_flow_that_does_what_it_should(program):
    judged = judge(run(program, RIGHT))
    assert judged.wrongs == ()
    assert len(judged.log.rows) == 3 * 5
    passed = {one.invariant for one in judged.verdicts if one.status == "passed"}
    assert passed == {"LOG-ORDER", "LOG-LOSS", "LOG-ROUTE", "LOG-RESULT"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (BEGIN + "whole(0, 0); whole(1, 0); steps.send_item(1, 0, 2, RECORDS[2])", {"LOG-LOSS", "LOG-RESULT"}),
        (BEGIN + "whole(0, 0); whole(1, 0); whole(2, 0)\n", {"LOG-RESULT"}),
        (BEGIN + "whole(2, 0); whole(1, 0); whole(0, 1)\n", set()),
        (RIGHT.replace('2, "here"', "2, str(place // 2)").replace("here", "0"), {"LOG-ROUTE"}),
    ],
    ids=["loses", "forgets", "another order that is one", "scatters a key"],
)
def test_a_flow_that_is_wrong_is_convicted(program, text, names):
    assert {wrong.name for wrong in judge(run(program, text)).wrongs} == names


def test_a_process_is_killed_where_the_job_says_so_and_goes_on(tmp_path):
    faults = [{"fault": "kill", "after": 50}]
    program = make_program(tmp_path, faults)
    answer = run(program, BEGIN + "whole(0, 0); whole(1, 0); time.sleep(100)", BEGIN + "whole(2, 1)")
    assert (answer["hit"], answer["restored"]) == ([True], {"1": None})
    judged = judge(answer, faults)
    assert (judged.wrongs, judged.restores) == ((), 1)
    rows = [row for row in answer["rows"] if row["attempt"] == 0 or row["kind"] != "result"]
    again = judge({**answer, "rows": rows}, faults)
    assert {wrong.name for wrong in again.wrongs} == {"LOG-RESULT"}


def test_an_attempt_that_begins_anew_was_not_restored(tmp_path):
    faults = [{"fault": "kill", "after": 50}]
    program = make_program(tmp_path, faults)
    judged = judge(run(program, BEGIN + "whole(0, 0); whole(1, 0); time.sleep(100)", RIGHT), faults)
    assert (judged.wrongs, judged.restores) == ((), 0)


def test_a_fault_that_comes_too_late_hits_nothing(tmp_path):
    faults = [{"fault": "kill", "after": 100}, {"fault": "kill", "after": 100}]
    program = make_program(tmp_path, faults)
    answer = run(program, RIGHT + "time.sleep(100)\n", is_read=lambda: False)
    assert (answer["hit"], answer["restored"]) == ([False, False], {})
    assert judge(answer, faults).wrongs == ()


def test_a_process_that_ends_by_itself_is_told_with_its_last_words(program):
    answer = run(program, "raise SystemExit('out of luck')")
    assert "attempt 0 ended with 1: out of luck" in answer["error"]
    assert answer["rows"] == []


def test_silence_is_no_end(program):
    """A process that says nothing more has come to its end if there is nothing more to read, and hangs if there is."""
    launch = starting(program, BEGIN + "steps.journal.live(); whole(0, 0); time.sleep(100)\n")
    lost = Run(program, launch, lambda: True, quiet=3)
    assert lost.attempt(1, None) is False
    assert not lost.is_over()
    stuck = Run(program, launch, lambda: False, quiet=1, patience=3)
    stuck.attempts = lost.attempts
    with pytest.raises(FlowError, match="attempt 1 hangs"):
        stuck.attempt(1, None)


def test_a_forked_process_calls_a_module_and_leaves_its_last_words(tmp_path):
    module, errors = "tests.conformance.engines.adapters.forks", tmp_path / "errors"
    ends, sleeps = (Forked(module, (word,), errors) for word in ("out of luck", "sleep"))
    assert ends.wait() == 1
    assert "out of luck" in errors.read_text(encoding="utf-8")
    assert sleeps.poll() is None
    sleeps.kill()
    assert sleeps.wait() == -signal.SIGKILL


def test_what_was_shown_by_then_stands_in_the_log(program):
    run(program, RIGHT)
    assert len(program.log.read_text(encoding="utf-8").splitlines()) == 3 * 5


def test_a_line_that_was_cut_is_none(tmp_path):
    (tmp_path / "a.rows").write_text('["out", 1]\n["out', encoding="utf-8")
    attempt = Attempt(tmp_path)
    assert attempt.look() == [["out", 1]]
    with (tmp_path / "a.rows").open("a", encoding="utf-8") as file:
        file.write('", 2]\n')
    assert attempt.look() == [["out", 2]]


def test_what_nobody_received_is_undone_only_if_it_is_sent_again(program):
    """A worker that was killed has sent to another; the next time the same record goes another way."""
    first = [[SENT, 2, 0, 1, 77, "a", 0]]
    again = [[SENT, 2, 1, 1, 77, "a", 0], [RECEIVED, 3, 1, 1, 77, "a", 0, 1], [DONE, 3, 1, 77]]
    assert [(row["attempt"], row["dir"]) for row in make_rows(program, [first, again])] == [(1, "out"), (1, "in")]
    assert [row["dir"] for row in make_rows(program, [first, []])] == ["out"]
    # What lies in a topic is received by the next attempt, on the channel on which it was sent.
    later = [[RECEIVED, 3, 1, 1, 77, "a", 0, 0]]
    assert [(row["attempt"], row["dir"]) for row in make_rows(program, [first, later])] == [(0, "out"), (1, "in")]


def test_the_same_cause_gives_the_same_identity(program, tmp_path):
    steps = Steps(program, Journal(Path(tmp_path)))
    item = program.records_of(1, 0)[0]
    ((_target, one),) = steps.send_item(1, 0, 0, item)
    ((_target, same),) = steps.send_item(1, 0, 0, item)
    ((_target, other),) = steps.send_item(1, 0, 1, item)
    assert one == same
    assert one[0] != other[0]
