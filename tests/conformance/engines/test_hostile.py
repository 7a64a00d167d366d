"""Engines that hang, die, flood and lie: the right reply for the culprit, and for everybody else what they deserve.

Each test runs a whole harness in a process of its own against one of the engines of `hostile.py`.
"""

import sys
from typing import Any

import pytest

from tests.conformance.engines.conftest import HOSTILE
from tests.conformance.engines.hostile import AT_LENGTH
from tests.processes import HANGS, PATIENCE, launch

MEMORY_LIMIT_MEGABYTES = 300
#: A refused answer is judged twice, so for a moment a long one is there twice.
JUDGED_LIMIT_MEGABYTES = 400
AROUND = 12
NAMES = [*(f"before-{i}" for i in range(AROUND)), "bad", *(f"after-{i}" for i in range(AROUND))]
LAST = [*(f"before-{i}" for i in range(AROUND)), "bad"]


def right_steps(position: int) -> list[Any]:
    return [[{"type": "watermark", "timestamp": str(position + step)}] for step in range(3)]


def assert_all_others_are_right(outcome: Any, names: list[str]) -> None:
    assert list(outcome.replies) == names, "each request is given back once, in order"
    for position, name in enumerate(names):
        if name != "bad":
            assert outcome.replies[name] == ("Steps", {"steps": right_steps(position)}), name


def assert_nothing_is_left(outcome: Any) -> None:
    assert outcome.survivors == []
    assert outcome.peak_megabytes < MEMORY_LIMIT_MEGABYTES


# engine, the kind of reply that the bad case gets, words of its message, restarts at most
CULPRITS = [
    ("hangs_in_a_case", "TimedOut", "", 1),
    ("ignores_sigterm", "TimedOut", "", 1),
    ("falls_silent_in_half_a_line", "TimedOut", "", 1),
    ("dies_in_a_case", "Crashed", "exited with status 3", 1),
    ("is_killed_in_a_case", "Crashed", "was killed by SIGSEGV in the middle of a line: '{\"id\":'", 1),
    ("leaves_grandchildren", "Crashed", "exited with status 3", 1),
    ("closes_stdout", "Broken", "closed its standard output, but still runs", 1),
    ("closes_stdin", "Broken", "closed its standard input, but still runs", 1),
    ("floods_stdout_without_a_newline", "Broken", "wrote a line of more than 16777216 bytes", 1),
    ("floods_stdout_with_lines", "Broken", "not JSON: 'DEBUG tick'", 1),
    ("prints_debug_output", "Broken", r"not JSON: 'now in \x1b[2Jthe bad case'", 1),
    ("talks_after_its_reply", "Broken", "not JSON: 'done'", 1),
    ("answers_an_unknown_id", "Broken", "an answer to no request in flight", 1),
    ("answers_a_boolean_id", "Broken", "an answer to no request in flight", 1),
    ("answers_the_next_id", "Broken", "an answer to no request in flight", 1),
    ("answers_twice", "Broken", "an answer to no request in flight", 1),
    ("answers_a_number_without_end", "Broken", "not JSON", 1),
    ("nests_deeply", "Broken", "nested too deeply", 1),
    ("answers_millions_of_objects", "Broken", "more than 500000 values", 1),
    ("answers_latin_1", "Broken", "not UTF-8", 1),
    # These name their case, so nothing else is in doubt, and the engine goes on as it is.
    ("nests_somewhat", "Broken", "nested too deeply", 0),
    ("forgets_a_step", "Broken", "2 steps, the case has 3 events", 0),
    ("answers_in_bad_form", "Broken", "step 1 holds an observation that is not an object", 0),
    ("answers_nan", "Broken", "holds NaN", 0),
    ("answers_a_float", "Broken", "holds 1e400", 0),
    ("answers_half_a_character", "Broken", "unpaired surrogate", 0),
    ("declares_and_refuses", "Refused", r"\x1b[31mnot today", 0),
    ("answers_two_to_the_63", "Steps", "", 0),
]
SLOW_CULPRITS = {"hangs_in_a_case", "ignores_sigterm", "falls_silent_in_half_a_line", "closes_stdin"}
#: These must be waited for; all others are given all the time in the world.
SILENT = {*SLOW_CULPRITS, "hangs_after_a_reply", "hangs_once", "is_slow_but_sure"}


