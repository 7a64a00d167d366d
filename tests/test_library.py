"""The public API: what `import tidegate` offers and costs, and every example of its pages, run for real."""

import doctest
import re
import shlex
import subprocess
import sys
import unittest

import attrs
import pytest

import tidegate
from tests.paths import PYTHONPATH, ROOT
from tidegate.conformance.cli.main import main

#: The pages with examples, and how many lines of them have to be tried at least.
PAGES = {"library.md": 20, "hypothesis.md": 3}


def python(program):
    command = [sys.executable, "-c", program]
    environment = {"PYTHONPATH": PYTHONPATH}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_the_page(page, tmp_path, monkeypatch):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names = {}
    flags = doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF
    tried = 0
    for language, text in blocks:
        if language == "sh":
            for line in text.splitlines():
                program, *arguments = shlex.split(line)
                assert program == "tidegate"
                assert main(arguments) == 0
        elif ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text.replace("…", "..."), names, page, None, None)
            runner = doctest.DocTestRunner(optionflags=flags)
            said = []
            runner.run(test, out=said.append, clear_globs=False)
            names = test.globs
            assert not runner.failures, "".join(said)
            tried += runner.tries
        else:
            exec(text, names)  # noqa: S102 - a page of ours
    assert tried > PAGES[page]
    for name, example in names.items():
        if name.startswith("test_"):
            example()
        elif name.startswith("Test"):
            result = unittest.TestResult()
            unittest.defaultTestLoader.loadTestsFromTestCase(example).run(result)
            assert result.testsRun == 1
            assert result.wasSuccessful(), result.errors + result.failures


def test_importing_costs_nothing():
    program = "import sys, tidegate; print(sorted(name for name in sys.modules if name.startswith('tidegate.')))"
    assert python(program).strip() == "[]"


def test_help_imports_no_specification():
    program = (
        "import sys, tidegate.conformance.cli.main as m\n"
        "try:\n    m.main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.modules if name.startswith(('tidegate.reference', 'tidegate.properties'))])"
    )
    assert python(program).endswith("[]\n")


@pytest.mark.parametrize("name", tidegate.__all__)
def test_what_is_offered_is_there_and_documented(name):
    offered = getattr(tidegate, name)
    assert name == "__version__" or offered.__doc__


def test_values_are_frozen():
    for name in ("Result", "Counterexample", "Verdict", "Exploration", "AuditResult", "Rule"):
        kind = getattr(tidegate, name)
        assert attrs.has(kind)
        assert kind.__setattr__ is not object.__setattr__, name


def test_the_version_is_written_in_one_place():
    command = ["git", "grep", "-lF", f'"{tidegate.__version__}"', "--", "*.py", "*.toml", ":!tests"]
    spelled = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert spelled == ["src/tidegate/__init__.py"]
    said = python("import sys; from tidegate.conformance.cli.main import main; main(['--version'])")
    assert said == f"tidegate {tidegate.__version__}, engine protocol 1\n"


def test_a_rule_that_does_not_exist():
    with pytest.raises(tidegate.UnknownNameError, match=r"did you mean VALVE-\d+\?"):
        tidegate.rule("VALVE-99")
    with pytest.raises(tidegate.UnknownNameError, match=r"there are .*VALVE-1, .*VALVE-18"):
        tidegate.rule("no rule at all")
    with pytest.raises(AttributeError, match="no attribute 'walk'"):
        tidegate.walk  # noqa: B018
