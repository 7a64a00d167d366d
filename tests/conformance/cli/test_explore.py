"""`tidegate explore`: what it prints and how it exits."""

import json

import attrs
import pytest

from tidegate.conformance.cli.explore import numbers
from tidegate.conformance.cli.main import main
from tidegate.properties.explorer import closures, exploring
from tidegate.reference.gate import gate
from tidegate.reference.model import Sometimes
from tidegate.reference.watermarks import valve
from tidegate.traces.notation.text import read_trace


def run(capsys, *arguments):
    code = main(["explore", *arguments])
    return code, capsys.readouterr()


def test_shows_the_two_defects_of_flink_7728(capsys):
    code, output = run(capsys, "valve", "--channels", "3", "--timestamps", "3")
    assert code == 1
    assert "210 states up to symmetry of channels, 3,150 transitions" in output.out
    assert "broken: no-pending-minimum" in output.out
    assert "broken: all-idle-puts-out-the-maximum" in output.out
    assert output.out.count("7 steps: 0w1 1w2 1i 2i 2a 0i") == 2
    assert "VALVE-13" in output.out
    assert "is lost" in output.out, "the text of the rule is printed"
    assert output.err == ""


def test_finds_nothing_in_flink_40475(capsys):
    code, output = run(capsys, "valve", "--channels", "3", "--timestamps", "3", "--semantics", "flink-40475")
    assert code == 0
    assert "broken" not in output.out
    assert "hold (9)" in output.out


def test_json_carries_replayable_traces(capsys):
    code, output = run(capsys, "valve", "--format", "json")
    told = json.loads(output.out)
    assert code == 1
    assert told["component"] == "valve"
    assert not told["holds"]
    (exploration,) = told["explorations"]
    assert (exploration["states"], exploration["symmetry"], exploration["complete"]) == (89, "channels", True)
    for broken in exploration["broken"]:
        assert broken["rules"][0]["text"]
        assert broken["config"] == {"channels": 3, "semantics": "flink-7728"}
        assert len(read_trace("valve", broken["trace"])) == len(broken["events"]) == 7


def test_every_state_is_visited_without_symmetry(capsys):
    size = ("--channels", "3", "--timestamps", "3")
    _code, output = run(capsys, "valve", *size)
    code, whole = run(capsys, "valve", *size, "--no-symmetry")
    assert code == 1
    assert "980 states, 14,700 transitions" in whole.out
    assert "symmetry" not in whole.out
    assert [line for line in whole.out.splitlines() if "states" not in line] == [
        line for line in output.out.splitlines() if "states" not in line
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ("valve", "--channels", "4", "--timestamps", "3"),
        ("combiner", "--inputs", "4", "--semantics", "flink-18934"),
        ("multiplexer", "--outputs", "3", "--timestamps", "1", "--semantics", "flink-18934"),
    ],
)
def test_traces_found_with_symmetry_can_be_replayed(capsys, arguments):
    _code, output = run(capsys, *arguments, "--format", "json")
    (exploration,) = json.loads(output.out)["explorations"]
    assert exploration["symmetry"]
    assert exploration["broken"]
    for broken in exploration["broken"]:
        config = json.dumps(broken["config"])
        component = arguments[0]
        assert main(["replay", "--component", component, "--config", config, "--trace", broken["trace"]]) == 0


@pytest.mark.long
def test_schedules_that_differ_only_in_the_order_of_independent_choices_are_followed_once(capsys):
    states = {}
    for option, reduced in ((), True), (("--no-reduction",), False):
        code, output = run(capsys, "job", "--format", "json", *option)
        (word_count,) = (one for one in json.loads(output.out)["explorations"] if "WordCount" in one["note"])
        assert (code, word_count["reduced"]) == (0, reduced)
        states[reduced] = word_count["states"]
    assert states[True] < states[False] / 8


def test_markdown_is_a_table(capsys):
    _code, output = run(capsys, "combiner", "--inputs", "2", "--timestamps", "1", "--format", "markdown")
    assert "| combined-never-falls | yes | |" in output.out
    code, output = run(capsys, "combiner", "--inputs", "2", "--semantics", "flink-18934", "--format", "markdown")
    assert code == 1
    assert "| all-idle-puts-out-the-maximum (COMB-3) | no | `0w1` `0i` `1i` |" in output.out


def test_credit_loop_takes_ranges(capsys):
    code, output = run(
        capsys, "credit_loop", "--channels", "2", "--exclusive", "0..1", "--floating", "1", "--data", "1"
    )
    assert code == 0
    assert "0 exclusive buffers each and 1 floating buffer" in output.out
    assert "1 exclusive buffer each and 1 floating buffer" in output.out
    assert "never-stuck" in output.out
    assert output.out.count("all of them") == 2


def test_deserializer_is_cut_everywhere(capsys):
    code, output = run(capsys, "deserializer", "--records", "1")
    assert code == 0
    assert "every cut of 3 streams of 1 record" in output.out
    assert "ends-as-it-began" in output.out


@pytest.mark.parametrize("component", ["gate", "partitioner", "wiring", "serializer"])
def test_other_components_are_explored_on_their_small_scopes(capsys, component):
    code, output = run(capsys, component)
    assert code == 0
    assert "all of them" in output.out


