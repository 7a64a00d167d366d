"""`--engine spark-native` on the command line: how it is examined, without Spark; test_accused has all verbs."""

import pytest

from tests.conformance.judging.event_time.stand_in import StandIn
from tidegate.conformance.cli.main import main
from tidegate.conformance.engines.errors import WholeJobsOnlyError
from tidegate.conformance.engines.spark.native import engine
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.event_time.exam import CASES
from tidegate.conformance.kinds import resolve


def test_it_is_no_engine_of_the_protocol():
    with pytest.raises(WholeJobsOnlyError):
        resolve("spark-native")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--component", "valve"], "component valve"),
        (["--component", "job", "--component", "gate"], "component gate"),
        (["--stage", "golden"], "--stage"),
        (["--semantics", "flink-40475"], "--semantics"),
        (["--extra-states", "1"], "--extra-states"),
        (["--expect", "known.txt"], "--expect"),
    ],
)
def test_options_for_components_are_refused(options, named, capsys):
    with pytest.raises(SystemExit) as raised:
        main(["run", "--engine", "spark-native", *options])
    assert raised.value.code == Exit.USAGE
    assert named in capsys.readouterr().err


@pytest.fixture
def started(monkeypatch):
    """What the engine was started with; a stand-in takes its place."""
    made = []

    class Started(StandIn):
        def __init__(self, *args):
            super().__init__()
            made.append(args)

        def __enter__(self):
            return self

        def __exit__(self, *_args):
            pass

    monkeypatch.setattr(engine, "SparkNative", Started)
    return made


@pytest.mark.parametrize(
    ("options", "master"),
    [
        (["spark-native"], ""),
        (["spark-native:local[3]"], "local[3]"),
        (["spark-native", "--master", "spark://host:7077"], "spark://host:7077"),
        (["spark-native:local[3]", "--master", "local[1]"], "local[3]"),
    ],
)
def test_the_master_reaches_the_engine(started, options, master, capsys):
    assert main(["run", "--engine", *options, "--component", "job", "--timeout", "7", "--cases", "0"]) == 0
    assert started == [(master, 7.0)]
    assert "Where it differs from Flink" in capsys.readouterr().out


def test_the_help_tells_how_many_traces_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert f"{CASES} random traces" in " ".join(capsys.readouterr().out.replace("-\n", "-").split())


def test_markdown(started, capsys):
    assert main(["run", "--engine", "spark-native", "--cases", "1", "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# Event time of `spark-native`")
    assert "| LOG-STATUS | skipped: the engine shows no idleness |" in out


def test_without_java_it_cannot_start(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert main(["run", "--engine", "spark-native"]) == Exit.CANNOT_START
    assert "need Java, and there is none" in capsys.readouterr().err
