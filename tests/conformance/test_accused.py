"""Every kind of engine with every verb that takes `--engine`: what is started is what is named, wherever it is named.

What starts is a stub here: `Maker.load`, which imports the class that a kind starts, notes its path and arguments and
gives a stand-in. No Java, no Spark and no broker runs. All else is real: the command line, the judges, the reports.
The stand-ins are wrong, so that there is something to reproduce, and call themselves `reference`: what an engine calls
itself must never be taken for what stands after `--engine`.
"""

import html
import json
import re
import shlex
from argparse import _SubParsersAction
from xml.etree import ElementTree as ET

import attrs
import pytest

import tidegate
from tests.conformance.judging.event_time.stand_in import StandIn
from tidegate.conformance import kinds, pytest_plugin
from tidegate.conformance.cli.main import main, make_parser
from tidegate.conformance.engines.base import Crashed
from tidegate.conformance.engines.errors import WholeJobsOnlyError
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.conformance.engines.museum.engines import Engine as Museum
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs.reference_jobs import ReferenceJobs
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.reports.findings import describe
from tidegate.traces.notation.text import read_case

ENGINES = "tidegate.conformance.engines."
TRACE = ["--component", "valve", "--config", '{"channels":3}', "--trace", "0w3 1w1 2w2"]
FEW = ["--component", "valve", "--stage", "directed", "--stage", "golden", "--jobs", "1"]
#: Each verb that takes --engine, with options that make it short.
VERBS = {
    "run": FEW,
    "replay": TRACE,
    "smoke": [],
    "diff": [*TRACE, "--engine", "exec:./another"],
    "campaign": ["--local", "--component", "valve", "--cases", "60"],
    "jobs": ["--jobs", "1", "--shrink", "0"],
}


@attrs.frozen
class Kind:
    """A text of a kind, and by hand what must be started: for cases, for jobs, and for `run` without components.

    Each is the module and class with, if it decides who answers, one of its arguments.
    """

    text: str
    cases: str = ""
    jobs: str = ""
    exam: str = ""


KINDS = (
    Kind("reference", "judging.reference_engine:Reference", "judging.jobs.reference_jobs:ReferenceJobs"),
    Kind("flink:2.3.0", "flink.engine:FlinkEngine 2.3.0", "flink.jobs.engine:FlinkJobs 2.3.0"),
    Kind("flink-v2:2.3.0", jobs="flink.jobs.engine:FlinkJobs 2.3.0 kit=v2"),
    Kind("flink-splits:2.3.0", jobs="flink.jobs.engine:FlinkJobs 2.3.0 kit=splits"),
    Kind("flink-cluster:2.3.0", jobs="flink.cluster.engine:FlinkClusterJobs 2.3.0"),
    Kind("flink-sql:2.3.0", jobs="flink.jobs.sql:FlinkSql 2.3.0"),
    Kind(
        "spark:local[2]",
        "spark.process:SparkEngine local[2]",
        "spark.process:SparkEngine local[2] what=spark.streaming.jobs:SparkJobs",
    ),
    Kind(
        "spark-native:local[2]",
        jobs="spark.process:SparkEngine local[2] what=spark.native.jobs:SparkNativeJobs",
        exam="spark.native.engine:SparkNative local[2]",
    ),
    Kind("bytewax:/its/python", jobs="python.engine:PythonEngine bytewax.adapter:Bytewax python=/its/python"),
    Kind("quix:/its/python", jobs="python.engine:PythonEngine quix.adapter:Quix python=/its/python"),
    Kind("faust:/its/python", jobs="python.engine:PythonEngine faust.adapter:Faust python=/its/python"),
    Kind("beam:/its/python", jobs="python.engine:PythonEngine beam.adapter:Beam python=/its/python"),
    Kind("python:mine.engine:Mine", *["python.engine:PythonEngine mine.engine:Mine"] * 2),
    Kind("exec:./mine --fast", *["processes.process:ProcessEngine ./mine --fast"] * 2),
)


def name_kind(kind):
    return kind.text.partition(":")[0]


each_kind = pytest.mark.parametrize("kind", KINDS, ids=name_kind)
#: A kind with an exam has a `run` with options of its own, and a test of its own.
CALLS = [(verb, kind) for verb in VERBS for kind in KINDS if not (verb == "run" and kind.exam)]


def named(kind):
    """What a command that names the engine has after `--engine`, as a shell reads it."""
    return f"--engine {shlex.quote(kind.text)}"


class Impostor(InProcess):
    """A wrong valve that says that it is the reference; or a right one."""

    def __init__(self, mutant):
        museum = Museum(mutant)
        about = {"name": "reference", "version": "1", "language": "none"}
        described = {**museum.describe(), "implementation": about}
        museum.describe = lambda: described
        super().__init__(museum)


