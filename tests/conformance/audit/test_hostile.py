"""One bad file is one bad file: it is named with the reason, and the others keep their results."""

import json
import resource
import shutil
import subprocess
import sys

import pytest

from tests.conformance.audit.comparing import WANTED
from tidegate.conformance.audit.auditing import Options, audit
from tidegate.conformance.audit.local import audit_here
from tidegate.conformance.audit.planning import plan
from tidegate.conformance.cli.main import main
from tidegate.conformance.exits import Exit

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from tests.conformance.audit import hostile  # noqa: E402


@pytest.fixture(scope="module")
def good(clean):
    (path,) = clean.glob("*.parquet")
    return path


def check(report, messages):
    """Each file is named with its reason in one line, and the good one keeps its results."""
    assert len(report.problems) == len(messages)
    for name, message in messages.items():
        assert message in hostile.find_problem(report, name)
    (kept,) = [one for one in report.outcomes if not one.problem]
    assert kept.rows == parquet.read_metadata(kept.paths[0]).num_rows
    assert sum(tally.violated for tally in kept.tallies.values()) == 0
    assert all(tally.checked for tally in kept.tallies.values())
    assert report.exit is Exit.UNDETERMINED


@pytest.mark.parametrize("name", hostile.TABLES)
def test_a_table_that_is_no_log(good, tmp_path, name):
    shutil.copy(good, tmp_path / "good.parquet")
    message = hostile.write_table(parquet.read_table(good), name, tmp_path)
    check(audit([tmp_path]), {name: message})


def test_bytes_that_are_no_file(good, tmp_path):
    shutil.copy(good, tmp_path / "good.parquet")
    messages = hostile.write_bytes(parquet.read_table(good), tmp_path)
    check(audit([tmp_path]), messages)


def test_links_in_a_circle_and_what_is_no_file(good, tmp_path):
    shutil.copy(good, tmp_path / "good.parquet")
    (tmp_path / "again.parquet").symlink_to("good.parquet")
    messages = hostile.write_links(tmp_path)
    check(audit([tmp_path, tmp_path / "good.parquet"]), messages)


def test_a_file_that_vanishes(good, tmp_path):
    for name in ("gone", "good"):
        parquet.write_table(hostile.renamed(parquet.read_table(good), name), tmp_path / f"{name}.parquet")
    work = plan([str(tmp_path)])
    (tmp_path / "gone.parquet").unlink()
    gone, kept = audit_here(work, WANTED)
    assert gone.problem == f"{tmp_path}/gone.parquet: was there, and is gone"
    assert kept.problem == ""


def test_a_file_that_vanishes_before_its_excerpts_are_read(faulty, tmp_path):
    for path in faulty.glob("*.parquet"):
        shutil.copy(path, tmp_path)
    gone = min(tmp_path.glob("*.parquet"))
    report = audit([tmp_path], Options(show=100), lambda _outcome, _runs: gone.unlink(missing_ok=True))
    assert report.exit is Exit.VIOLATIONS
    assert {bool(excerpt.log.rows) for excerpt in report.excerpts} == {False, True}


def test_a_run_over_several_files_that_may_lack_one_is_not_judged(spread_out, good, tmp_path):
    """What it lacks would be losses."""
    for path in spread_out.glob("*.parquet"):
        shutil.copy(path, tmp_path)
    lost = max(tmp_path.glob("*.parquet"))
    lost.write_bytes(lost.read_bytes()[:-100])
    parquet.write_table(hostile.renamed(parquet.read_table(good), "run-good"), tmp_path / "good.parquet")
    report = audit([tmp_path])
    assert report.exit is Exit.UNDETERMINED
    assert [len(one.paths) for one in report.problems] == [1, 2]
    assert f"and so may {lost}, which is refused" in report.problems[1].problem


#: Changes bytes of a file, at random places or in its footer, and audits it.
FLIPS = """
import sys
from pathlib import Path
from random import Random
from tidegate.conformance.audit.auditing import audit
random, path = Random(int(sys.argv[2])), Path(sys.argv[1])
whole = path.read_bytes()
for _ in range(100):
    data = bytearray(whole)
    first = random.choice([0, len(data) - 5000])
    for _ in range(random.choice([1, 3, 20])):
        data[random.randrange(first, len(data))] = random.randrange(256)
    path.write_bytes(data)
    report = audit([path])
    assert all(one.problem.isprintable() for one in report.problems)
    assert "TIDEGATE_DEBUG" not in str(report.problems)
    print(int(report.exit))
"""


