"""The example engines: complete, small, and right, each run with its real toolchain."""

import shutil
import subprocess
import sys

import pytest

from tests.paths import ROOT
from tidegate.conformance.engines.process import ProcessEngine
from tidegate.conformance.judging.coverage import Wanted
from tidegate.conformance.judging.session import Session
from tidegate.conformance.judging.suite import Budget, declared_components, plan
from tidegate.conformance.judging.verdicts import Exit

EXAMPLES = ROOT / "examples"
SOURCES = {
    "python": EXAMPLES / "python" / "engine.py",
    "javascript": EXAMPLES / "javascript" / "engine.js",
    "java": EXAMPLES / "java" / "Engine.java",
    "rust": EXAMPLES / "rust" / "engine.rs",
}
TOOLS = {"python": sys.executable, "javascript": "node", "java": "java", "rust": "rustc"}


def is_installed(tool):
    """It is there and runs: a stand-in that asks for a toolchain which is not there does not."""
    return (
        shutil.which(tool) is not None
        and subprocess.run([tool, "--version"], capture_output=True, check=False).returncode == 0
    )


def command(language, folder):
    source = str(SOURCES[language])
    if language == "rust":
        program = str(folder / "engine")
        subprocess.run(["rustc", "-O", "-o", program, source], check=True, capture_output=True)
        return [program]
    return [TOOLS[language], source]


@pytest.mark.parametrize("language", SOURCES)
def test_examples_stay_small(language):
    assert len(SOURCES[language].read_text(encoding="utf-8").splitlines()) < 150


@pytest.mark.parametrize("language", SOURCES)
def test_examples_conform(language, tmp_path):
    if not is_installed(TOOLS[language]):
        pytest.skip(f"{TOOLS[language]} is not installed, or does not run here: neither can this example")
    with ProcessEngine(command(language, tmp_path)) as engine:
        session = Session(engine, language)
        description = engine.start()
        components = declared_components(description)
        assert {"valve", "partitioner"} <= set(components)
        for component in components:
            session.run(plan(description, component, Budget(cases=300, stages=("directed", "golden", "generated"))))
        finished = session.finish(Wanted())
    assert finished.exit() is Exit.CONFORMANT, finished.findings[:1]
    assert finished.cases > 600
