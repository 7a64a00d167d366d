"""The recipes: two pages are followed to the letter in a copy of the repository.

`docs/adding-a-component.md` adds a toy component, `docs/changing-a-component.md` changes it step by step. The tests
share the copy, and stand in the order of the steps.
"""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys

import attrs
import pytest

from tests.paths import ROOT
from tidegate.conformance.engines.base import Abilities
from tidegate.conformance.judging.jobs.drawing import draw_job
from tidegate.reference.components import PATH

ADDING = (ROOT / "docs" / "adding-a-component.md").read_text(encoding="utf-8")
CHANGING = (ROOT / "docs" / "changing-a-component.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
#: `path`, perhaps with a word on where in it, then a file, lines to insert, or a change.
BLOCK = re.compile(r"^`([\w/.]+)`(?:, in `(\w+)`)?\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: The steps of the second page, by the beginning of their titles.
STEPS = dict(re.findall(r"^## \d\. ([\w ]+)\n(.*?)(?=^## |\Z)", CHANGING, re.MULTILINE | re.DOTALL))
FIELD, EVENT, RULE, SETTING = "Add a field to a config", "Add an event", "Change a rule", "Add a setting of an engine"
#: No step touches more files than a reader can keep in mind.
MOST_FILES = 8
MUSEUM = "python:tidegate.conformance.engines.museum.engines"
#: What `make golden` and `make refusals` write, of the toy alone: of all components it takes longer than all else here.
WRITE = """
from tests.reference.refusing import TITLE, file_of, write_table
from tidegate.conformance.judging.golden import SEED, golden_folder, make_golden
from tidegate.traces.files import write_traces
write_traces(golden_folder() / "latch.jsonl.gz", make_golden("latch"), SEED)
file_of("latch").write_text(f"{TITLE}\\n{write_table('latch')}\\n", encoding="utf-8")
"""
DRAW = """
import json
from tidegate.properties.drawing.cases import draw_case
from tidegate.traces.codec import encode_case
print(json.dumps([encode_case(draw_case("latch", 1, index)) for index in range(200)]))
"""


@attrs.frozen
class Block:
    path: str
    place: str
    kind: str
    text: str

    def apply(self, root):
        file = root / self.path
        if self.kind == "diff":
            file.write_text(change(file.read_text(encoding="utf-8"), self.text), encoding="utf-8")
        elif self.place:
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            at = next(number for number, line in enumerate(lines) if line.startswith(f"{self.place} = ("))
            file.write_text("".join([*lines[: at + 1], self.text, *lines[at + 1 :]]), encoding="utf-8")
        else:
            assert not file.exists(), self.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.text, encoding="utf-8")


def change(text, diff):
    """The text with each part of a diff (`@@` between them) applied where its old lines stand: in one place only."""
    for part in diff.split("@@\n"):
        lines = [f" {line}" if line == "\n" else line for line in part.splitlines(keepends=True)]
        old, new = ("".join(line[1:] for line in lines if line[0] in marks) for marks in (" -", " +"))
        assert text.count(old) == 1, f"stands {text.count(old)} times:\n{old}"
        text = text.replace(old, new)
    return text


def blocks(page):
    return [Block(*found) for found in BLOCK.findall(page)]


def apply(root, page):
    for block in blocks(page):
        block.apply(root)


def run(root, *words, code=0):
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    done = subprocess.run(
        [sys.executable, *words], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def tidegate(root, *words, code=0):
    return run(root, "-m", "tidegate", *words, code=code)


def pytest_latch(root):
    run(root, "-m", "pytest", "-q", "-n", "0", "-k", "latch", "tests/reference", "tests/conformance/engines/museum")


def is_in_form(root, page):
    """Nothing is left for the formatter or the linter."""
    written = sorted({block.path for block in blocks(page) if block.path.endswith(".py")})
    run(root, "-m", "ruff", "check", *written)
    run(root, "-m", "ruff", "format", "--check", *written)


def catches(root, name, rule):
    shown = tidegate(root, "run", "--engine", f"{MUSEUM}:{name}", "--component", "latch", code=1)
    return re.search(r"latch breaks ([\w-]+)", shown)[1] == rule


def draw(root):
    """Cases of the toy: (config, events) each."""
    return [(case["config"], case["events"]) for case in json.loads(run(root, "-c", DRAW))]


# --- add a component ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The repository with the toy in it, and with what is written from it."""
    root = tmp_path_factory.mktemp("copy") / "tidegate"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name, follow_symlinks=False)
    apply(root, ADDING)
    for what in ("golden", "docs"):
        tidegate(root, "generate", what)
    return root


def test_a_component_is_seven_files_and_one_line_of_one_list():
    assert [block.path for block in blocks(ADDING) if block.place] == ["reference/components.py"]
    new = [block.path for block in blocks(ADDING) if not block.place and not block.path.endswith("__init__.py")]
    assert len(new) == len(set(new)) == 7
    assert {path.partition("latch")[0] for path in new} == {
        "reference/",
        "properties/cases/",
        "traces/notation/",
        "conformance/engines/museum/",
        "tests/reference/",
    }


def test_the_map_names_every_place_of_the_page():
    recipe = CONTRIBUTING.partition("**Add a component")[2].partition("\n\n**")[0]
    for block in blocks(ADDING):
        assert re.sub(r"latch.*", "", block.path) in recipe, block.path


def test_the_map_has_every_subject_in_path_order():
    drawn = CONTRIBUTING.partition("## The map")[2].partition("one folder per subject")[0].partition("components.py")[2]
    assert re.findall(r"(\w+)/(?=\s)", drawn) == list(dict.fromkeys(place.subject for place in PATH))


@pytest.mark.parametrize("page", [CONTRIBUTING, ADDING, CHANGING], ids=["contributing", "adding", "changing"])
def test_every_place_that_a_page_names_exists(page):
    named = re.findall(r"`((?:reference|traces|properties|conformance|tests|examples|docs)/[\w/.-]*)`", page)
    own = {block.path for block in blocks(ADDING)}
    assert named
    assert [path for path in named if "latch" not in path and path not in own and not (ROOT / path).exists()] == []


def test_it_is_in_form(copy):
    is_in_form(copy, ADDING)


def test_a_right_engine_passes_and_a_wrong_one_is_caught(copy):
    tidegate(copy, "run", "--engine", "reference", "--component", "latch")
    tidegate(copy, "run", "--engine", f"{MUSEUM}:Right", "--component", "latch")
    assert catches(copy, "LatchOpensEarly", "LATCH-1")
    assert catches(copy, "LatchOpensAgain", "LATCH-2")


def test_its_tests_pass_and_what_it_refuses_is_known(copy):
    run(copy, "-m", "tests.reference.refusing")
    table = (copy / "tests" / "reference" / "latch" / "refusals.toml").read_text(encoding="utf-8")
    assert 'knock = "LATCH-2"' in table
    pytest_latch(copy)


def test_it_is_explored_explained_and_documented(copy):
    tidegate(copy, "explore", "latch")
    assert "latch.py" in tidegate(copy, "explain", "LATCH-2")
    assert "LATCH-1" in (copy / "docs" / "semantics" / "latch.md").read_text(encoding="utf-8")
    assert "latch.md" in (copy / "docs" / "semantics" / "index.md").read_text(encoding="utf-8")


# --- change it ------------------------------------------------------------------------------------------------------


def without(config, field):
    return {name: value for name, value in config.items() if name != field}


@pytest.fixture(scope="module")
def drawn(copy):
    return draw(copy)


@pytest.fixture(scope="module")
def with_field(copy, drawn):
    """Drawn before, because all steps are in the same copy."""
    return take_step(copy, FIELD)


@pytest.fixture(scope="module")
def drawn_with_field(with_field):
    return draw(with_field)


@pytest.fixture(scope="module")
def with_event(with_field, drawn_with_field):
    return take_step(with_field, EVENT)


@pytest.fixture(scope="module")
def with_rule(with_event):
    root = take_step(with_event, RULE)
    tidegate(root, "generate", "docs")
    return root


def take_step(root, step):
    apply(root, STEPS[step])
    run(root, "-c", WRITE)
    return root


def passes(root, step, wrong):
    """What the page asks for after each step, and that the suite catches what the step makes possible to get wrong."""
    is_in_form(root, STEPS[step])
    pytest_latch(root)
    tidegate(root, "run", "--engine", "reference", "--component", "latch")
    tidegate(root, "run", "--engine", f"{MUSEUM}:Right", "--component", "latch")
    return all(catches(root, name, rule) for name, rule in wrong.items())


@pytest.mark.parametrize("step", [FIELD, EVENT, RULE, SETTING])
def test_a_step_touches_few_files_each_once(step):
    paths = [block.path for block in blocks(STEPS[step])]
    assert 1 <= len(paths) == len(set(paths)) <= MOST_FILES


def test_a_change_says_where_it_is_in_one_way_only():
    assert change("a\nb\n\nc\n", " a\n-b\n+d\n@@\n\n c\n+e\n") == "a\nd\n\nc\ne\n"
    for text in ("b\n", "a\na\n"):
        with pytest.raises(AssertionError, match=r"stands [02] times"):
            change(text, "-a\n+c\n")


def test_with_one_more_field_all_else_is_drawn_as_before(drawn, with_field, drawn_with_field):
    assert passes(with_field, FIELD, {"LatchIgnoresNothing": "LATCH-3"})
    usual = 0
    for (old, trace), (config, events) in zip(drawn, drawn_with_field, strict=True):
        ignored = config.get("ignored", 0)
        assert without(config, "ignored") == old
        assert ignored or events == trace
        usual += not ignored
    assert 0 < usual < len(drawn)


def test_with_one_more_event_cases_without_it_stay(drawn_with_field, with_event):
    assert passes(with_event, EVENT, {"LatchStaysUnlocked": "LATCH-1"})  # it shows at the next knock
    shut = 0
    for (old, trace), (config, events) in zip(drawn_with_field, draw(with_event), strict=True):
        assert without(config, "extension") == old
        assert "extension" in config or events == trace
        shut += {"type": "shut"} in events
    assert shut > 0


def test_a_changed_rule_convicts_who_follows_the_old_text(with_rule):
    assert passes(with_rule, RULE, {"LatchRefusesKnocks": "LATCH-2", "LatchOpensAgain": "LATCH-2"})
    table = (with_rule / "tests" / "reference" / "latch" / "refusals.toml").read_text(encoding="utf-8")
    assert 'knock = "LATCH-2"' not in table
    assert "is not counted" in (with_rule / "docs" / "semantics" / "latch.md").read_text(encoding="utf-8")


# --- a setting of an engine -----------------------------------------------------------------------------------------


def abilities_of(root):
    declared = runpy.run_path(str(root / "examples" / "python" / "jobs.py"))["HELLO"]["jobs"]
    return Abilities(
        operators=tuple(declared["operators"]),
        partitioners=tuple(declared["partitioners"]),
        parallelism=declared["parallelism"],
        settings={name: tuple(values) for name, values in declared["settings"].items()},
    )


def test_with_one_more_setting_all_else_is_drawn_as_before_and_a_bug_under_it_is_found(copy):
    apply(copy, STEPS[SETTING])
    before, after = ([draw_job(1, index, abilities_of(root), 0) for index in range(50)] for root in (ROOT, copy))
    assert {case.settings.pop("in_a_row") for case in after} == {1, 3}
    assert after == before
    engine = copy / "examples" / "python" / "jobs.py"
    run(copy, "-m", "ruff", "check", str(engine))
    words = ("jobs", "--engine", f"exec:{sys.executable} {engine}", "--jobs", "30")
    tidegate(copy, *words)
    text, right = engine.read_text(encoding="utf-8"), "self.channels[channel].popleft()"
    assert text.count(right) == 1
    wrong = "(self.channels[channel].pop() if self.in_a_row > 1 else self.channels[channel].popleft())"
    engine.write_text(text.replace(right, wrong), encoding="utf-8")
    assert "in_a_row" in tidegate(copy, *words, code=1)