def run(laboratory: Any, engine: str, names: list[str], **options: Any) -> Any:
    return laboratory.run(engine, names, **({"case_timeout": HANGS} if engine in SILENT else {}), **options)


@pytest.mark.parametrize(("engine", "kind", "words", "restarts"), CULPRITS, ids=[each[0] for each in CULPRITS])
def test_a_failure_costs_one_case(laboratory, engine, kind, words, restarts):
    outcome = run(laboratory, engine, NAMES)
    assert_all_others_are_right(outcome, NAMES)
    found, detail = outcome.replies["bad"]
    assert found == kind
    assert words in detail.get("message", "")
    assert outcome.found["restarts"] == restarts
    assert_nothing_is_left(outcome)


@pytest.mark.parametrize(
    ("engine", "kind"), [each[:2] for each in CULPRITS if each[3] and each[0] not in SLOW_CULPRITS]
)
def test_the_last_case_is_no_exception(laboratory, engine, kind):
    outcome = run(laboratory, engine, LAST, window=3)
    assert_all_others_are_right(outcome, LAST)
    assert outcome.replies["bad"][0] == kind
    assert_nothing_is_left(outcome)


@pytest.mark.parametrize("engine", ["dies_after_a_reply", "hangs_after_a_reply", "closes_stdin_after_a_reply"])
def test_a_reply_counts_and_so_does_the_restart_after_it(laboratory, engine):
    outcome = run(laboratory, engine, NAMES)
    assert_all_others_are_right(outcome, NAMES)
    assert outcome.replies["bad"] == ("Steps", {"steps": right_steps(AROUND)})
    assert outcome.found["restarts"] == 1
    assert_nothing_is_left(outcome)


@pytest.mark.parametrize("window", [1, 5, 64])
def test_the_rest_is_not_run_after_ten_restarts(laboratory, window):
    outcome = run(laboratory, "dies_of_everything", NAMES, window=window)
    kinds = [kind for kind, _ in outcome.replies.values()]
    assert kinds == ["Crashed"] * 11 + ["NotRun"] * (len(NAMES) - 11), "how far we get does not depend on the window"
    assert outcome.found["restarts"] == 10
    assert "given up after 10 restarts" in outcome.replies[NAMES[-1]][1]["reason"]
    assert_nothing_is_left(outcome)


@pytest.mark.parametrize(("engine", "kind"), [("dies_after_hello", "Crashed"), ("closes_stdin_after_hello", "Broken")])
def test_an_engine_that_greets_and_does_no_more(laboratory, engine, kind):
    outcome = run(laboratory, engine, NAMES)
    kinds = [kind for kind, _ in outcome.replies.values()]
    # On a busy machine, the last death may be noticed before the engine is asked once more.
    asked = kinds.count(kind)
    assert 10 <= asked <= 11
    assert kinds == [kind] * asked + ["NotRun"] * (len(NAMES) - asked)
    assert_nothing_is_left(outcome)


def test_restarts_are_counted_where_every_reply_is_right(laboratory):
    outcome = run(laboratory, "dies_after_every_reply", NAMES)
    kinds = [kind for kind, _ in outcome.replies.values()]
    assert kinds.count("Crashed") == 0
    answered = kinds.count("Steps")
    assert kinds == ["Steps"] * answered + ["NotRun"] * (len(NAMES) - answered)
    assert 8 <= answered <= 12
    assert_nothing_is_left(outcome)


def test_an_engine_that_cannot_be_started_again_is_given_up(laboratory):
    outcome = run(laboratory, "starts_once", NAMES)
    kinds = [kind for kind, _ in outcome.replies.values()]
    assert kinds == ["Steps"] * AROUND + ["Crashed"] + ["NotRun"] * AROUND, "what was found before is kept"
    assert "could not be restarted" in outcome.replies["after-0"][1]["reason"]
    assert_nothing_is_left(outcome)


def test_an_answer_from_the_previous_case_is_no_answer(laboratory):
    # In a fresh process the bad case has nothing to mix itself up with, so it may be that nobody repeats the failure.
    outcome = run(laboratory, "answers_with_the_previous_case", NAMES)
    assert_all_others_are_right(outcome, NAMES)
    assert outcome.replies["bad"][0] == "Broken"
    assert outcome.found["restarts"] == 1
    assert_nothing_is_left(outcome)


