import json
import subprocess
import sys

import pytest

from tests.processes import HANGS, PATIENCE
from tidegate.conformance import schemas
from tidegate.conformance.engines.errors import StrictModeUnavailableError
from tidegate.conformance.engines.messages import describe
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.reference_engine import ReferenceEngine
from tidegate.conformance.judging.run import Candidate
from tidegate.conformance.judging.smoke import Level, Smoked, lint_claims, pick_case, smoke
from tidegate.conformance.judging.trial import Encoder
from tidegate.conformance.judging.verdicts import Status
from tidegate.reference.components import COMPONENTS

RIGHT = "python:tidegate.conformance.engines.museum.engines:Right"

#: A whole engine, quick to start: it knows the answers to the cases of the smoke test, and refuses all others. What a
#: test wants done wrong is put in the middle.
ENGINE = """
import json, sys

answers = {answers!r}
components = {components!r}
status = 0

def say(message):
    print(json.dumps(message), flush=True)

def tweak(request, reply):
    return reply

def bye():
    sys.exit(status)

{wrong}

for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        about = {{"name": "tiny", "version": "1", "language": "python"}}
        ok = {{"protocol": 1, "implementation": about, "components": components}}
        say(tweak(request, {{"id": request["id"], "ok": ok}}))
    elif request["op"] == "bye":
        bye()
    else:
        steps = answers.get(json.dumps([request[key] for key in ("component", "config", "events")]))
        refusal = {{"error": {{"kind": "bad_request", "message": "no such case"}}}}
        say(tweak(request, {{"id": request["id"], **({{"ok": {{"steps": steps}}}} if steps else refusal)}}))
"""

NEVER_FLUSHES = """
def tweak(request, reply):
    if "steps" in reply.get("ok", {}):
        reply["ok"]["steps"][-1] = [{"type": "status", "status": "idle"}]
    return reply
"""


def answers_for(components: dict[str, dict[str, list[str]]]) -> dict[str, list[list[dict[str, str]]]]:
    about = {"implementation": {"name": "", "version": "", "language": ""}, "components": components}
    claims = describe({"protocol": 1, **about}, window=1).components
    picked = [pick_case(name, claim) for name, claim in claims.items() if name in COMPONENTS]
    requests = [Encoder().request(case) for case in picked if case is not None]
    results = ReferenceEngine().replay([one.as_case() for one in requests])
    keys = [json.dumps([one.component, one.config, one.events]) for one in requests]
    return {key: result["steps"] for key, result in zip(keys, results, strict=True)}


@pytest.fixture
def tiny(tmp_path):
    """Writes a tiny engine and gives the text that names it."""

    def write(wrong="", components=None):
        declared = {"valve": {}} if components is None else components
        path = tmp_path / "tiny engine.py"
        path.write_text(ENGINE.format(answers=answers_for(declared), components=declared, wrong=wrong))
        return f"exec:{sys.executable} -S -E '{path}'"

    return write


def look_at(engine: str, *, strict: bool = False, **limits: float) -> Smoked:
    return smoke(Candidate(engine, strict=strict, limits={"case_timeout": 2.0, "bye_grace": 0.3} | limits))


def remarks(smoked: Smoked) -> str:
    return "\n".join(f"{one.level} {one.place}: {one.message} ({one.hint})" for one in smoked.remarks)


def test_a_right_engine_passes_without_a_remark(tiny):
    smoked = look_at(tiny(components={"valve": {}, "partitioner": {"kinds": ["hash"]}, "wiring": {}}))
    assert [one.case.component for one in smoked.verdicts] == ["wiring", "partitioner", "valve"]
    assert {one.status for one in smoked.verdicts} == {Status.PASS}
    assert smoked.remarks == ()
    assert smoked.exit_code is Exit.CONFORMANT


@pytest.mark.parametrize("engine", ["reference", RIGHT])
def test_every_component_has_a_case_and_probes_that_the_right_engines_refuse(engine):
    smoked = look_at(engine)
    assert set(smoked.description.components) == {one.case.component for one in smoked.verdicts}
    assert smoked.exit_code is Exit.CONFORMANT, remarks(smoked)
    assert smoked.remarks == ()


