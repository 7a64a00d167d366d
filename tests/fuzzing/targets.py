"""What reads things from outside: documents to begin with, the reader, and the errors that it may raise."""

import json
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import attrs

from tests.paths import ROOT
from tidegate.conformance.audit.sources import LogFileError, read_footer
from tidegate.conformance.campaign.folder import CampaignFolderError, DamagedChunkError, Folder
from tidegate.conformance.campaign.outcome import Outcome
from tidegate.conformance.campaign.plan import Plan
from tidegate.conformance.cli.museum import Kept
from tidegate.conformance.documents.engines_page import read_report as read_engine_report
from tidegate.conformance.engines import messages
from tidegate.conformance.engines.base import Claim
from tidegate.conformance.engines.errors import EngineError
from tidegate.conformance.judging.expectations import ExpectationsFileError, read_expectations
from tidegate.conformance.judging.expected import expect
from tidegate.conformance.judging.jobs.drawing import draw_job
from tidegate.conformance.judging.jobs.judging import Judge as JobJudge
from tidegate.conformance.judging.jobs.reference_jobs import ABILITIES, ReferenceJobs
from tidegate.conformance.judging.jobs.report import head_of, read_jobs
from tidegate.conformance.judging.jobs.rows import BadRowsError
from tidegate.conformance.judging.jobs.run import describe as describe_job
from tidegate.conformance.judging.jobs.run import run_jobs
from tidegate.conformance.judging.judge_fast import Judge
from tidegate.conformance.judging.kill_matrix import Kill, Row, show_row
from tidegate.conformance.reports.findings import describe
from tidegate.conformance.reports.folder import FORMAT
from tidegate.conformance.web.matrix.columns import read_report
from tidegate.conformance.web.matrix.page import write_matrix
from tidegate.conformance.web.playing import PlayError, answer
from tidegate.conformance.web.serving import Handler
from tidegate.properties.drawing.cases import draw_case
from tidegate.reference.components import COMPONENTS
from tidegate.traces import codec, files, runlog
from tidegate.traces.notation import text as notation
from tidegate.traces.strict_json import JsonError, read_json


@attrs.frozen
class Target:
    """`read` is given a path where there is a document, and raises one of `errors` or nothing."""

    seeds: Callable[[], list[list[bytes]]]
    read: Callable[[Path], None]
    errors: tuple[type[Exception], ...]

    def refuses(self, path, document):
        """Whether the document is refused, with words that can be shown anywhere."""
        path.write_bytes(document)
        try:
            self.read(path)
        except self.errors as error:
            said = str(error)
        else:
            return False
        assert all(line.isprintable() for line in said.split("\n")), said
        return True


def to_json(value):
    return json.dumps(value, ensure_ascii=False).encode()


@cache
def short_cases():
    return [draw_case(component, "fuzz", index) for component in COMPONENTS for index in range(2)]


def trace_files():
    head = to_json({"format": files.FORMAT, "suite": "0.1.0", "seed": 0})
    cases = [to_json(codec.encode_case(case)) for case in short_cases()]
    return [[head, *cases[at : at + 2], to_json({"cases": 2})] for at in range(0, len(cases), 2)]


def notations():
    """A component, a config, and a trace in short notation, each on a line of its own."""
    return [
        [
            case.component.encode(),
            to_json(codec.encode(case.config)),
            notation.write_trace(case.component, case.events).encode(),
        ]
        for case in short_cases()
    ]


def read_notation(path):
    lines = path.read_bytes().decode("utf-8", "surrogateescape").split("\n")
    component, config, trace = (*lines, "", "")[:3]
    notation.read_case(component, read_json(config), trace)


def replies():
    """The number of a case, and what is right to say of it."""
    shown = [(number, expect(case)[0]) for number, case in enumerate(short_cases())]
    right = [(number, {"steps": [list(map(codec.encode, step)) for step in steps]}) for number, steps in shown if steps]
    return [[to_json(number), to_json({"id": 1, "ok": ok})] for number, ok in right]


def read_reply(path):
    """As a conversation does: parsed, read, judged, and told."""
    number, _, line = path.read_bytes().partition(b"\n")
    case = short_cases()[int(number) % len(short_cases()) if number.isdigit() and len(number) < 9 else 0]
    reply = messages.read_reply(messages.Parser().parse(line), len(case.events))
    told = describe(Judge().reach(case, "fuzz", reply), "exec:./engine").text()
    assert all(part.isprintable() for part in told.split("\n")), told


def hellos():
    implementation = {"name": "mine", "version": "1", "language": "c"}
    components = {"valve": {"semantics": ["flink-7728"]}, "partitioner": {"kinds": ["hash"]}}
    hello = {"protocol": 1, "implementation": implementation, "components": components}
    jobs = codec.encode(attrs.evolve(ABILITIES, chaining=False))
    return [[to_json({"id": 1, "ok": ok})] for ok in (hello, {**hello, "jobs": jobs})]


def read_hello(path):
    messages.read_description(messages.Parser().parse(path.read_bytes()), 1)


def expectations():
    lines = [b"# known", b"case valve-* -- it was never right", b"", b"rule VALVE-5 -- breaks VALVE-5"]
    return [lines, lines[1:2]]


def questions():
    """What the playground is asked."""
    asked = [
        {"ask": "component"},
        {"ask": "play", "config": {"channels": 2, "semantics": "flink-7728"}, "trace": "0w1 1i"},
    ]
    return [[to_json({"component": "valve", **one})] for one in asked]


def read_question(path):
    answered = json.loads(Handler._answer(SimpleNamespace(server=SimpleNamespace(answer=answer)), path.read_bytes()))
    if "error" in answered:
        raise PlayError(answered["error"]["message"])


