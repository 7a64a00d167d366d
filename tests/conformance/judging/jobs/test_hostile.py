"""Engines of whole jobs that answer with anything: each is convicted in printable words, and nobody waits or pays."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import attrs
import pyarrow as pa
import pytest
from pyarrow import parquet

from tidegate.conformance.cli.main import main
from tidegate.conformance.engines import messages
from tidegate.conformance.engines.base import Abilities, NotRun, Ran
from tidegate.conformance.engines.errors import BadHelloError
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs import rows as reading
from tidegate.conformance.judging.jobs import shrinking
from tidegate.conformance.judging.jobs.drawing import check_drawable, draw_job
from tidegate.conformance.judging.jobs.draws import VERSION
from tidegate.conformance.judging.jobs.judging import Judge, tell_rows
from tidegate.conformance.judging.jobs.reference_jobs import ABILITIES, ReferenceJobs
from tidegate.conformance.judging.jobs.report import head_of
from tidegate.conformance.judging.jobs.run import run_jobs

WORD = "\x1b[2J\u202e\x9b<b>"
CASE = draw_job(0, 2, attrs.evolve(ABILITIES, chaining=False))


class Says(ReferenceJobs):
    """Answers with what `make` makes of the right rows and of the path of the log, as bytes of the protocol."""

    def __init__(self, make):
        self.make = make

    def run(self, request):
        answer = self.make(super().run(request).answer["rows"], Path(request.log))
        line = answer if isinstance(answer, bytes) else json.dumps({"id": 1, "ok": answer}).encode()
        return messages.read_job_reply(messages.Parser().parse(line))


def first(**changes):
    return lambda rows, _log: {"rows": [{**rows[0], **changes}, *rows[1:]]}


def more(**fields):
    return lambda rows, _log: {"rows": rows, **fields}


def in_file(content):
    def make(_rows, log):
        log.write_bytes(content)
        return {"log": str(log)}

    return make


def at(path):
    return lambda _rows, _log: {"log": path}


def made(make):
    """A file, or something else, that is made at the path of the log."""

    def answer(_rows, log):
        make(log)
        return {"log": str(log)}

    return answer


def in_parquet(columns, **types):
    def make(log):
        arrays = {name: pa.array(values, types.get(name)) for name, values in columns.items()}
        parquet.write_table(pa.table(arrays), log)

    return made(make)


def double(log):
    parquet.write_table(pa.Table.from_arrays([pa.array(["a"])] * 2, names=["task", "task"]), log)


def bomb(log):
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 99_000, pa.int32()), pa.array(["x" * 100_000]))
    table = {"task": words, "subtask": [0] * len(words), "kind": ["timer"] * len(words)}
    parquet.write_table(pa.table(table), log)


ANSWERS = {
    "a kind that is a list": (first(kind=["record"]), "is not one of record"),
    "a kind that is an object": (first(kind={}), "is not one of record"),
    "a subtask that is a truth": (first(subtask=True), "field subtask: must be a whole number"),
    "a number without end": (first(timestamp=10**40), "field timestamp: must be a whole number"),
    "a word of another task": (first(task=WORD), "is of no|belongs to"),
    "a field of its own": (first(**{WORD: 1}), "which run logs do not have"),
    "a field that no answer has": (lambda rows, _log: {"rows": rows[1:], "writers": 1}, "LOG-|receive"),
    "totals that are a number": (more(totals=2, collected={}), "totals must be an object"),
    "totals of no operator": (more(totals={"x": {"a": 1}}, collected={}), "results by operator"),
    "totals that are words": (more(totals={"1": {"a": WORD}}, collected={}), "results by operator"),
    "totals without what was collected": (more(totals={"1": {"a": 1}}), "results by operator"),
    "results without keys": (more(totals={}, collected={"1": [[1]]}), "results by operator"),
    "a graph without edges": (more(graph={"tasks": []}), "the job graph cannot be read"),
    "a graph of odd tasks": (
        more(graph={"tasks": [{"name": WORD, "operators": [7], "parallelism": 1}], "edges": []}),
        "another job graph: its tasks are",
    ),
    "kinds that are numbers": (more(shows=[1]), "shows must be a list"),
    "what splits cannot have done": (more(read={"1/0": [["leap"]]}), "cannot have done"),
    "splits in a mode that there is not": (more(read={"1/0": [["watermark", None, WORD, 1]]}), "cannot have done"),
    "an item before the first": (more(read={"1/0": [["add", 0], ["item", 0, -1]]}), "cannot have done"),
    "a time without end": (more(read={"1/0": [["watermark", None, "immediate", 10**40]]}), "cannot have done"),
    "splits that are no list": (more(read={"1/0": {}}), "read must be an object"),
    "no generation": (lambda _rows, _log: {"generations": []}, "generations must be a list"),
    "a generation without rows": (lambda _rows, _log: {"generations": [{}]}, "a generation: it must hold"),
    "more generations than faults": (
        lambda _rows, _log: {"generations": [{"rows": []}] * 2},
        "there are 2 generations",
    ),
    "a generation that is too wide": (
        lambda _rows, _log: {"generations": [{"rows": [], "parallelism": {"2": 999}}]},
        "not in 1..3",
    ),
    "rows and generations": (lambda rows, _log: {"rows": rows, "generations": [{"rows": []}]}, "ok must be an object"),
    "changes of a program": (lambda _rows, _log: {"changes": [["+I", "a"]]}, "no rows"),
    "an error": (lambda rows, _log: {"rows": rows[:1], "error": WORD * 999}, "the job failed"),
    "more hits than faults": (
        lambda rows, _log: {"rows": rows, "hit": [True] * 9},
        "hit has 9 values, and the job has 0 faults",
    ),
    "numbers for rows": (lambda _rows, _log: {"rows": [1]}, "row 0 must be an object, not 1"),
    "a deep value": (
        lambda _rows, _log: b'{"id":1,"ok":{"rows":[{"task":' + b"[" * 900 + b"]" * 900 + b"}]}}",
        "row 0 has no field|must be a string",
    ),
    "no file": (at("/nowhere/x"), "cannot be read"),
    "a folder": (at("/tmp"), "not a regular file"),  # noqa: S108 - it is there, and none of ours
    "a device": (at("/dev/zero"), "not a regular file"),
    "a name with NUL": (at("a\0b"), "cannot be read"),
    "an odd name": (at(WORD), "cannot be read"),
    "a long name": (at("x" * 9999), "cannot be read"),
    "a pipe": (made(os.mkfifo), "not a regular file"),
    "a link to itself": (made(lambda log: log.symlink_to(log)), "cannot be read"),
    "a file of another kind": (at(__file__), "row 0 cannot be read"),
    "a deep line": (in_file(b"[" * 50_000), "nested deeper"),
    "a key twice": (in_file(b'{"task":"a","task":"b"}'), "more than once"),
    "no UTF-8": (in_file(b"\xff\n"), "not UTF-8"),
    "a long line": (in_file(b" " * 99_999), "row 0 has over"),
    "a large file": (made(lambda log: log.touch() or os.truncate(log, 10**10)), "has over"),
    "many rows": (in_file(b"{}\n" * 9), "row 0 has no field"),
    "half a Parquet file": (in_file(b"PAR1" + b"x" * 99 + b"PAR1"), "cannot be read"),
    "Parquet with a column twice": (made(double), "task more than once"),
    "Parquet with another column": (in_parquet({WORD: [1]}), "which run logs do not have"),
    "Parquet with lists": (in_parquet({"task": [["a"]]}), "column task of list"),
    "Parquet with floats": (in_parquet({"subtask": [1.5]}), "column subtask of double"),
    "Parquet with unsigned numbers": (
        in_parquet({"task": ["a"], "subtask": [2**63 + 1], "kind": ["timer"]}, subtask=pa.uint64()),
        "field subtask",
    ),
    "Parquet of few bytes and many letters": (made(bomb), "the strings of the log have over"),
    "Parquet of many rows": (in_parquet({"subtask": [0] * 100_001}), "has over"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_odd_answers_are_convicted_in_printable_words(name):
    make, message = ANSWERS[name]
    judge = Judge(Says(make))
    judge.abilities = attrs.evolve(judge.abilities, sources={"splits": (1, 2)})
    judged = judge.run(CASE)
    told = str(judged.wrongs[0])
    assert told.isprintable()
    assert len(told) < 7000
    assert any(part in told for part in message.split("|")), told


@pytest.mark.parametrize("spoil", [shutil.rmtree, lambda folder: (shutil.rmtree(folder), folder.symlink_to("/"))])
def test_the_folder_of_the_log_may_be_gone(spoil):
    judged = Judge(Says(lambda rows, log: (spoil(log.parent), {"rows": rows})[1])).run(CASE)
    assert judged.wrongs == ()


def test_more_rows_than_a_job_shows_are_refused(monkeypatch):
    monkeypatch.setattr(reading, "MOST_ROWS", 3)
    assert "more than 3 rows" in str(Judge(Says(lambda rows, _log: {"rows": rows})).run(CASE).wrongs[0])


def test_what_stood_in_the_log_is_told_in_few_printable_words(tmp_path):
    path = tmp_path / "rows.jsonl"
    line = json.dumps({"task": WORD, "key": "x" * 5000})
    path.write_text(f"{line}\n" * 100 + "[" * 99_999)
    told = tell_rows(path)
    assert told.startswith("it had shown 100 rows by then")
    assert told.isprintable()
    assert len(told) < 1500


@pytest.mark.parametrize("settings", [{WORD: [1]}, {"a": [WORD]}, {"a": [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}])
def test_settings_that_cannot_be_shown_are_refused(settings):
    jobs = {"operators": ["sink"], "partitioners": ["hash"], "settings": settings}
    names = {"name": "n", "version": "v", "language": "l"}
    with pytest.raises(BadHelloError, match=r"jobs\.settings is invalid"):
        messages.describe({"protocol": 1, "implementation": names, "components": {}, "jobs": jobs}, 1)


@pytest.mark.parametrize("partitioners", [("nonsense",), ("forward",)])
def test_an_engine_for_which_no_job_can_be_drawn_is_refused(partitioners):
    with pytest.raises(BadHelloError, match="must name one that connects tasks: rebalance"):
        check_drawable(Abilities(operators=("sink",), partitioners=partitioners))


# --- nothing is lost ------------------------------------------------------------------------------------------


class Loses(ReferenceJobs):
    """Every record, and after so many runs its patience."""

    def __init__(self, runs=10**9):
        self.left = runs
        self.started = 0

    def start(self):
        self.started += 1
        return super().start()

    def run(self, request):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        rows = [row for row in super().run(request).answer["rows"] if (row["kind"], row.get("dir")) != ("record", "in")]
        return Ran({"rows": rows})


@pytest.fixture
def engine(monkeypatch):
    def use(engine):
        monkeypatch.setattr("tidegate.conformance.kinds.resolve_jobs", lambda *_words, **_options: engine)

    return use


@pytest.mark.parametrize(("runs", "known"), [(3, 3), (5, 4)])
def test_an_interrupt_keeps_what_is_known(runs, known, engine, tmp_path, capsys):
    """While jobs run, and while a failure is made small."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "old.parquet").touch()
    (tmp_path / "junit.xml").write_text("of an earlier run")
    engine(Loses(runs))
    assert main(["jobs", "--engine", "x", "--jobs", "4", "--report", str(tmp_path)]) == Exit.VIOLATIONS
    assert "interrupted: this is what was known by then" in capsys.readouterr().out
    lines = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text().splitlines()]
    assert (len(lines) - 2, lines[-1]["complete"]) == (known, False)
    assert len(list((tmp_path / "runs").iterdir())) == known
    assert "LOG-LOSS" in (tmp_path / "junit.xml").read_text()


