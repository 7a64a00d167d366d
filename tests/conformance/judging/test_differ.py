import json
import shlex
import sys

import pytest

from tidegate.conformance.engines.base import Claim, Description
from tidegate.conformance.engines.museum import engine as museum
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.comparison import Comparison
from tidegate.conformance.judging.differ import common_ground, compare_cases
from tidegate.conformance.judging.reference_engine import ReferenceEngine
from tidegate.conformance.judging.suite import Planned
from tidegate.properties.drawing.cases import draw_case
from tidegate.properties.drawing.directed import directed
from tidegate.traces.cases import Case
from tidegate.traces.codec import decode, find_component
from tidegate.traces.notation.text import read_trace

MUSEUM = "python:tidegate.conformance.engines.museum.engines"
RIGHT = f"{MUSEUM}:Right"


class Tweaked:
    """The reference, with its answer to each case changed."""

    def __init__(self, change):
        self.inner = ReferenceEngine()
        self.change = change

    def describe(self):
        return self.inner.describe()

    def replay(self, cases):
        return [self.change(case, result) for case, result in zip(cases, self.inner.replay(cases), strict=True)]


def compare(engines, component="valve", cases=60, planned=None) -> Comparison:
    generated = [Planned("generated", draw_case(component, 0, index)) for index in range(cases)]
    written = [Planned("directed", one.case) for one in directed(component)]
    running = {name: InProcess(engine) for name, engine in engines.items()}
    return compare_cases(running, [*written, *generated] if planned is None else planned)


def trace(component, config, text) -> list[Planned]:
    read = decode(config, find_component(component).config)
    return [Planned("trace", Case("trace", component, read, read_trace(component, text)))]


def test_right_engines_agree_where_there_is_a_choice_too():
    comparison = compare({"a": ReferenceEngine(seed=1), "b": ReferenceEngine(seed=2)}, "partitioner", cases=15)
    assert comparison.count("agreed") > 0
    assert comparison.count("free") > 0
    assert comparison.count("agreed") + comparison.count("free") == comparison.counts.total()
    assert comparison.exit_code is Exit.CONFORMANT


def test_engines_that_are_wrong_alike_agree():
    comparison = compare({"a": museum("valve-never-flushes"), "b": museum("valve-never-flushes")})
    assert comparison.count("agreed") == comparison.counts.total()


@pytest.mark.parametrize("name", ["valve-never-flushes", "valve-maximum-for-minimum", "valve-rejoin-strict"])
def test_a_disagreement_is_made_small_and_the_specification_takes_sides(name):
    comparison = compare({"right": museum(None), "wrong": museum(name)}, cases=150)
    assert comparison.exit_code is Exit.VIOLATIONS
    assert comparison.divergences
    for found in comparison.divergences:
        assert found.sides == ("right",)
        assert len(found.trace.split()) <= 10
        assert found.rules
        assert [one.allowed for one in found.answers] == [True, False]
        assert found.answers[0].seen in found.allowed
        assert found.answers[0].seen != found.answers[1].seen


def test_each_of_several_engines_gets_its_own_disagreement():
    engines = {"max": museum("valve-maximum-for-minimum"), "right": museum(None), "dry": museum("valve-never-flushes")}
    comparison = compare(engines, cases=100)
    sides = {found.sides for found in comparison.divergences}
    assert any("max" not in one for one in sides)
    assert any("dry" not in one for one in sides)
    assert all("right" in one for one in sides)


def test_what_is_never_compared_is_no_disagreement():
    def chatty(_case, result):
        steps = [[{**seen, "reason": "because", "note": 1} for seen in step] for step in result["steps"]]
        return {"steps": steps}

    comparison = compare({"plain": ReferenceEngine(), "chatty": Tweaked(chatty)})
    assert comparison.exit_code is Exit.CONFORMANT
    assert comparison.count("agreed") == comparison.counts.total()


def test_true_is_not_1():
    def number(_case, result):
        return {
            "steps": [
                [{k: int(v) if v is True else v for k, v in one.items()} for one in step] for step in result["steps"]
            ]
        }

    planned = trace("gate", {"channels": 1}, "0data 0data poll")
    comparison = compare({"right": ReferenceEngine(), "number": Tweaked(number)}, planned=planned)
    assert comparison.exit_code is Exit.VIOLATIONS
    assert comparison.divergences[0].sides == ("right",)


def test_engines_that_fail_alike_and_part_later():
    """Both lose the first watermark; only then one of them invents another."""

    def lose(_case, result):
        return {"steps": [[] for _step in result["steps"]]}

    def invent(case, result):
        watermarks = [event["type"] == "watermark" and event["timestamp"] == "9" for event in case["events"]]
        return {"steps": [[{"type": "watermark", "timestamp": "7"}] if invented else [] for invented in watermarks]}

    planned = trace("valve", {"channels": 1}, "0w1 0w2 0w9")
    comparison = compare({"loses": Tweaked(lose), "invents": Tweaked(invent)}, planned=planned)
    assert comparison.exit_code is Exit.VIOLATIONS
    found = comparison.divergences[0]
    assert found.sides == ()
    assert found.trace == "0w9"
    assert {one.seen for one in found.answers} == {"nothing", "watermark(timestamp 7)"}