@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize("engine", ["hangs_once", "dies_once"])
def test_a_failure_that_nobody_repeats_is_charged_to_the_case_at_work(laboratory, engine, window):
    outcome = run(laboratory, engine, NAMES, window=window)
    assert_all_others_are_right(outcome, NAMES)
    assert outcome.replies["bad"][0] == {"hangs_once": "TimedOut", "dies_once": "Crashed"}[engine]
    assert outcome.found["restarts"] == 1
    assert_nothing_is_left(outcome)


def test_a_flood_of_standard_error_is_survived_and_its_end_kept(laboratory):
    outcome = run(laboratory, "floods_stderr", NAMES)
    assert_all_others_are_right(outcome, NAMES)
    assert outcome.replies["bad"] == ("Steps", {"steps": right_steps(AROUND)})
    assert_nothing_is_left(outcome)


def test_last_words_are_kept(laboratory):
    outcome = run(laboratory, "dies_in_a_case", ["bad"])
    assert outcome.replies["bad"][1]["stderr"] == ["panic: index out of bounds"]


@pytest.mark.parametrize("engine", ["answers_out_of_order", "is_slow_but_sure", "ignores_bye"])
def test_what_the_protocol_allows_is_no_failure(laboratory, engine):
    outcome = run(laboratory, engine, NAMES)
    assert_all_others_are_right(outcome, NAMES)
    assert outcome.replies["bad"][0] == "Steps"
    assert outcome.found["restarts"] == 0
    assert_nothing_is_left(outcome)


def test_an_engine_that_cannot_cope_with_several_gets_one_at_a_time(laboratory):
    outcome = run(laboratory, "takes_one_request_at_a_time", NAMES, window=4)
    kinds = [kind for kind, _ in outcome.replies.values()]
    assert kinds.count("Crashed") == outcome.found["restarts"] <= 2, "windows of four and of two"
    assert kinds.count("Steps") == len(NAMES) - outcome.found["restarts"]
    assert_nothing_is_left(outcome)


@pytest.mark.parametrize(
    ("engine", "code", "words"),
    [
        ("hangs_at_start", "cannot-start", "did not answer hello in 1 s"),
        ("dies_at_start", "cannot-start", "exited with status 1 before it answered hello"),
        ("floods_at_start", "cannot-start", "wrote a line of more than 16777216 bytes"),
        ("greets_with_a_banner", "bad-hello", "'Welcome to the engine!'"),
        ("says_hello_in_bad_form", "bad-hello", "components must be an object"),
        ("refuses_hello", "bad-hello", r"no license \x1b]0;owned\x07"),
        ("speaks_protocol_two", "version-mismatch", "speaks protocol 2, this suite speaks 1"),
        ("exec:/no/such/program --at all", "cannot-start", "no program to run '/no/such/program --at all'"),
    ],
)
def test_an_engine_that_does_not_start(laboratory, engine, code, words):
    outcome = run(laboratory, engine, NAMES, **({"start_timeout": 1.0} if engine == "hangs_at_start" else {}))
    assert outcome.found["code"] == code
    assert words in outcome.found["message"]
    if engine == "dies_at_start":
        assert outcome.found["stderr"] == [r"no configuration found \x1b[31m"]
    assert_nothing_is_left(outcome)


#: Runs the command, and leaves the peak of its memory in a file.
MEASURED = """
import sys
from pathlib import Path
from tests.conformance.engines.harness import peak_megabytes
from tidegate.conformance.cli.main import main

peak = Path(sys.argv.pop(1))
code = main()
peak.write_text(str(peak_megabytes()))
sys.exit(code)
"""


@pytest.mark.parametrize("how", AT_LENGTH)
def test_a_run_takes_bounded_memory_whatever_an_engine_says(how, tmp_path):
    engine = f"exec:{sys.executable} {HOSTILE} answers_at_length '{how}'"
    words = [
        "run",
        "--engine",
        engine,
        "--component",
        "valve",
        "--stage",
        "generated",
        "--cases",
        "12",
        "--timeout",
        str(HANGS),
    ]
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "peak"), *words, "--report", str(tmp_path / "report")]
    with launch(command) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, err
    assert "is not conformant" in out
    assert len(out) < 100_000
    assert float((tmp_path / "peak").read_text(encoding="ascii")) < JUDGED_LIMIT_MEGABYTES