def test_a_wrong_answer_comes_with_two_ways_to_see_it_again(tiny, tidegate):
    engine = tiny(NEVER_FLUSHES)
    code, out, _ = tidegate("smoke", "--engine", engine)
    assert code == Exit.VIOLATIONS
    assert "valve breaks VALVE-10" in out
    assert "tidegate replay --engine" in out
    by_hand = next(line.strip().removeprefix("by hand  ") for line in out.splitlines() if line.startswith("  by hand"))
    shown = subprocess.run(["/bin/sh", "-c", by_hand], capture_output=True, text=True, timeout=PATIENCE, check=True)
    hello, replay = map(json.loads, shown.stdout.splitlines())
    assert hello["ok"]["implementation"]["name"] == "tiny"
    assert replay["ok"]["steps"][-1] == [{"type": "status", "status": "idle"}]


@pytest.mark.parametrize(
    ("wrong", "level", "said"),
    [
        pytest.param(
            """
def tweak(request, reply):
    for step in reply.get("ok", {}).get("steps", []):
        for seen in step:
            if "timestamp" in seen:
                seen["timestamp"] = int(seen["timestamp"])
    return reply
""",
            Level.ERROR,
            "a 64-bit quantity is a decimal string",
            id="timestamps as numbers",
        ),
        pytest.param(
            "def tweak(request, reply): return {**reply, 'took_ms': 3}",
            Level.WARNING,
            "leave it out",
            id="unknown keys",
        ),
        pytest.param(
            "def tweak(request, reply): return {**reply, 'id': 1}", Level.ERROR, "echo the id", id="ids not echoed"
        ),
        pytest.param(
            """
def tweak(request, reply):
    if request["op"] == "replay":
        print("replaying", request["case"], flush=True)
    return reply
""",
            Level.ERROR,
            "print everything else to standard error",
            id="noise on standard output",
        ),
        pytest.param("status = 3", Level.ERROR, "exited with status 3", id="status at bye"),
        pytest.param("def bye(): pass", Level.WARNING, "only when its standard input ended", id="bye not heard"),
        pytest.param("def bye(): say({'id': 9, 'ok': {}})", Level.ERROR, "bye has no reply", id="bye answered"),
        pytest.param(
            """
def tweak(request, reply):
    if reply.get("error", {}).get("kind") == "bad_request":
        return {"id": request["id"], "ok": {"steps": [[] for event in request["events"]]}}
    return reply
""",
            Level.WARNING,
            "a config with channels 0 is not refused with bad_request",
            id="bad requests answered",
        ),
        pytest.param(
            """
def tweak(request, reply):
    if "error" in reply:
        sys.exit(1)
    return reply
""",
            Level.ERROR,
            "is not refused with bad_request: the engine exited with status 1",
            id="bad requests kill it",
        ),
    ],
)
def test_lint(tiny, wrong, level, said):
    smoked = look_at(tiny(wrong))
    assert said in remarks(smoked)
    assert any(one.level is level and said in f"{one.message} {one.hint}" for one in smoked.remarks), remarks(smoked)
    assert (smoked.exit_code is Exit.VIOLATIONS) == (level is Level.ERROR)


@pytest.mark.parametrize(
    ("components", "said"),
    [
        ({"valve": {}, "partitoner": {}}, "did you mean partitioner?"),
        ({"valve": {}, "teleporter": {}}, "this suite has no such component"),
        ({"valve": {}, "partitioner": {"kinds": ["hash", "rebalanced"]}}, "did you mean rebalance?"),
        ({"valve": {}, "wiring": {"kinds": ["pointwize"]}}, "did you mean pointwise?"),
        ({"valve": {"semantics": ["flink-7728", "flink-7729"]}}, "flink-7729 is not one of the semantics"),
        ({"valve": {"kinds": ["any"]}}, "this component has no kinds"),
        ({"valve": {}, "barriers": {"extensions": ["late_timer"]}}, "did you mean late_timers?"),
    ],
)
def test_lint_of_what_is_declared(components, said):
    about = {"implementation": {"name": "tiny", "version": "1", "language": "python"}, "components": components}
    found = list(lint_claims(describe({"protocol": 1, **about}, window=1)))
    assert [one.level for one in found] == [Level.WARNING]
    assert said in f"{found[0].message} {found[0].hint}"