@pytest.mark.parametrize("groups", [100_000, 500])
def test_flipped_bytes_are_no_surprise(faulty, tmp_path, groups):
    """In a process of its own: where Arrow is wrong about a file, it may take the process along."""
    table = parquet.read_table(min(faulty.glob("*.parquet")))
    parquet.write_table(table[:4000], tmp_path / "log.parquet", row_group_size=groups)
    command = [sys.executable, "-c", FLIPS, str(tmp_path / "log.parquet"), str(groups)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.stderr == ""
    assert done.returncode == 0
    assert {"1", "65"} <= set(done.stdout.split()) <= {"0", "1", "2", "65"}


# --- what may look odd, and is right --------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", ["narrow", "unsigned", "wide", "dictionary"])
def test_other_integers_and_texts_are_as_good(faulty, tmp_path, kinds):
    """As long as their values fit."""
    path = min(faulty.glob("*.parquet"))
    table = parquet.read_table(path)
    (wanted,) = audit([path]).outcomes
    for name in ("subtask", "edge", "producer", "consumer"):
        kind = {"narrow": pyarrow.int8(), "unsigned": pyarrow.uint32(), "wide": pyarrow.int64()}.get(kinds)
        column = table[name].cast(kind) if kind else table[name].combine_chunks().dictionary_encode()
        table = hostile.with_column(table, name, column)
    for name in ("step", "position"):
        table = hostile.with_column(table, name, table[name].cast(pyarrow.uint64() if kinds == "unsigned" else "int32"))
    for name in ("run", "task", "key") if kinds == "wide" else ():
        table = hostile.with_column(table, name, table[name].cast(pyarrow.large_string()))
    parquet.write_table(table, tmp_path / "log.parquet", row_group_size=1000 if kinds == "wide" else 100_000)
    (found,) = audit([tmp_path]).outcomes
    assert found.problem == ""
    assert found.tallies == wanted.tallies


def test_a_job_that_declares_more_than_there_is(tmp_path):
    """Cost goes by rows: in a process that has little room."""
    hostile.write_wide_job(tmp_path, "wide")
    hostile.write_wide_job(tmp_path, "wrong", invents=True)
    program = "import sys; from tidegate.conformance.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, "audit", "--local", str(tmp_path), "--report", str(tmp_path / "report")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30)),
    )
    assert done.stderr == ""
    assert done.returncode == 1
    assert "2 runs, 36 events: 6 violations" in done.stdout
    assert main(["audit", "--local", str(tmp_path / "wide.parquet")]) == 0


# --- what is empty --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [0, 1])
def test_a_log_without_rows_says_nothing(good, tmp_path, capsys, groups):
    empty = hostile.renamed(parquet.read_table(good)[:0], "run-empty")
    with parquet.ParquetWriter(tmp_path / "empty.parquet", empty.schema) as writer:
        for _ in range(groups):
            writer.write_table(empty)
    assert main(["audit", "--local", str(tmp_path)]) == 2
    out = capsys.readouterr().out
    assert "holds" not in out
    assert "run run-empty has no events." in out
    shutil.copy(good, tmp_path / "good.parquet")
    assert main(["audit", "--local", str(tmp_path)]) == 2
    assert "holds" not in capsys.readouterr().out


def test_nothing_at_all_is_bad_input(tmp_path):
    (tmp_path / "zero.parquet").write_bytes(b"")
    assert main(["audit", "--local", str(tmp_path), str(tmp_path / "missing")]) == 65


# --- words ----------------------------------------------------------------------------------------------------


def inert(text):
    return all(one.isprintable() or one == "\n" for one in text)


def test_words_of_a_log_are_inert(good, tmp_path, capsys):
    """Names of runs and tasks, keys, names of files: on the terminal, as JSON and Markdown, in files."""
    table = hostile.renamed(parquet.read_table(good), hostile.WORDS)
    job = json.loads(table.schema.metadata[b"job"])
    names = {name: name + hostile.WORDS for edge in job["edges"] for name in (edge["source"], edge["target"])}
    for edge in job["edges"]:
        edge["source"], edge["target"] = names[edge["source"]], names[edge["target"]]
        edge["partitioner"] = "mine" if edge["partitioner"] == "hash" else edge["partitioner"]
    tasks = [names[name] for name in table["task"].to_pylist()]
    keys = [key and hostile.WORDS for key in table["key"].to_pylist()]
    for name, values in (("task", tasks), ("key", keys)):
        table = hostile.with_column(table, name, pyarrow.array(values, pyarrow.string()))
    logs = tmp_path / f"logs {hostile.WORDS.replace('/', '')}"
    logs.mkdir()
    parquet.write_table(hostile.with_metadata(table, job=json.dumps(job)), logs / "log.parquet")
    (logs / "bad.parquet").write_bytes(b"PAR1")
    for form in ("pretty", "json", "markdown"):
        arguments = ["--format", form, "--report", str(tmp_path / "report")]
        assert main(["audit", "--local", str(logs), *arguments]) == 1
        shown = capsys.readouterr()
        assert inert(shown.out), form
        assert shown.err == ""
        if form == "markdown":
            assert "<b>" not in shown.out
            assert "[link](" not in shown.out
            assert "://" not in shown.out
            tables = [line for line in shown.out.splitlines() if line.startswith("|")]
            assert {line.count("|") for line in tables} == {5}
    for path in ("report.jsonl", "summary.md"):
        assert inert((tmp_path / "report" / path).read_text(encoding="utf-8"))
    first = json.loads((tmp_path / "report" / "report.jsonl").read_text(encoding="utf-8").splitlines()[13])
    assert first["run"] == hostile.WORDS


# --- reports --------------------------------------------------------------------------------------------------


def test_a_report_that_cannot_be_written_costs_only_itself(good, faulty, tmp_path, capsys):
    (tmp_path / "report").write_text("a file where a folder should be", encoding="utf-8")
    for logs, text in ((good, "all that was checked holds"), (faulty, "violations")):
        assert main(["audit", "--local", str(logs), "--report", str(tmp_path / "report")]) == Exit.CANNOT_WRITE
        shown = capsys.readouterr()
        assert text in shown.out
        assert f"the report is not complete: {tmp_path}/report: cannot be written: File exists" in shown.err


def test_nothing_of_an_older_report_stays(good, faulty, tmp_path, capsys):
    assert main(["audit", "--local", str(faulty), "--report", str(tmp_path)]) == 1
    assert len(list((tmp_path / "excerpts").iterdir())) > 9
    (tmp_path / "excerpts" / "mine.txt").write_text("a reader's own", encoding="utf-8")
    assert main(["audit", "--local", str(good), "--report", str(tmp_path)]) == 0
    assert [path.name for path in (tmp_path / "excerpts").iterdir()] == ["mine.txt"]
    assert parquet.read_table(tmp_path / "violations.parquet").num_rows == 0
    assert "all that was checked holds" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    capsys.readouterr()