@pytest.mark.parametrize("place", ["report.jsonl", "junit.xml", "summary.json", "runs", "."])
def test_a_report_that_cannot_be_written_keeps_no_result_back(place, tmp_path, capsys):
    folder = tmp_path / "report"
    if place in (".", "runs"):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).touch()
    else:
        (folder / place / "x").mkdir(parents=True)
    assert main(["jobs", "--engine", "reference", "--jobs", "2", "--report", str(folder)]) == Exit.CANNOT_WRITE
    said = capsys.readouterr()
    assert "is conformant: 2 jobs" in said.out
    assert f"the report is not complete: {folder}" in said.err


def test_two_runs_into_one_folder(tmp_path, engine, capsys):
    class Nested(ReferenceJobs):
        def run(self, request):
            assert main(["jobs", "--engine", "x", "--jobs", "1", "--report", str(tmp_path)]) == Exit.USAGE
            return super().run(request)

    engine(Nested())
    assert main(["jobs", "--engine", "x", "--jobs", "1", "--report", str(tmp_path)]) == Exit.CONFORMANT
    assert "another run is running here" in capsys.readouterr().err


def resume(folder, *options):
    return main(["jobs", "--engine", "reference", "--jobs", "3", "--report", str(folder), "--resume", *options])


class Asked(ReferenceJobs):
    cases = ()

    def run(self, request):
        self.cases += (request.case,)
        return super().run(request)


