"""Audits without Spark: what was planted is found, and nothing else, however the rows are cut and spread."""

import json
import shutil
import subprocess
import sys
from collections import Counter

import attrs
import pytest

from tests.conformance.audit.comparing import WANTED, checked, found, planted
from tests.conformance.audit.conftest import write_logs
from tests.conformance.audit.hostile import renamed, with_column, with_metadata
from tidegate.conformance.audit import local
from tidegate.conformance.audit.auditing import Options, audit
from tidegate.conformance.audit.excerpts import DISTANCES, Search, make_excerpts
from tidegate.conformance.audit.files import audit_files
from tidegate.conformance.audit.local import audit_here
from tidegate.conformance.audit.outcomes import NAMES, from_json, to_json
from tidegate.conformance.audit.planning import FILES, SHUFFLE, plan
from tidegate.conformance.audit.reading import WORDS
from tidegate.conformance.audit.sources import find_files, read_footer
from tidegate.conformance.synthetic.planning import spread
from tidegate.properties.runlog import INVARIANTS
from tidegate.traces.runlog import COLUMNS, read_runlog

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def test_every_planted_fault_is_found_and_none_invented(tmp_path):
    """300,000 events, 50 faults over all kinds."""
    write_logs(tmp_path, 300_000, 4, spread(50))
    work = plan([str(tmp_path)])
    assert work.rows > 290_000
    assert {name for _run, name, *_place in planted(tmp_path)} == set(NAMES) - {"LOG-RESULT", "LOG-RECOVER"}
    assert found(audit_here(work, WANTED)) == planted(tmp_path)


def test_an_audit_starts_light(faulty):
    """Neither pandas nor the machines of the reference are imported: it would take longer than a small audit."""
    program = f"import sys\nfrom {audit.__module__} import audit\naudit([sys.argv[1]])\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, faulty], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "tidegate.properties.kernels.run" in loaded
    assert loaded.isdisjoint({"pandas", "pyspark", "tidegate.reference.job", "tidegate.reference.gate.gate"})


@pytest.mark.parametrize("size", [5000, 10**6])
def test_the_size_of_a_batch_changes_nothing(faulty, size):
    outcomes = [audit_files(run, WANTED, size=size) for run in plan([str(faulty)]).runs]
    assert found(outcomes) == planted(faulty)
    assert checked(outcomes) == checked(audit_here(plan([str(faulty)]), WANTED))


def test_a_run_over_several_files(spread_out):
    work = plan([str(spread_out)])
    assert (work.path, len(work.runs), len(work.runs[0])) == (SHUFFLE, 1, 3)
    assert "spans 3 files" in work.reason
    assert found(audit_here(work, WANTED)) == planted(spread_out)


def test_a_run_whose_later_part_is_another_file(faulty, tmp_path):
    """Cut in the middle: the second file goes on with the steps of the first."""
    file = parquet.read_table(min(faulty.glob("*.parquet")))
    middle = len(file) // 2
    for name, part in (("b", file[:middle]), ("a", file[middle:])):
        parquet.write_table(part, tmp_path / f"{name}.parquet")
    (outcome,) = audit_here(plan([str(tmp_path)]), WANTED)
    wanted = Counter({key: count for key, count in planted(faulty).items() if key[0] == outcome.run})
    assert found([outcome]) == wanted


def test_several_processes_find_the_same(faulty, monkeypatch):
    monkeypatch.setattr(local, "WORTH_A_PROCESS", 0)
    outcomes = list(audit_here(plan([str(faulty)]), WANTED, workers=2))
    assert found(outcomes) == planted(faulty)


def test_an_outcome_survives_its_way_to_the_driver(faulty):
    outcome = next(audit_here(plan([str(faulty)]), WANTED))
    assert from_json(to_json(outcome)) == outcome


# --- what a footer says ---------------------------------------------------------------------------------------


def test_one_run_a_file_is_read_by_files(clean):
    work = plan([str(clean)])
    assert (work.path, work.reason, work.refused) == (FILES, "one run is one file", [])


def test_a_large_file_out_of_order_is_shuffled(clean, tmp_path, monkeypatch):
    monkeypatch.setattr("tidegate.conformance.audit.planning.MOST_IN_ANY_ORDER", 1000)
    (path,) = clean.glob("*.parquet")
    assert plan([str(path)]).path == FILES
    table = parquet.read_table(path)
    table = table.sort_by([("dir", "ascending"), ("step", "ascending")])
    parquet.write_table(table, tmp_path / "sorted.parquet", row_group_size=2000)
    work = plan([str(tmp_path)])
    assert work.path == SHUFFLE
    assert "not in the order of events" in work.reason


# --- what cannot be audited -----------------------------------------------------------------------------------


def rewrite(source, target, change):
    table = parquet.read_table(source)
    changed = change(table)
    parquet.write_table(changed, target)


def without_metadata(table):
    return table.replace_schema_metadata(None)


def text_instead(table, name):
    return with_column(table, name, table[name].cast(pyarrow.string()))


def other_run(table):
    return with_column(table, "run", pyarrow.array(["another"] * len(table)))


def gap(table):
    return pyarrow.concat_tables([table[:100], table[101:]])


def missing_edge(table):
    return with_column(table, "edge", pyarrow.array([9] * len(table), pyarrow.int32()))


