"""Real defects of real releases, found by the suite and made small."""

import pytest

from tidegate.conformance.cli.main import main
from tidegate.conformance.judging.dialects import HeldTo
from tidegate.conformance.judging.shrink import shrink
from tidegate.conformance.judging.suite import Planned
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.drawing.cases import draw_case


def shortest_failure(engine, cases):
    verdicts = list(Runner(engine).run(Planned("test", case) for case in cases))
    failures = [one for one in verdicts if one.status is Status.FAIL]
    assert failures
    assert len(failures) < len(verdicts)
    smallest = sorted(failures, key=lambda one: len(one.case.events))[:3]
    shrunken = (shrink(Runner(engine), one).verdict for one in smallest)
    return min(shrunken, key=lambda one: len(one.case.events))


def valve_cases(semantics, count=200):
    cases = (draw_case("valve", "defects", index) for index in range(10 * count))
    wanted = (case for case in cases if case.config.semantics == semantics)
    return [case for case, _ in zip(wanted, range(count), strict=False)]


@pytest.mark.rule("VALVE-9")
def test_flink_31628_in_1_17_0(broken_flink):
    """A channel that is not in the heap is removed from it."""
    verdict = shortest_failure(broken_flink, valve_cases("flink-7728"))
    assert len(verdict.case.events) <= 5
    (seen,) = verdict.violation.seen
    assert seen.type == "rejected"
    assert "ArrayIndexOutOfBoundsException" in seen.reason


@pytest.mark.rule("VALVE-12", "VALVE-13")
def test_flink_40475_in_2_3_0(flink):
    verdict = shortest_failure(HeldTo(flink, {"valve": "flink-40475"}), valve_cases("flink-40475", 600))
    assert len(verdict.case.events) <= 8
    assert {"VALVE-10", "VALVE-11"} & set(verdict.violation.rules)


@pytest.mark.parametrize(
    ("version", "component", "rule"),
    [
        pytest.param("1.17.0", "combiner", "COMB-3", marks=pytest.mark.rule("COMB-3")),
        # What a split had noted when it turned idle.
        pytest.param("2.1.0", "multiplexer", "MUX-7", marks=pytest.mark.rule("MUX-7")),
    ],
)
def test_flink_38454_between_a_version_and_2_3_0(flink_version, capsys, version, component, rule):
    """They follow different semantics, and are compared all the same."""
    engines = [f"--engine=flink:{flink_version(one)}" for one in (version, "2.3.0")]
    assert main(["diff", *engines, "--component", component, "--cases", "60"]) == 1
    said = capsys.readouterr().out
    assert rule in said
    assert "the specification sides with flink:2.3.0" in said


def test_the_command_line_holds_an_engine_to_a_semantics(flink_version, capsys):
    engine = f"flink:{flink_version('2.3.0')}"
    config, trace = '{"channels":3,"semantics":"flink-40475"}', "2i 0w1 1w0 0i 2a 1i 2i"
    arguments = ["replay", "--engine", engine, "--component", "valve", "--config", config, "--trace", trace]
    assert main(arguments) == 2
    assert "skipped" in capsys.readouterr().out
    assert main([*arguments, "--semantics", "flink-40475"]) == 1
    assert "VALVE-13" in capsys.readouterr().out


def test_an_unknown_semantics_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["run", "--engine", "reference", "--semantics", "newest"])
    assert stopped.value.code == 64
    assert "flink-40475" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", "--engine", "reference", "--semantics", "flink-40457"])
    assert "did you mean flink-40475?" in capsys.readouterr().err