def test_what_is_reached_is_told_with_its_trace(capsys):
    code, output = run(capsys, "gate")
    assert code == 0
    assert "reached (2): the-turn-passes-on, all-channels-end" in output.out
    _code, output = run(capsys, "gate", "--format", "markdown")
    assert "| the-turn-passes-on | yes | `0data` `0data` `1data` `poll` |" in output.out
    _code, output = run(capsys, "gate", "--format", "json")
    told = json.loads(output.out)
    assert told["unreached"] == []
    (reached,) = told["explorations"][0]["reached"]
    assert (reached["name"], reached["trace"]) == ("all-channels-end", "0over poll")


def test_a_scope_that_is_too_small_breaks_nothing(capsys):
    size = ("--channels", "2", "--timestamps", "1")
    code, output = run(capsys, "valve", *size)
    assert code == 0
    assert "not reached in this scope: a-minimum-stays-pending" in output.out
    _code, output = run(capsys, "valve", *size, "--format", "markdown")
    assert "| a-minimum-stays-pending (VALVE-12) | no | |" in output.out


def test_what_is_never_reached_on_the_small_scopes_is_a_violation(capsys, monkeypatch):
    nowhere = Sometimes("nowhere", "Nobody gets there.", ("GATE-8",), lambda *_about: False)
    wrong = attrs.evolve(gate.COMPONENT, claims=(*gate.COMPONENT.claims, nowhere))
    monkeypatch.setattr(gate, "COMPONENT", wrong)
    code, output = run(capsys, "gate")
    assert code == 1
    assert "never reached: nowhere. Nobody gets there.\n  GATE-8 Channels are served in turn" in output.out
    code, output = run(capsys, "gate", "--format", "json")
    assert (code, json.loads(output.out)["holds"]) == (1, False)
    assert [one["name"] for one in json.loads(output.out)["unreached"]] == ["nowhere"]
    code, output = run(capsys, "gate", "--limit", "10")
    assert code == 2
    assert "not reached in this scope: nowhere" in output.out


def test_a_limit_leaves_the_answer_open(capsys):
    code, output = run(capsys, "valve", "--semantics", "flink-40475", "--limit", "50")
    assert code == 2
    assert "stopped at the limit" in output.out


def test_a_limit_counts_the_states_of_all_closures(capsys):
    code, output = run(capsys, "credit_loop", "--channels", "1", "--exclusive", "0..1000", "--limit", "200")
    told = [int(line.split()[0]) for line in output.out.splitlines() if " states" in line]
    assert code == 2
    assert len(told) > 1
    assert sum(told) == 200
    assert output.out.count("stopped at the limit") == 1


def test_a_limit_that_is_not_exceeded_leaves_nothing_open(capsys):
    code, output = run(capsys, "valve", "--semantics", "flink-40475", "--limit", "86", "--format", "json")
    assert (code, json.loads(output.out)["explorations"][0]["states"]) == (0, 86)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["valve", "--inputs", "2"], "valve has no --inputs; its options are --channels, --timestamps, --semantics"),
        (["gate", "--channels", "2"], "gate has no --channels"),
        (["nothing"], "nothing to explore for 'nothing'; there are "),
        (["valve", "--semantics", "flink-38454"], "is one of flink-7728, flink-40475"),
        (["valve", "--channels", "0"], "must be a whole number from 1 on, not '0'"),
        (["valve", "--timestamps", "x"], "must be a whole number from 1 on, not 'x'"),
        (["credit_loop", "--floating", "0"], "floating must be at least 1, not 0"),
        (["credit_loop", "--exclusive", "2..1"], "a range such as 0..2, at most 1000, not '2..1'"),
        (["credit_loop", "--exclusive", "-1"], "--exclusive"),
        (["deserializer", "--records", "11"], "at most 10 records, not 11"),
    ],
)
def test_impossible_parameters_are_usage_errors(capsys, arguments, message):
    with pytest.raises(SystemExit) as stop:
        main(["explore", *arguments])
    assert stop.value.code == 64
    assert message in capsys.readouterr().err


def test_ranges_are_inclusive():
    assert numbers("3") == (3,)
    assert numbers("0..2") == (0, 1, 2)


def test_an_interrupt_keeps_what_is_known(monkeypatch, capsys):
    """The valve that loses a watermark is found before the interrupt comes."""
    real = valve.step
    asked = 0

    def step(state, event):
        nonlocal asked
        asked += 1
        if asked == 14_000:
            raise KeyboardInterrupt
        return real(state, event)

    component = attrs.evolve(valve.COMPONENT, step=step)
    monkeypatch.setattr(closures.valve, "COMPONENT", component)
    assert main(["explore", "valve", "--channels", "3", "--timestamps", "3", "--no-symmetry"]) == 1
    told = capsys.readouterr().out
    assert "interrupted, there are more" in told
    assert "broken: " in told


def test_memory_is_a_limit_too(capsys, monkeypatch):
    """It is looked at in the middle of a state, too: that of 1,000 channels leads to a million others."""
    monkeypatch.setattr(exploring, "GLANCE", 5)
    at_first = iter([0])
    monkeypatch.setattr(exploring, "used_memory", lambda: next(at_first, 10**12))
    code, output = run(capsys, "valve", "--limit", str(10**15), "--semantics", "flink-40475")
    assert code == 2
    assert "stopped at 900,000,000 bytes of memory, there are more" in output.out
    assert "5 transitions, depth 1" in output.out
