"""The plugin, in a pytest of its own, as the author of an engine runs it."""

import os
import re
import subprocess
import sys

import pytest

from tests.paths import PYTHONPATH
from tests.processes import PATIENCE

MUSEUM = "python:tidegate.conformance.engines.museum.engines"

#: The rules that are tested are those of the golden traces. Here the directed ones do: they are few.
CONFTEST = """
from tidegate.conformance.judging import suite
from tidegate.conformance.judging.golden import with_answers
from tidegate.properties.drawing.directed import directed

suite.read_golden = lambda component: [with_answers(one.case) for one in directed(component)]
"""


@pytest.fixture
def run_pytest(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_mine.py").write_text("def test_mine(): pass\n")

    def run(*words, plugin="tidegate.conformance.pytest_plugin"):
        # Named here, since the entry point may or may not be installed.
        environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": PYTHONPATH}
        command = [sys.executable, "-m", "pytest", "-p", plugin, "-p", "no:cacheprovider", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    return run


def test_one_test_a_component_and_rule(run_pytest):
    words = ["--tidegate-engine", f"{MUSEUM}:ValveNeverFlushes", "--tidegate-stage", "directed", "-v"]
    done = run_pytest(*words)
    assert done.returncode == 1, done.stdout + done.stderr
    results = dict(re.findall(r"^(\S+::\S+) (PASSED|FAILED)", done.stdout, re.MULTILINE))
    assert results.pop("test_mine.py::test_mine") == "PASSED"
    assert len(results) > 8
    assert [name for name, result in results.items() if result == "FAILED"] == ["tidegate::valve::VALVE-10"]
    assert results["tidegate::valve::answers"] == "PASSED"
    assert "  trace     " in done.stdout
    assert "  reproduce tidegate replay --engine" in done.stdout
    assert "Traceback" not in done.stdout
    assert "pytest_plugin.py" not in done.stdout
    assert "tidegate: museum valve-never-flushes 1 (python)" in done.stdout


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("rule VALVE-10 -- we know", 0, "XFAIL"),
        ("case other-* -- unrelated", 1, "FAILED"),
        ("rule VALVE-99 -- no such", 4, "line 1: no rule VALVE-99; did you mean VALVE-9?"),
    ],
)
def test_known_failures_are_expected(run_pytest, tmp_path, line, code, said):
    (tmp_path / "known").write_text(line + "\n")
    words = ["--tidegate-engine", f"{MUSEUM}:ValveNeverFlushes", "--tidegate-stage", "directed", "-v"]
    done = run_pytest(*words, "--tidegate-expect", "known", "tidegate::valve::VALVE-10")
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout + done.stderr


def test_a_name_from_a_report_selects(run_pytest):
    words = ["--tidegate-engine", f"{MUSEUM}:ValveNeverFlushes", "--tidegate-stage", "directed"]
    done = run_pytest(*words, "tidegate::valve::VALVE-4", "tidegate::valve::VALVE-8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    done = run_pytest(*words, "tidegate::valve::VALVE-999")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "there is no test tidegate::valve::VALVE-999" in done.stderr


def test_a_rule_that_no_case_exercised_is_not_passed(run_pytest):
    words = ["--tidegate-engine", f"{MUSEUM}:Right", "--tidegate-component", "valve"]
    done = run_pytest(*words, "--tidegate-stage", "generated", "--tidegate-cases", "0", "tidegate")
    assert done.returncode == 1
    assert "VALVE-10 was not exercised by any case" in done.stdout
    assert "1 passed" in done.stdout, "answers: nothing went wrong"


def test_trouble_that_no_rule_accounts_for_fails_answers(run_pytest, tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def describe(self):\n"
        "        about = {'name': 'mine', 'version': '1', 'language': 'python'}\n"
        "        return {'implementation': about, 'components': {'valve': {}}}\n"
        "    def replay(self, cases):\n"
        "        return [{'error': {'kind': 'internal', 'message': 'out of order'}} for case in cases]\n"
    )
    done = run_pytest(
        "--tidegate-engine", "python:mine:Mine", "--tidegate-stage", "directed", "tidegate::valve::answers"
    )
    assert done.returncode == 1
    assert "the engine answered internal: out of order" in done.stdout


def test_workers_of_xdist(run_pytest):
    """Each component's cases are run by one of them, and not by each."""
    engine = ["--tidegate-engine", f"{MUSEUM}:Right", "--tidegate-component", "valve", "--tidegate-component", "gate"]
    words = [*engine, "--tidegate-stage", "directed", "-v", "tidegate"]
    done = run_pytest("-p", "xdist", "-n", "2", "--dist", "loadscope", *words)
    results = re.findall(r"^\[(gw\d)\] .* (?:PASSED|FAILED) tidegate::(\w+)::", done.stdout, re.MULTILINE)
    assert len(results) > 20, done.stdout + done.stderr
    assert len(set(results)) == len({component for _worker, component in results}) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tidegate-engine", "exec:/bin/false"], "before it answered hello"),
        (["--tidegate-engine", "nonsense"], "there is no engine 'nonsense'"),
        (["--tidegate-engine", "reference", "--tidegate-component", "valv"], ", not valv"),
        (["--tidegate-engine", "exec:/bin/false", "-p", "xdist", "-n", "1"], "before it answered hello"),
    ],
)
def test_an_engine_that_cannot_be_tested(run_pytest, words, said):
    done = run_pytest(*words)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_option_nothing_happens_and_nothing_is_imported(run_pytest, tmp_path):
    (tmp_path / "conftest.py").write_text("")
    (tmp_path / "test_mine.py").write_text(
        "import sys\n"
        "def test_mine():\n"
        "    ours = sorted(name for name in sys.modules if name.split('.')[0] == 'tidegate')\n"
        "    assert ours == ['tidegate', 'tidegate.conformance', 'tidegate.conformance.pytest_plugin']\n"
    )
    done = run_pytest()
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    assert "tidegate" not in done.stdout