def test_an_engine_that_refuses_disagrees_with_one_that_answers():
    def refuse(case, result):
        idle = any(event.get("status") == "idle" for event in case["events"])
        return {"error": {"kind": "unsupported", "message": "no idleness here"}} if idle else result

    comparison = compare({"right": ReferenceEngine(), "refuses": Tweaked(refuse)})
    assert comparison.exit_code is Exit.VIOLATIONS
    found = comparison.divergences[0]
    assert found.sides == ("right",)
    assert found.trace == "0i"
    assert "unsupported" in found.answers[1].seen
    assert "VALVE-8" in [rule for rule, _text in found.rules]


def test_refusing_alike_is_no_agreement():
    def refuse(_case, _result):
        return {"error": {"kind": "internal", "message": "not today"}}

    comparison = compare({"a": Tweaked(refuse), "b": Tweaked(refuse)}, cases=3)
    assert comparison.count("unanswered") == comparison.counts.total()
    assert comparison.exit_code is Exit.UNDETERMINED


def test_an_interrupt_keeps_what_is_known():
    def planned():
        yield from trace("valve", {"channels": 1}, "0w1")
        raise KeyboardInterrupt

    engines = {"a": InProcess(ReferenceEngine(), batch=1), "b": InProcess(ReferenceEngine(), batch=1)}
    comparison = compare_cases(engines, planned())
    assert not comparison.complete
    assert comparison.exit_code is Exit.UNDETERMINED


def describe(**components: Claim) -> Description:
    return Description(protocol=1, name="x", version="1", language="y", components=components, window=1)


def test_common_ground():
    some, other = frozenset({"hash", "forward"}), frozenset({"hash", "global"})
    both = frozenset({"flink-7728", "flink-40475"})
    a = describe(valve=Claim(), partitioner=Claim(kinds=some), gate=Claim(), combiner=Claim(), teleporter=Claim())
    b = describe(
        valve=Claim(semantics=both),
        partitioner=Claim(kinds=other),
        combiner=Claim(semantics=frozenset({"flink-18934"})),
        teleporter=Claim(),
    )
    common, left_out = common_ground({"a": a, "b": b})
    assert common.components["valve"] == Claim(semantics=frozenset({"flink-7728"}))
    assert common.components["partitioner"] == Claim(kinds=frozenset({"hash"}))
    assert left_out == {
        "gate": "only a declares it",
        "combiner": "no kind or semantics of it is declared by all",
        "teleporter": "the specification has no such component",
    }


def test_on_the_command_line_across_processes(tidegate):
    words = ["--engine", RIGHT, "--engine", f"{MUSEUM}:ValveNeverFlushes", "--cases", "30", "--seed", "3"]
    code, out, _ = tidegate("diff", *words, "--format", "json")
    found = json.loads(out)
    assert code == found["exit"] == Exit.VIOLATIONS
    (counts,) = found["counts"]
    assert counts["component"] == "valve"
    assert counts["agreed"] + counts["diverged"] == found["cases"]
    assert "gate" in found["not_compared"]
    divergence = found["divergences"][0]
    assert divergence["sides"] == [RIGHT]
    assert divergence["rules"][0][0] == "VALVE-10"
    assert tidegate("diff", *words, "--format", "json")[1] == out, "the same seed gives the same cases"
    tool, verb, *again = shlex.split(divergence["reproduce"])
    assert (tool, verb) == ("tidegate", "diff")
    code, out, _ = tidegate("diff", *again)
    assert code == Exit.VIOLATIONS
    assert "valve: the engines disagree on VALVE-10" in out
    assert f"the specification sides with {RIGHT}\n" in out
    code, out, _ = tidegate("diff", *again, "--format", "markdown")
    assert code == Exit.VIOLATIONS
    assert "| valve | 0 | 1 |" in out


def test_an_engine_that_dies(tidegate, tmp_path):
    hello = {
        "protocol": 1,
        "implementation": {"name": "x", "version": "1", "language": "y"},
        "components": {"valve": {}},
    }
    path = tmp_path / "dies.py"
    path.write_text(f"import json\ninput()\nprint(json.dumps({{'id': 1, 'ok': {hello}}}), flush=True)\ninput()\n")
    engine = f"exec:{sys.executable} -S -E {path}"
    case = ["--component", "valve", "--config", '{"channels":1}', "--trace", "0w1"]
    code, out, _ = tidegate("diff", "--engine", "reference", "--engine", engine, *case)
    assert code == Exit.VIOLATIONS
    assert "valve: the engines disagree on crash" in out
    assert "the specification sides with reference\n" in out
    code, out, _ = tidegate("diff", "--engine", engine, "--engine", engine, *case)
    assert code == Exit.UNDETERMINED
    assert "unanswered" in out


def test_nothing_in_common_is_undetermined(tidegate):
    code, out, _ = tidegate(
        "diff", "--engine", f"{MUSEUM}:ValveNeverFlushes", "--engine", f"{MUSEUM}:CombinerGoesBack", "--cases", "1"
    )
    assert code == Exit.UNDETERMINED
    assert "Not compared: valve (only" in out
    assert "No case was compared" in out


def test_usage_and_start(tidegate):
    assert tidegate("diff", "--engine", "reference")[0] == Exit.USAGE
    assert tidegate("diff", "--engine", "reference", "--engine", "nonsense")[0] == Exit.USAGE
    assert tidegate("diff", "--engine", "reference", "--engine", "reference", "--component", "valv")[0] == Exit.USAGE
    assert tidegate("diff", "--engine", "reference", "--engine", "reference", "--trace", "0w1")[0] == Exit.USAGE
    code, _, err = tidegate("diff", "--engine", "reference", "--engine", "exec:/bin/false")
    assert code == Exit.CANNOT_START
    assert "exec:/bin/false: " in err
