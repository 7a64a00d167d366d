"""The recipes of CONTRIBUTING.md: a toy component is added to a copy of the repository by following its page."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from tests.paths import ROOT

from tidegate.reference.components import PATH

PAGE = (ROOT / "docs" / "adding-a-component.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
#: `path`, perhaps with a word on where in it, then what is to stand there.
BLOCK = re.compile(r"^`([\w/.]+)`(, in `(\w+)`)?\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks():
    return [(path, place, text) for path, _, place, text in BLOCK.findall(PAGE)]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The repository with the toy in it, and with what is written from it."""
    root = tmp_path_factory.mktemp("copy") / "tidegate"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name, follow_symlinks=False)
    for path, place, text in blocks():
        if place:
            lines = (root / path).read_text(encoding="utf-8").splitlines(keepends=True)
            at = next(number for number, line in enumerate(lines) if line.startswith(f"{place} = ("))
            (root / path).write_text("".join([*lines[: at + 1], text, *lines[at + 1 :]]), encoding="utf-8")
        else:
            assert not (root / path).exists(), path
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
    for what in ("golden", "docs"):
        run(root, "-m", "tidegate", "generate", what)
    return root


def run(root, *words, code=0):
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    done = subprocess.run(
        [sys.executable, *words], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def tidegate(root, *words, code=0):
    return run(root, "-m", "tidegate", *words, code=code)


def test_a_component_touches_one_new_folder_a_tree_and_one_line_of_one_list():
    changed = [path for path, place, _text in blocks() if place]
    assert changed == ["reference/components.py"]
    folders = {path.partition("latch")[0] for path, place, _text in blocks() if not place}
    assert folders == {
        "reference/",
        "properties/cases/",
        "traces/notation/",
        "conformance/engines/museum/",
        "tests/reference/",
    }


def test_the_map_names_every_place_of_the_page():
    recipe = CONTRIBUTING.partition("**Add a component")[2].partition("\n\n**")[0]
    for path, _place, _text in blocks():
        folder = re.sub(r"latch(/latch)?", "<component>", path, count=1)
        assert folder.partition("<component>")[0] in recipe, path


def test_the_map_has_every_subject_in_path_order():
    drawn = CONTRIBUTING.partition("## The map")[2].partition("one folder per subject")[0].partition("components.py")[2]
    assert re.findall(r"(\w+)/(?=\s)", drawn) == list(dict.fromkeys(place.subject for place in PATH))


def test_it_is_in_form(copy):
    """Nothing is left for the formatter or the linter."""
    written = [path for path, _place, _text in blocks() if path.endswith(".py")]
    run(copy, "-m", "ruff", "check", *written)
    run(copy, "-m", "ruff", "format", "--check", *written)


def test_a_right_engine_passes_and_a_wrong_one_is_caught(copy):
    tidegate(copy, "run", "--engine", "reference", "--component", "latch")
    museum = "python:tidegate.conformance.engines.museum.engines"
    tidegate(copy, "run", "--engine", f"{museum}:Right", "--component", "latch")
    assert "LATCH-1" in tidegate(copy, "run", "--engine", f"{museum}:LatchOpensEarly", code=1)
    assert "LATCH-2" in tidegate(copy, "run", "--engine", f"{museum}:LatchOpensAgain", code=1)


def test_its_tests_pass_and_what_it_refuses_is_known(copy):
    run(copy, "-m", "tests.reference.refusing")
    table = (copy / "tests" / "reference" / "latch" / "refusals.toml").read_text(encoding="utf-8")
    assert 'knock = "LATCH-2"' in table
    run(copy, "-m", "pytest", "-n", "0", "-k", "latch", "tests/reference/latch", "tests/reference/test_refusals.py")


def test_it_is_explored_explained_and_documented(copy):
    tidegate(copy, "explore", "latch")
    assert "latch.py" in tidegate(copy, "explain", "LATCH-2")
    assert "LATCH-1" in (copy / "docs" / "semantics" / "latch.md").read_text(encoding="utf-8")
    assert "latch.md" in (copy / "docs" / "semantics" / "index.md").read_text(encoding="utf-8")