def test_a_report_goes_on_with_what_passed_and_believes_nothing_else(tmp_path, engine):
    path = tmp_path / "report.jsonl"
    assert main(["jobs", "--engine", "reference", "--jobs", "5", "--report", str(tmp_path)]) == Exit.CONFORMANT
    head, first, second, third, *_rest = path.read_text().splitlines()
    failed = json.dumps({**json.loads(second), "status": "fail"})
    odd = [json.dumps({**json.loads(third), name: "x"}) for name in json.loads(third)]
    path.write_text("\n".join([head, first, first, failed, *odd, "7", "[]", '{"job":1}', '{"job":"job-0-2"}', '{"jo']))
    asked = Asked()
    engine(asked)
    assert resume(tmp_path) == Exit.CONFORMANT
    assert asked.cases == ("job-0-1", "job-0-2")
    assert main(["matrix", str(tmp_path), "--out", str(tmp_path / "matrix")]) == Exit.CONFORMANT


def test_what_failed_is_not_tried_again_until_it_passes(tmp_path, engine):
    """A race that was seen once is seen; what is left to do is to make it small."""
    engine(Says(lambda rows, _log: {"rows": rows[1:]}))
    assert resume(tmp_path, "--shrink", "0") == Exit.VIOLATIONS
    before = json.loads((tmp_path / "summary.json").read_text())
    assert before["statuses"]["fail"] > 0
    asked = Asked()
    engine(asked)
    assert resume(tmp_path, "--shrink", "0") == Exit.VIOLATIONS
    assert asked.cases == ()
    after = json.loads((tmp_path / "summary.json").read_text())
    assert (after["statuses"], after["findings"].keys()) == (before["statuses"], before["findings"].keys())
    engine(Says(lambda rows, _log: {"rows": rows[1:]}))
    assert resume(tmp_path) == Exit.VIOLATIONS
    small = json.loads((tmp_path / "summary.json").read_text())["findings"]
    assert sum(one["items"] for one in small.values()) < sum(one["items"] for one in after["findings"].values())