WRONG = {
    "lacks a column": (lambda table: table.drop_columns(["position", "id"]), "it has no column position, id"),
    "has a column of another type": (lambda table: text_instead(table, "step"), "column step is string, not int64"),
    "lacks its metadata": (without_metadata, "its metadata lack run, job, complete"),
    "has metadata that is no JSON": (lambda table: with_metadata(table, job="{"), "nothing sensible about the job"),
    "has a job that is none": (lambda table: with_metadata(table, job="{}"), "nothing sensible about the job"),
    "is of another run": (other_run, "has rows of run 'another', but declares run"),
    "has a gap": (gap, "is missing, comes twice or is out of order"),
    "has an unknown edge": (missing_edge, "edge 9 is unknown"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_file_that_is_no_log_is_named_and_costs_only_itself(clean, tmp_path, what):
    (path,) = clean.glob("*.parquet")
    change, message = WRONG[what]
    shutil.copy(path, tmp_path / "good.parquet")
    rewrite(path, tmp_path / "bad.parquet", lambda table: change(renamed(table, "run-bad")))
    work = plan([str(tmp_path)])
    outcomes = [*audit_here(work, WANTED), *work.refused]
    (problem,) = [one.problem for one in outcomes if one.problem]
    assert message in problem
    assert "bad.parquet" in problem
    (good,) = [one for one in outcomes if not one.problem]
    assert good.rows == read_footer(str(path)).rows
    assert sum(tally.violated for tally in good.tallies.values()) == 0


def test_a_file_that_is_cut_short_is_named(clean, tmp_path):
    (path,) = clean.glob("*.parquet")
    whole = path.read_bytes()
    (tmp_path / "short.parquet").write_bytes(whole[: len(whole) // 2])
    (refused,) = plan([str(tmp_path)]).refused
    assert "short.parquet: is not a Parquet file, or is cut short" in refused.problem


def test_a_file_with_broken_pages_is_named(clean, tmp_path):
    (path,) = clean.glob("*.parquet")
    data = bytearray(path.read_bytes())
    data[100 : len(data) // 2] = bytes(len(data) // 2 - 100)
    (tmp_path / "broken.parquet").write_bytes(data)
    (outcome,) = audit_here(plan([str(tmp_path)]), WANTED)
    assert "broken.parquet: cannot be read to its end" in outcome.problem
    assert outcome.tallies == {}


def test_folders_without_files_and_paths_without_anything(tmp_path):
    for path, message in [(tmp_path, "no *.parquet files"), (tmp_path / "nowhere", "no such file or folder")]:
        (problem,) = find_files(str(path))
        assert message in str(problem)


def test_files_of_one_run_must_be_of_one_job(clean, tmp_path):
    (path,) = clean.glob("*.parquet")
    shutil.copy(path, tmp_path / "one.parquet")
    job = read_footer(str(path)).job
    from tidegate.traces.codec import encode

    other = json.dumps(encode(attrs.evolve(job, engine="another")))
    rewrite(path, tmp_path / "two.parquet", lambda table: with_metadata(table, job=other))
    work = plan([str(tmp_path)])
    assert work.runs == []
    assert "but to different jobs" in work.refused[0].problem


def test_a_run_that_was_cut_off_is_not_to_blame_for_its_end(clean, tmp_path):
    (path,) = clean.glob("*.parquet")
    rewrite(path, tmp_path / "cut.parquet", lambda table: with_metadata(table[:5000], complete="false"))
    (outcome,) = audit_here(plan([str(tmp_path)]), WANTED)
    assert sum(tally.violated for tally in outcome.tallies.values()) == 0
    rewrite(path, tmp_path / "cut.parquet", lambda table: table[:5000])
    (outcome,) = audit_here(plan([str(tmp_path)]), WANTED)
    assert {name for name, tally in outcome.tallies.items() if tally.violated} == {"LOG-LOSS", "LOG-END"}


# --- excerpts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_known", [True, False])
def test_an_excerpt_shows_its_violation_on_its_own(faulty, is_known):
    """A few rows, that the fold of the invariant finds as wrong as the kernel found the whole."""
    folds = {one.id: one for one in INVARIANTS}
    shown = set()
    for run in plan([str(faulty)]).runs:
        outcome = audit_files(run, WANTED, show=1000, size=2**15)
        whole = {(row.dir, row.channel, row.kind, row.position): row for row in read_runlog(run[0].path).rows}
        searches = [
            Search(run, finding, near if is_known else (None,) * len(DISTANCES))
            for name, tally in outcome.tallies.items()
            for finding, near in zip(tally.findings, outcome.near.get(name, ()), strict=True)
        ]
        for excerpt in make_excerpts(searches):
            finding = excerpt.finding
            assert excerpt.repeats, finding
            assert any(folds[finding.invariant].find(excerpt.log))
            row = whole[finding.direction, finding.channel, finding.kind, finding.position]
            assert row in excerpt.around
            assert len(excerpt.log.rows) < 7000
            shown.add(finding.invariant)
    assert shown == set(NAMES) - {"LOG-RESULT", "LOG-RECOVER"}


def test_excerpts_read_only_where_their_rows_stand(spread_out):
    """Of a run over several files, too, whose rows were read in turn."""
    report = audit([spread_out], Options(show=5))
    assert len(report.excerpts) > len(NAMES)
    assert all(excerpt.repeats for excerpt in report.excerpts)
    near = [spans for one in report.outcomes[0].near.values() for levels in one for spans in levels]
    assert near
    assert None not in near


def test_columns_are_those_of_a_log():
    assert set(WORDS) < set(COLUMNS)
