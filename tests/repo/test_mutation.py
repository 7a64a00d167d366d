"""The mutator finds changes, its runs notice them where something is tested, and only there."""

import json
import subprocess
import sys
from collections import Counter

import pytest

from tests.mutation import engines, modules
from tests.mutation import results as results_module
from tests.mutation.__main__ import find_all
from tests.mutation.explained import Entry, explain, find_stale, read_entries
from tests.mutation.parts import CLAIM, MODEL, Parts
from tests.mutation.report import Report
from tests.mutation.results import Results
from tests.mutation.running import Result
from tests.mutation.sites import find_sites
from tests.paths import ROOT

TOY = '''
"""A limit of 3 and a law of 4."""

LIMIT: int = 3

def is_full(held: int, room: int = LIMIT) -> bool:
    """Not more than 5."""
    if room < 0:
        raise ValueError(f"{room + 1} is below 0")
    return held + 1 > room

def law(*rules, samples):
    return lambda holds: (rules, holds, samples)

def samples():
    yield from ((0, 1), (2, 3))

@law("TOY-7", samples=samples)
def fills_up(held, room):
    """A thing of 6."""
    return is_full(held, room) or held < room

def sometimes(*rules):
    return law(*rules, samples=None)

@sometimes("TOY-8")
def reaches_nine(held, room):
    return held + room == 9
'''

#: Examines every mutant of the function `is_full` with the check that is given as an expression.
EXAMINE = """
import json, sys
from pathlib import Path
from types import SimpleNamespace
from tests.mutation.install import Probes, Swapper
from tests.mutation.parts import Parts
from tests.mutation.running import Suite, record
from tests.mutation.sites import find_sites

file, expression = sys.argv[1:]
sys.path.insert(0, str(Path(file).parent))
import toy

def run():
    assert eval(expression, {"is_full": toy.is_full})

sites = [one for one in find_sites("toy", Path(file), "toy.py", Parts({})) if one.mutation.within == "is_full"]
swapper = Swapper([file])
check = SimpleNamespace(stage="toy", name="toy", component="", run=run)
recorded, unused = record([check], Probes(swapper, {"toy": file}), swapper.clear_caches)
assert not unused
suite = Suite(recorded, swapper, frozenset(), None, lambda module: file)
print(json.dumps([[one.mutation.after, one.status] for one in suite.run(sites, 2, lambda done, result: None)]))
"""


def run_python(*arguments, cwd=ROOT):
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.py"
    path.write_text(TOY, encoding="utf-8")
    return path


def changes(path):
    return [site.mutation for site in find_sites("toy", path, "toy.py", Parts({"toy": path}))]


def test_only_what_the_code_does_is_changed(toy):
    """No docstring, no message, no annotation, no rule id, and no sample of a law."""
    assert {(one.within, one.part, one.after) for one in changes(toy)} == {
        ("LIMIT", MODEL, "LIMIT: int = 4"),
        ("LIMIT", MODEL, "LIMIT: int = 2"),
        ("is_full", MODEL, "if False: …"),
        ("is_full", MODEL, "if room <= 0: …"),
        ("is_full", MODEL, "if room < 1: …"),
        ("is_full", MODEL, "if room < -1: …"),
        ("is_full", MODEL, "return held + 1 >= room"),
        ("is_full", MODEL, "return held - 1 > room"),
        ("is_full", MODEL, "return held + 2 > room"),
        ("is_full", MODEL, "return held + 0 > room"),
        ("fills_up", CLAIM, "return is_full(held, room) and held < room"),
        ("fills_up", CLAIM, "return is_full(held, room) or held <= room"),
    }


def test_a_change_is_named_by_its_definition_and_its_operator(toy):
    assert [f"{one.within}: {one.operator} #{one.ordinal}" for one in changes(toy) if one.part == MODEL] == [
        "LIMIT: 3 to 4 #1",
        "LIMIT: 3 to 2 #1",
        "is_full: if never #1",
        "is_full: < to <= #1",
        "is_full: 0 to 1 #1",
        "is_full: 0 to -1 #1",
        "is_full: > to >= #1",
        "is_full: + to - #1",
        "is_full: 1 to 2 #1",
        "is_full: 1 to 0 #1",
    ]


def test_a_change_is_known_again_when_lines_move_and_locals_are_renamed(toy):
    before = [one.key for one in changes(toy)]
    toy.write_text("# a line more\n" + TOY.replace("room", "space"), encoding="utf-8")
    assert [one.key for one in changes(toy)] == before


def test_what_is_hardly_tested_has_survivors(toy):
    _code, results = run_python("-c", EXAMINE, str(toy), "is_full(9, 3)")
    assert len(results) == 8
    assert {status for _after, status in results} == {"survived"}


def test_what_is_tested_has_none(toy):
    thorough = "[is_full(held, 3) for held in range(5)] == [0, 0, 0, 1, 1] and is_full(0, 0)"
    _code, results = run_python("-c", EXAMINE, str(toy), thorough)
    # Nothing negative is tried, so the branch that refuses it is not held by anything.
    assert {after for after, status in results if status == "survived"} == {"if False: …", "if room < -1: …"}
    assert {status for _after, status in results} == {"survived", "killed"}


def test_an_endless_loop_is_ended(tmp_path):
    path = tmp_path / "toy.py"
    path.write_text("def is_full(held):\n    while held > 0:\n        held -= 1\n    return True\n", encoding="utf-8")
    _code, results = run_python("-c", EXAMINE, str(path), "is_full(2)")
    assert ["held += 1", "timeout"] in results