@pytest.mark.parametrize(
    ("changes", "options"), [({}, ("--seed", "1")), ({}, ("--faults", "1")), ({"draws": VERSION - 1}, ())]
)
def test_a_report_of_other_jobs_does_not_go_on(changes, options, tmp_path, capsys):
    (tmp_path / "report.jsonl").write_text(json.dumps({**head_of("reference", 0), **changes}) + "\n")
    assert resume(tmp_path, *options) == Exit.BAD_INPUT
    assert "report of other jobs" in capsys.readouterr().err


def test_a_report_of_the_same_jobs_goes_on(tmp_path):
    (tmp_path / "report.jsonl").write_text(json.dumps(head_of("reference", 0)) + "\n")
    assert resume(tmp_path) == Exit.CONFORMANT


@pytest.mark.parametrize("restored", [{"9" * 5000: None}, {"1": 2**63}, {"0": 1}, {"1": -1}, {"1": True}, []])
def test_restores_that_are_none_break_the_protocol(restored):
    judged = Judge(Says(lambda rows, _log: {"rows": rows, "restored": restored})).run(CASE)
    assert "restored must say" in str(judged.wrongs[0])


def test_an_attempt_that_shows_nothing_did_not_go_on():
    judged = Judge(Says(lambda rows, _log: {"rows": rows, "restored": {"1": 3, "2": None}})).run(CASE)
    assert judged.restores == 0


def test_failures_are_made_small_when_all_jobs_have_run(monkeypatch):
    """By then an engine that was given up is started again."""

    class GivesUp(Loses):
        def run(self, request):
            return NotRun("given up") if self.started < 4 and request.case.endswith("-2") else super().run(request)

    asked = GivesUp()
    monkeypatch.setattr(shrinking, "MOST_RUNS", 2)
    result = run_jobs(asked, "x", 4)
    assert (result.counts["jobs"], result.counts["not run"]) == (4, 1)
    assert asked.started == 4
    assert result.found["fail LOG-LOSS"].first.case.name == "job-0-0"


def test_without_room_for_a_log_the_jobs_that_ran_are_told(tmp_path, monkeypatch, capsys):
    """The temporary folder is gone after the first job."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr(ReferenceJobs, "close", lambda _self: None, raising=False)
    run = ReferenceJobs.run

    def run_and_spoil(self, request):
        shutil.rmtree(scratch)
        return run(self, request)

    monkeypatch.setattr(ReferenceJobs, "run", run_and_spoil)
    assert main(["jobs", "--engine", "reference", "--jobs", "3"]) == Exit.CANNOT_WRITE
    said = capsys.readouterr()
    assert "1 job" in said.out
    assert "no temporary folder can be made: No such file or directory; set TMPDIR" in said.err


class Newer(ReferenceJobs):
    def start(self):
        return attrs.evolve(super().start(), version="another")


def test_a_report_is_not_resumed_with_another_version_of_the_engine(tmp_path, engine, capsys):
    """Its failures would be charged to the engine that runs now."""
    assert main(["jobs", "--engine", "reference", "--jobs", "2", "--report", str(tmp_path)]) == Exit.CONFORMANT
    engine(Newer())
    assert resume(tmp_path) == Exit.BAD_INPUT
    assert "job-0-0 ran on reference" in capsys.readouterr().err
