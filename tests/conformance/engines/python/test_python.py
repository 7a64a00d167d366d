"""Python engines, hosted in a process of their own and in ours: the same answers from both."""

import pytest

from tests.conformance.engines import python_engines
from tests.paths import PYTHONPATH
from tests.processes import HANGS, PATIENCE
from tidegate.conformance import engines
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.kinds import resolve

HERE = "python:tests.conformance.engines.python_engines"
NAMES = [*(f"before-{i}" for i in range(10)), "bad", *(f"after-{i}" for i in range(10))]


def cases(names=NAMES):
    for number, name in enumerate(names):
        yield engines.Request(
            name, "valve", {"channels": 1}, [{"type": "watermark", "channel": 0, "timestamp": str(number)}]
        )


def hosted(name, **options):
    patience = HANGS if name in ("Hangs", "IsSlow") else PATIENCE
    return resolve(f"{HERE}:{name}", **({"case_timeout": patience, "kill_grace": 0.2} | options))


def in_process(name, **_):
    return InProcess(getattr(python_engines, name)(), batch=4)


def with_care(name, **_):
    return InProcess(getattr(python_engines, name)(), batch=4, careful=True)


RIGHT = engines.Steps([[{"type": "watermark", "timestamp": "10"}]])


def replies(engine):
    with engine:
        return {request.case: reply for request, reply in engine.replay(cases())}


def assert_all_others_are_right(found):
    assert list(found) == NAMES
    for number, name in enumerate(NAMES):
        if name != "bad":
            assert found[name] == engines.Steps([[{"type": "watermark", "timestamp": str(number)}]]), name


def test_a_hosted_engine_describes_itself():
    with hosted("Echo") as engine:
        description = engine.start()
    assert (description.name, description.protocol, description.window) == ("echo", 1, 64)
    assert description.components == {"valve": engines.Claim(semantics=frozenset({"flink-7728"}))}
    assert engine.exit_status == 0


@pytest.mark.parametrize("name", ["Echo", "BareLists", "ReadsInput", "IsSlow"])
def test_prints_slowness_and_bare_lists_do_no_harm(name):
    engine = hosted(name)
    found = replies(engine)
    assert_all_others_are_right(found)
    assert found["bad"] == engines.Steps([[{"type": "watermark", "timestamp": "10"}]])
    assert engine.restarts == 0


@pytest.mark.parametrize("place", [hosted, in_process])
@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("Refuses", engines.Refused("unsupported", "no")),
        ("Raises", engines.Refused("internal", "LookupError: no such channel")),
        ("LosesResults", engines.Refused("internal", "ValueError: replay() returned 0 results for 1 cases")),
        ("IsNoResult", engines.Refused("internal", 'a result must be {"steps": …}, {"error": …} or a list of steps')),
    ],
)
def test_one_bad_case_does_not_spoil_its_batch(place, name, reply):
    found = replies(place(name))
    assert_all_others_are_right(found)
    assert found["bad"] == reply


def test_a_result_that_is_no_json():
    found = replies(hosted("IsNoJson"))
    assert_all_others_are_right(found)
    assert isinstance(found["bad"], engines.Refused)
    assert "the result is not JSON" in found["bad"].message


@pytest.mark.parametrize("place", [hosted, with_care])
@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("ChangesItsCases", RIGHT),
        ("AnswersWithTuples", RIGHT),
        ("RaisesOddly", engines.Refused("internal", "SystemExit: 3")),
        ("RaisesSpeechless", engines.Refused("internal", "Speechless, whose text cannot be read")),
        ("RaisesInterrupt", engines.Refused("internal", "KeyboardInterrupt: not yours")),
    ],
)
def test_odd_engines_are_judged_fairly(place, name, reply):
    engine = place(name)
    if (place, name) == (with_care, "RaisesInterrupt"):
        with pytest.raises(KeyboardInterrupt):  # here it may be ours
            replies(engine)
        return
    found = replies(engine)
    assert_all_others_are_right(found)
    assert found["bad"] == reply
    assert engine.restarts == 0


@pytest.mark.parametrize(("name", "kind"), [("Hangs", "TimedOut"), ("Exits", "Crashed")])
def test_a_hosted_engine_may_hang_and_die(name, kind):
    engine = hosted(name)
    found = replies(engine)
    assert_all_others_are_right(found)
    assert type(found["bad"]).__name__ == kind
    assert engine.restarts == 1


def test_requests_that_wait_become_batches():
    with hosted("CountsBatches") as engine:
        sizes = [reply.steps[0][0]["size"] for _, reply in engine.replay(cases([f"case-{i}" for i in range(500)]))]
    assert max(sizes) > 8
    assert sum(1 / size for size in sizes) < 100, "a batch for each case would be 500"


def test_batches_in_process_have_the_size_that_is_asked_for():
    with in_process("CountsBatches") as engine:
        sizes = [reply.steps[0][0]["size"] for _, reply in engine.replay(cases([f"case-{i}" for i in range(6)]))]
    assert sizes == [4, 4, 4, 4, 2, 2]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("tests.conformance.engines.python_engines:Missing", "AttributeError"),
        ("no_such_module:Missing", "ModuleNotFoundError"),
        ("tests.conformance.engines.python_engines:CannotBeMade", "broker"),
        ("tests.conformance.engines.python_engines:DescribesNothing", "describe() must give a dict"),
    ],
)
def test_a_class_that_cannot_be_started(path, words):
    with pytest.raises(engines.CannotStartError, match="answered hello with an error") as raised:
        resolve(f"python:{path}").start()
    assert words in raised.value.message


def test_the_current_directory_is_searched(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("from tests.conformance.engines.python_engines import Echo\n")
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    monkeypatch.chdir(tmp_path)
    with resolve("python:mine:Echo") as engine:
        assert engine.start().name == "echo"


@pytest.mark.parametrize("path", ["", "module", "module:", ":Name", "os; import sys:Name", "a-b:C"])
def test_what_names_no_class(path):
    with pytest.raises(engines.UnknownEngineError, match="does not name a Python class"):
        resolve(f"python:{path}")


def test_whoever_stands_in_a_folder_that_is_gone_has_an_engine(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    gone.rmdir()
    with resolve("python:tidegate.conformance.engines.museum.engines:Right") as engine:
        assert "valve" in engine.start().components