def test_strict_counts_warnings(tiny):
    engine = tiny("def tweak(request, reply): return {**reply, 'took_ms': 3}")
    assert look_at(engine).exit_code is Exit.CONFORMANT
    assert look_at(engine, strict=True).exit_code is Exit.VIOLATIONS


def test_without_jsonschema_all_but_the_schemas_is_looked_at(tiny, monkeypatch):
    def unavailable(*_arguments, **_options):
        raise StrictModeUnavailableError("jsonschema is not installed", "pip install it")

    monkeypatch.setattr(schemas, "check", unavailable)
    smoked = look_at(tiny("status = 3"))
    assert "note schemas: messages were not checked against them (pip install it)" in remarks(smoked)
    assert "exited with status 3" in remarks(smoked)
    with pytest.raises(StrictModeUnavailableError):
        look_at(tiny(), strict=True)


@pytest.mark.parametrize("components", [{}, {"valv": {}}, {"partitioner": {"kinds": ["custom"]}}])
def test_nothing_to_try_is_undetermined(tiny, tidegate, components):
    code, out, _ = tidegate("smoke", "--engine", tiny(components=components))
    assert code == Exit.UNDETERMINED
    assert "not tried" in out or "Nothing was tried" in out


def test_a_hang_is_a_finding_and_does_not_stop_the_rest(tiny):
    wrong = """
def tweak(request, reply):
    if request.get("component") == "valve":
        import time
        time.sleep(60)
    return reply
"""
    smoked = look_at(tiny(wrong, components={"valve": {}, "wiring": {}}), case_timeout=HANGS)
    assert {one.case.component: one.status for one in smoked.verdicts} == {
        "valve": Status.TIMEOUT,
        "wiring": Status.PASS,
    }
    assert smoked.exit_code is Exit.VIOLATIONS


def test_a_refused_case_blames_no_rule(tiny, tidegate):
    wrong = "answers.clear()"
    code, out, _ = tidegate("smoke", "--engine", tiny(wrong))
    assert code == Exit.VIOLATIONS
    assert "valve: error\n  the engine answered bad_request: no such case" in out


def test_an_engine_that_cannot_start(tidegate, tiny):
    engine = tiny("print('Welcome!', flush=True)")
    code, out, err = tidegate("smoke", "--engine", engine)
    assert (code, out) == (Exit.CANNOT_START, "")
    assert "Welcome!" in err
    assert "by hand: printf" in err
    code, out, _ = tidegate("smoke", "--engine", engine, "--format", "json")
    assert code == Exit.CANNOT_START
    assert json.loads(out)["error"]["by_hand"].startswith("printf")


def test_usage(tidegate):
    assert tidegate("smoke")[0] == Exit.USAGE
    assert tidegate("smoke", "--engine", "nonsense")[0] == Exit.USAGE


def test_formats(tiny, tidegate):
    engine = tiny(NEVER_FLUSHES, components={"valve": {}, "teleporter": {}})
    code, out, _ = tidegate("smoke", "--engine", engine, "--format", "json")
    found = json.loads(out)
    assert code == found["exit"] == Exit.VIOLATIONS
    assert found["cases"][0]["verdict"] == "fail"
    assert found["findings"][0]["by_hand"].startswith("printf")
    assert found["remarks"][0]["level"] == "warning"
    code, out, _ = tidegate("smoke", "--engine", engine, "--format", "markdown")
    assert code == Exit.VIOLATIONS
    assert "| valve | valve-directed-flush-when-all-idle | 4 | fail |" in out
    assert "## valve breaks VALVE-10" in out