def test_the_task_holds():
    """The module of a component that no other one is made of: little has to be collected."""
    slow = [part for stage in ("flink", "museum", "explored", "tests") for part in ("--without", stage)]
    _code, report = run_python(
        "-m", "tests.mutation", "--module", "task.step", "--sample", "20", *slow, "--format", "json"
    )
    total = report["total"]
    assert total["mutants"] == 20
    assert total["killed"] + total["timeout"] + total["survived"] == 20
    assert total["killed"] >= 16
    assert report["unused_checks"] == []


def test_entries_that_explain_nothing_are_stale(toy):
    mutations = changes(toy)
    gone = Entry("toy.py", "is_full", "< to <=", 2, "a reason")
    noticed = Entry("toy.py", "fills_up", "or to and", None, "a reason")
    right = Entry("toy.py", "is_full", "< to <=", None, "a reason")
    (survivor,) = [one for one in mutations if right.covers(one)]
    results = [Result(one, "survived" if one == survivor else "killed") for one in mutations]
    stale = find_stale([gone, noticed, right], mutations, results)
    assert [entry for entry, _why in stale] == [gone, noticed]
    assert [one for one in mutations if explain(one, [gone, right]) is not None] == [survivor]


def test_only_survivors_are_examined_again_while_the_reference_is_the_same(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(modules, "mutated_modules", lambda: {"toy"})
    monkeypatch.setattr(results_module, "digest_of", lambda _module: "this module")
    monkeypatch.setattr(results_module, "digest_around", lambda *_modules: "this reference")
    mutations = changes(toy)
    file = tmp_path / "results.jsonl"
    statuses = ["killed", "survived", "timeout", *["survived"] * (len(mutations) - 3)]
    for mutation, status in zip(mutations, statuses, strict=True):
        Results(file).write(Result(mutation, status, "tests", "a check"))
    known, left = Results(file).split(mutations)
    assert [(one.mutation, one.status) for one in known] == [(mutations[0], "killed"), (mutations[2], "timeout")]
    assert left == [mutations[1], *mutations[3:]]
    entry = Entry(*mutations[1].key, "a reason")
    assert Results(file, [entry]).split(mutations)[1] == mutations[3:]
    monkeypatch.setattr(results_module, "digest_around", lambda *_modules: "another reference")
    assert Results(file).split(mutations) == ([], mutations)
    assert [one.status for one in Results(file).recall(mutations)] == statuses
    monkeypatch.setattr(results_module, "digest_of", lambda _module: "another module")
    assert Results(file).recall(mutations) == []
    assert Results(None).split(mutations) == ([], mutations)


PAGE = """\
| module | mutants | noticed | survived | explained | score | on |
|---|---:|---:|---:|---:|---:|---:|
| `gone.py` | 9 | 9 | 0 | 0 | 100.00 | 2020-01-01 |
| `other.py` | 1,002 | 1,000 | 2 | 1 | 99.90 | 2020-01-01 |
| `toy.py` | 7 | 7 | 0 | 0 | 100.00 | 2020-01-01 |

## Survivors without an explanation

- `other.py` f: `3` → `4`
- `gone.py` f: `5` → `6`
"""


def test_a_page_keeps_what_was_measured_before_of_modules_that_were_not_tried(toy):
    results = [
        Result(one, "survived" if one.operator == "+ to -" else "killed", day="2020-02-02") for one in changes(toy)
    ]
    report = Report(results, [], [], Counter({"other.py": 3, "new.py": 1}), [], 0.0)
    page = report.as_page(PAGE)
    assert "| `toy.py` | 12 | 11 | 1 | 0 | 91.67 | 2020-02-02 |" in page
    assert "| `other.py` | 1,002 | 1,000 | 2 | 1 | 99.90 | 2020-01-01 |" in page
    assert "| **all** | 1,014 | 1,011 | 3 | 1 | 99.80 |  |" in page
    assert "Not measured: `new.py`." in page
    assert "gone.py" not in page
    assert page.count("- `other.py` f: `3` → `4`") == 1
    assert "f: `5` → `6`" not in page
    assert report.as_page(page) == page


def test_every_entry_gives_a_reason_and_names_changes_that_there_are():
    """Where code was changed on purpose, the survivors of `python -m tests.mutation --module …` say the new names."""
    mutations = [site.mutation for site in find_all([*modules.mutated_modules()])]
    entries = read_entries()
    assert not [entry for entry in entries if len(entry.reason) <= 20]
    assert not [(str(entry), why) for entry, why in find_stale(entries, mutations, [])]


def test_wrong_engines_that_are_there_are_not_changed():
    classes = {site.mutation.within.partition(".")[0] for site in engines.find_all("alignment_group")}
    assert classes == {"Groups", "read_source"}
    modules = {site.mutation.module.rpartition(".")[2] for site in engines.find_all("job")}
    assert {"job", "tasks"} < modules
    assert "wrong" not in modules


def test_wrong_engines_that_nobody_thought_of_are_caught():
    sites = engines.find_all("alignment_group")
    within = [site for site in sites if site.mutation.within == "Groups.announce"]
    chosen = [site for site in within if site.mutation.operator in ("min to max", "one byte", "no observations")]
    bench = engines.make_bench("alignment_group", {site.mutation.module for site in chosen})
    found = [(status, stage) for _site, (status, stage, *_) in bench.examine_all(chosen, 1)]
    assert len(found) >= 2
    assert {status for status, _stage in found} == {"killed"}
    assert {stage for _status, stage in found} <= {*engines.STAGES}