class Dies(JobEngine):
    def start(self):
        return ReferenceJobs().start()

    def run(self, _request):
        return Crashed("it dies")

    def close(self):
        pass


class WrongStandIn(StandIn):
    def __init__(self):
        super().__init__(loses=(3, 11))

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        pass


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Whom a kind has started, in order."""
    made = []

    def load(maker):
        path = maker.path.removeprefix(ENGINES).removeprefix("tidegate.conformance.")
        if path == "jobs:ProtocolJobs":  # it was started before, and is only wrapped
            return lambda _engine: Dies()

        def make(*args, **more):
            words = [path]
            for arg in args:
                words += [arg] if isinstance(arg, str) else arg if isinstance(arg, list) else []
            words += [f"{name}={value}" for name, value in more.items() if name != "check"]
            made.append(" ".join(word.replace(ENGINES, "") for word in words))
            if path == "spark.native.engine:SparkNative":
                return WrongStandIn()
            is_jobs = path.endswith(("Jobs", "FlinkSql"))
            return Dies() if is_jobs else Impostor(None if "./another" in made[-1] else "valve-maximum-for-minimum")

        return make

    monkeypatch.setattr(kinds.Maker, "load", load)
    monkeypatch.setattr("sys.argv", ["tidegate"])
    monkeypatch.chdir(tmp_path)
    return made


def test_every_kind_and_every_verb_is_here():
    assert [kind.text.partition(":")[0] for kind in KINDS] == [kind.name for kind in kinds.KINDS]
    (verbs,) = (one for one in make_parser()._actions if isinstance(one, _SubParsersAction))
    with_engine = {name for name, one in verbs.choices.items() if "--engine" in one.format_usage()}
    assert with_engine == VERBS.keys()


@pytest.mark.parametrize(("verb", "kind"), CALLS, ids=lambda one: one if isinstance(one, str) else name_kind(one))
def test_what_is_started_is_what_is_named(verb, kind, started, tmp_path, capsys):
    folder = tmp_path / "report"
    code = main([verb, "--engine", kind.text, *VERBS[verb], "--report", str(folder)])
    said = capsys.readouterr()
    wanted = kind.jobs if verb == "jobs" else kind.cases
    if not wanted:
        assert code == Exit.USAGE
        assert f"tidegate jobs {named(kind)}" in said.err
        assert not started
        assert not folder.exists()
        return
    assert code == Exit.VIOLATIONS, said.err
    assert set(started) - {"processes.process:ProcessEngine ./another"} == {wanted}
    commands = set(re.findall(r"tidegate \w+ (--engine .*)", said.out))
    assert commands
    assert all(command.startswith(f"{named(kind)} ") for command in commands), commands
    check_report(verb, folder, kind)


def check_report(verb, folder, kind):
    page = html.unescape((folder / "index.html").read_text(encoding="utf-8"))
    assert kind.text in page
    assert "--engine reference" not in page or kind.text == "reference"
    if (lines := folder / "report.jsonl").exists():
        head, *rest = map(json.loads, lines.read_text(encoding="utf-8").splitlines())
        assert head["engine"] == kind.text
        told = [line["reproduce"] for line in rest if "reproduce" in line]
        assert told or verb == "jobs"
        assert all(f" {named(kind)} " in command for command in told)
    if (junit := folder / "junit.xml").exists():
        assert root_of(junit).get("name") == f"tidegate {kind.text}"
    for summary in folder.glob("summary.*"):
        assert kind.text in summary.read_text(encoding="utf-8")
    assert lines.exists() or verb in ("smoke", "diff", "campaign")


def root_of(file):
    return ET.parse(file).getroot()  # noqa: S314 - we wrote it


def test_the_exam_of_an_engine_is_of_that_engine(started, tmp_path, capsys):
    (kind,) = (one for one in KINDS if one.exam)
    assert main(["run", "--engine", kind.text, "--cases", "2", "--report", str(tmp_path)]) == Exit.VIOLATIONS
    assert started == [kind.exam]
    assert "Where it differs from Flink" in capsys.readouterr().out
    head, *_rest = map(json.loads, (tmp_path / "report.jsonl").read_text(encoding="utf-8").splitlines())
    assert head["engine"] == kind.text
    assert root_of(tmp_path / "junit.xml").get("name") == f"tidegate {kind.text}"
    assert f"`{kind.text}`" in (tmp_path / "summary.md").read_text(encoding="utf-8")


@each_kind
def test_the_library_and_the_plugin_start_it_or_refuse_it(kind, started):
    calls = {
        "run": lambda: tidegate.run(kind.text, components=["valve"], stages=["directed"]),
        "replay": lambda: tidegate.replay(kind.text, "valve", {"channels": 3}, TRACE[-1]),
        "state_machine": lambda: tidegate.state_machine("valve", kind.text).subject.runner,
        "pytest": lambda: pytest_plugin.make_suite(Options(kind.text)),
    }
    for name, call in calls.items():
        if kind.cases:
            result = call()
            assert set(started) == {kind.cases}, name
            if isinstance(result, tidegate.Result):
                assert result.engine == kind.text
                assert all(f" {named(kind)} " in one.finding.reproduce for one in result.counterexamples)
        else:
            with pytest.raises(
                (WholeJobsOnlyError, pytest.UsageError), match=re.escape(f"tidegate jobs {named(kind)}")
            ):
                call()
            assert not started, name


class Options:
    """The options of the plugin, as pytest holds them."""

    def __init__(self, engine):
        self._values = {"engine": engine, "timeout": 5.0, "cases": 1, "seed": 0, "component": ["valve"]}

    def getoption(self, name):
        return self._values.get(name.removeprefix("--tidegate-"))


# --- objects, which no command names -------------------------------------------------------------------------------


def play_again(result, engine):
    """What the call that reproduces a failure gives."""
    (counterexample, *_others) = result.counterexamples
    said = counterexample.finding.reproduce
    assert "--engine" not in said
    return eval(said, {"tidegate": tidegate, "engine": engine})  # noqa: S307 - it is ours


def test_the_name_that_an_engine_gives_itself_is_no_text_of_an_engine():
    engine = Impostor("valve-maximum-for-minimum")
    result = tidegate.run(engine, components=["valve"], stages=["directed"])
    assert result.engine == "object:reference"
    assert play_again(result, engine).exit_code is Exit.VIOLATIONS


def test_an_object_that_was_made_with_arguments_is_reproduced_by_a_call():
    """The command would start its class without them: the right engine."""
    engine = Museum("valve-maximum-for-minimum")
    result = tidegate.run(engine, components=["valve"], stages=["directed"])
    assert play_again(result, engine).exit_code is Exit.VIOLATIONS


class Plain(Museum):
    def __init__(self):
        super().__init__("valve-last-survives-case")


def test_an_object_of_a_class_that_takes_no_arguments_is_reproduced_by_a_command():
    result = tidegate.run(Plain(), components=["valve"], stages=["directed"])
    name = "python:tests.conformance.test_accused:Plain"
    assert result.engine == name
    assert all(f"--engine {name} " in one.finding.reproduce for one in result.counterexamples)


@pytest.mark.parametrize(("times", "code"), [(1, Exit.CONFORMANT), (2, Exit.VIOLATIONS)])
def test_state_that_leaks_shows_when_a_trace_is_replayed_twice(times, code):
    said = describe(LEAK, "object:mine", times=times).reproduce
    assert ("times=" in said) is (times > 1)
    assert eval(said, {"tidegate": tidegate, "engine": Plain()}).exit_code is code  # noqa: S307 - it is ours


LEAK = Verdict(read_case("valve", {"channels": 1}, "0w1"), "replay", Status.TIMEOUT)


# --- what is wrong about the text ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["run", "--engine", "spark-native:nonsense"], Exit.USAGE, "is not a Spark master"),
        (["run", "--engine", "spark:local[0]"], Exit.USAGE, "is not a Spark master"),
        (["jobs", "--engine", "spark:nonsense"], Exit.USAGE, "is not a Spark master"),
        (["jobs", "--engine", "bytewax:/nowhere/python"], Exit.CANNOT_START, "there is no program to run"),
        (["jobs", "--engine", "flink-v2:latest"], Exit.USAGE, "is not a version of Flink"),
        (["jobs", "--engine", "flink-sql:latest"], Exit.USAGE, "is not a version of Flink"),
        (["jobs", "--engine", "flink-cluster:1.20.0"], Exit.USAGE, "is not a version of Flink"),
        (["run", "--engine", "flink:2"], Exit.USAGE, "is not a version of Flink"),
        (["run", "--engine", "bytewax:"], Exit.USAGE, "tidegate jobs --engine bytewax:"),
        (["run", "--engine", "object:reference"], Exit.USAGE, "there is no engine 'object:reference'"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else None,
)
def test_a_master_a_python_and_a_version_that_are_none(words, code, told, capsys):
    assert main(words) == code
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--engine", "spark"],
        ["campaign", "--engine", "reference", "--cases", "1", "--out", "x"],
        ["audit", "x"],
        ["generate", "log", "--events", "1", "--out", "x"],
        ["generate", "spark-page"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_every_master_is_looked_at_before_anything_is_done(words, capsys):
    with pytest.raises(SystemExit) as left:
        main([*words, "--master", "nonsense"])
    assert left.value.code == Exit.USAGE
    assert "'nonsense' is not a Spark master" in capsys.readouterr().err
