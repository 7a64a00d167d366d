"""Engines as state machines: right ones pass, wrong ones are found and made small, and no process is left."""

import os
import re
import subprocess
import sys
import unittest

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.stateful import run_state_machine_as_test

import tidegate
from tests.hypotheses import QUIET
from tests.paths import ROOT
from tests.sampling import some
from tidegate.conformance.engines.museum import catalog, engines
from tidegate.conformance.judging.convictions import convict
from tidegate.reference.components import COMPONENTS

BRIEF = settings(QUIET, max_examples=4, stateful_step_count=20)
#: A wrong engine is shown with at most so many events more than the shortest trace that we know.
SPARE = 2
WRONG = (
    "lifecycle-created-head-first",
    "outputs-chained-first",
    "wiring-all-to-all-by-producer",
    "writer-continuation-queued-empty",
    "receiver-initial-credit-announced-again",
    "loop-one-credit-too-many",
    "priority-queued-twice",
    "union-local-channel-numbers",
    "valve-watermark-wakes-channel",
    "combiner-idle-input-unheard",
    "multiplexer-registered-twice",
    "task-scheduled-here",
)


@pytest.mark.parametrize("component", some(COMPONENTS))
def test_a_right_engine_passes(component):
    run_state_machine_as_test(tidegate.state_machine(component, engines.Right()), settings=BRIEF)


@pytest.mark.parametrize("name", some(WRONG, 3))
def test_a_wrong_engine_is_found_and_its_trace_is_short(name):
    mutant = catalog.find(name)
    machine = tidegate.state_machine(mutant.component, engines.engine(name))
    with pytest.raises(AssertionError) as violation:
        run_state_machine_as_test(machine, settings=settings(QUIET, max_examples=100, stateful_step_count=30))
    said = str(violation.value)
    assert said.startswith(f"{mutant.component} breaks ")
    assert int(re.search(r"at step +(\d+)", said)[1]) <= len(convict(mutant).events) + SPARE


def test_a_program_passes_and_is_closed_with_its_test_case(tmp_path):
    script, pids = tmp_path / "engine.sh", tmp_path / "pids"
    script.write_text(f"echo $$ >> {pids}\nexec {sys.executable} {ROOT}/examples/python/engine.py\n")
    case = tidegate.state_machine("valve", f"exec:sh {script}").TestCase
    case.settings = BRIEF
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.testsRun == 1
    assert result.wasSuccessful(), result.errors + result.failures
    (pid,) = pids.read_text().split()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_an_engine_that_dies_is_found():
    machine = tidegate.state_machine("valve", f"python:{Dying.__module__}:Dying")
    with pytest.raises(AssertionError, match="exited with status 1"):
        run_state_machine_as_test(machine, settings=settings(BRIEF, phases=[Phase.generate]))


class Dying(engines.Right):
    """It does not survive a channel that turns idle."""

    def replay(self, cases):
        if any(event.get("status") == "idle" for case in cases for event in case["events"]):
            os._exit(1)
        return super().replay(cases)


def test_configs_and_semantics_may_be_given():
    seen = set()

    class Curious(engines.Right):
        def replay(self, cases):
            seen.update((case["config"]["channels"], case["config"]["semantics"]) for case in cases)
            return super().replay(cases)

    configs = st.builds(COMPONENTS["valve"].config, channels=st.just(2), semantics=st.just("flink-40475"))
    run_state_machine_as_test(tidegate.state_machine("valve", Curious(), configs=configs), settings=BRIEF)
    assert seen == {(2, "flink-40475")}
    seen.clear()
    run_state_machine_as_test(tidegate.state_machine("valve", Curious(), semantics="flink-7728"), settings=BRIEF)
    assert {semantics for _channels, semantics in seen} == {"flink-7728"}


def test_what_cannot_be():
    with pytest.raises(InvalidArgument, match="there is no component 'valv'"):
        tidegate.state_machine("valv", engines.Right())
    machine = tidegate.state_machine("valve", engines.engine("gate-queued-at-every-arrival"))
    with pytest.raises(tidegate.EngineError, match="does not declare valve"):
        run_state_machine_as_test(machine, settings=BRIEF)


@pytest.mark.parametrize("asked", ["state_machine('valve', 'reference')", "strategies"])
def test_without_hypothesis(asked):
    program = f"import sys; sys.modules['hypothesis'] = None; import tidegate; tidegate.{asked}"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "needs Hypothesis: pip install 'tidegate[hypothesis]'" in said.stderr
