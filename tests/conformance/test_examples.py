"""The example engines: complete, small, and right, each run with its real toolchain."""

import shlex
import shutil
import subprocess
import sys

import pytest

from tests.paths import ROOT
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.run import Candidate, run
from tidegate.conformance.judging.suite import Budget

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
    candidate = Candidate(f"exec:{shlex.join(command(language, tmp_path))}")
    result = run(candidate, Budget(cases=300, stages=("directed", "golden", "generated")))
    assert {"valve", "partitioner"} <= set(result.description.components)
    assert result.exit_code is Exit.CONFORMANT, str(result)
    assert result.cases > 600