def reports():
    verdict = {"component": "valve", "stage": "directed", "case": "valve-1", "verdict": "pass"}
    footer = {"verdicts": 2, "complete": True, "exit": 0}
    return [list(map(to_json, ({"format": FORMAT, "engine": "reference", "seed": 0}, verdict, verdict, footer)))]


def read_report_page(path):
    with TemporaryDirectory() as place:
        write_matrix([read_report(path)], Path(place))


JOB = draw_job(0, 2, attrs.evolve(ABILITIES, chaining=False))
HEAD = head_of("reference", 0)


@cache
def rows_of_a_job():
    return [to_json(row) for row in ReferenceJobs().run(JOB.as_request()).answer["rows"]]


def read_job_rows(path):
    """As a judge does that was told where an engine has written them."""
    judged = JobJudge(ReferenceJobs()).judge(JOB, {"log": str(path)})
    if judged.wrongs:
        raise BadRowsError("\n".join(map(str, judged.wrongs)))


def job_reports():
    judge = JobJudge(ReferenceJobs())
    told = [describe_job(judge.run(draw_job(0, at, ABILITIES)), judge.description.implementation) for at in range(2)]
    return [list(map(to_json, (HEAD, *told, {"jobs": 2, "exit": 0})))]


def read_job_reports(path):
    with TemporaryDirectory() as place:
        copyfile(path, Path(place) / "report.jsonl")
        run_jobs(ReferenceJobs(), "reference", 0, known=read_jobs(Path(place), HEAD, range(9)))
    read_report_page(path)


def engine_reports():
    """What a page of engines is made of."""
    return [path.read_bytes().splitlines() for path in sorted((ROOT / "docs/engines").glob("*.json"))]


def museum_rows():
    kill = Kill("directed", 3, 0.25, 2, ("VALVE-10",), named=True)
    rows = [Row(name, "valve", "VALVE-10", (kill,), "VALVE-10", ("VALVE-10",), 0.5) for name in ("a", "b")]
    with TemporaryDirectory() as place:
        path = Path(place) / "rows"
        Kept(path, "fuzz", {"valve"}).add(rows)
        return [path.read_bytes().splitlines()]


def read_museum_rows(path):
    """A row that is not as it was written is not believed, and no error."""
    for name, row in Kept(path, "fuzz", {"valve"}).rows.items():
        show_row(row)
        assert name in ("a", "b")
    if len(Kept(path, "fuzz", {"valve"}).rows) < 2:
        raise JsonError("a row is missing")


PLAN = Plan("reference", "reference 1", {"valve": Claim()}, seed=1, cases=3, chunk=3)
(CHUNK,) = PLAN.chunks()


def manifests():
    return [[to_json(PLAN.manifest())]]


def read_manifest(path):
    with TemporaryDirectory() as place:
        folder = Folder(Path(place))
        copyfile(path, folder.manifest)
        with folder.opened(PLAN):
            pass


def chunks():
    with TemporaryDirectory() as place:
        folder = Folder(Path(place))
        folder.chunks.mkdir()
        folder.write(Outcome(CHUNK, {"pass": 3}, {(("VALVE-1",), ("rejected",)): 2}), PLAN)
        return [[folder.done(CHUNK).read_bytes()]]


def read_chunk(path):
    with TemporaryDirectory() as place:
        folder = Folder(Path(place))
        folder.chunks.mkdir()
        copyfile(path, folder.done(CHUNK))
        folder.read(CHUNK, PLAN, evidence=True)


def run_logs():
    """The metadata of a run log: its job, whether it is complete, and the name of the run."""
    edge = runlog.Edge(0, "map", "sink", "hash", "all_to_all", 2, 2, max_parallelism=128)
    return [
        [
            to_json(codec.encode(runlog.Job("test", "flink-7728", (edge, attrs.evolve(edge, number=1))))),
            b"true",
            b"run-1",
        ]
    ]


def read_run_log(path):
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    known = dict(zip((b"job", b"complete", b"run"), path.read_bytes().split(b"\n"), strict=False))
    kinds = {name: arrow.int64() if name in runlog.INTEGERS else arrow.string() for name in runlog.COLUMNS}
    table = arrow.schema(list(kinds.items())).empty_table().replace_schema_metadata(known)
    parquet.write_table(table, path)
    read_footer(str(path))


TARGETS = {
    "trace files": Target(trace_files, files.read_traces, (files.TraceFileError,)),
    "strict trace files": Target(
        trace_files, lambda path: files.read_traces(path, strict=True), (files.TraceFileError,)
    ),
    "notation": Target(notations, read_notation, (codec.DecodeError, JsonError)),
    "replies": Target(replies, read_reply, (messages.MalformedLineError,)),
    "hello": Target(hellos, read_hello, (messages.MalformedLineError, EngineError)),
    "expectations": Target(expectations, read_expectations, (ExpectationsFileError,)),
    "questions": Target(questions, read_question, (PlayError,)),
    "reports": Target(reports, read_report_page, (files.TraceFileError,)),
    "rows of jobs": Target(lambda: [rows_of_a_job()], read_job_rows, (BadRowsError,)),
    "reports of jobs": Target(job_reports, read_job_reports, (files.TraceFileError,)),
    "reports of engines": Target(engine_reports, read_engine_report, (files.TraceFileError,)),
    "rows of the museum": Target(museum_rows, read_museum_rows, (JsonError,)),
    "campaign manifests": Target(manifests, read_manifest, (CampaignFolderError,)),
    "campaign chunks": Target(chunks, read_chunk, (DamagedChunkError,)),
    "run logs": Target(run_logs, read_run_log, (LogFileError,)),
}
