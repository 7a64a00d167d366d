"""The network input in corners that no trace comes to, and the rules that it names."""

import attrs
import pytest

from tests.reference.input.test_network_input import data, run, short
from tests.reference.walking import failing_claims
from tidegate.reference.input.network_input import step as network_input
from tidegate.reference.input.network_input.values import Buffer, InputStatus, Process, Record, Returned
from tidegate.reference.model import Outcome
from tidegate.reference.spanning.reading import Reader

OLD = "flink-1.5"
CALL = Process(batch=False)


def last(trace, **more):
    outcome = run(trace, **more)[-1]
    return short(outcome), outcome.rules


@pytest.mark.rule("NIN-4")
@pytest.mark.parametrize("semantics", ["flink-1.17", OLD])
def test_nin_4_barriers_are_no_end(semantics):
    shown = [short(outcome) for outcome in run("0barrier 0barrier 0:a", semantics=semantics)]
    assert shown == ["available", "", ""]


@pytest.mark.rule("GATE-25")
def test_gate_25_a_buffer_of_no_length_does_not_arrive():
    assert last("0b") == ("", ("GATE-25",))
    assert last("0b call")[0] == "nothing_available"


@pytest.mark.rule("NIN-3")
def test_nin_3_a_call_that_may_go_on_goes_on_after_a_latency_marker():
    assert last("0:ma batch")[0] == "latency_marker a nothing_available"


@pytest.mark.rule("NIN-4", "NIN-8")
def test_nin_8_what_came_before_the_end_reaches_the_operator():
    assert last("0:a 0end 1end batch")[0] == "a end_input end_of_data"


@pytest.mark.parametrize(
    ("trace", "rules"),
    [
        ("call", "NIN-1 NIN-2 NIN-5"),
        ("0:a batch", "NIN-1 NIN-2 NIN-3 NIN-5"),
        ("0:5 call", "NIN-3 NIN-1 NIN-2 NIN-5 VALVE-4"),
        ("0:i 1:i call call", "NIN-3 NIN-1 NIN-2 NIN-5 VALVE-10"),
        ("0end 1end call call", "NIN-4 GATE-15 NIN-2 NIN-5 NIN-8"),
        ("0stop 1end call call", "NIN-4 GATE-15 NIN-2 NIN-5 NIN-8"),
        ("0:a 0end 1end batch", "NIN-4 GATE-15 NIN-1 NIN-2 NIN-3 NIN-5 NIN-8"),
        (f"0b{data('a')[:4]} 0b{data('a')[4:]} call", "NIN-3 NIN-1 NIN-2 NIN-5 NIN-7"),
        (f"0b{data('a')[:4]} call 0b{data('a')[4:]} call", "NIN-3 NIN-1 NIN-2 NIN-5 NIN-7"),
    ],
)
def test_a_call_names_the_rules_of_all_its_turns(trace, rules):
    assert last(trace)[1] == tuple(rules.split())


def test_of_old_there_was_no_rule_when_a_call_ends():
    assert last("call", semantics=OLD)[1] == ("NIN-1", "NIN-5")


# --- claims, told of what is wrong ------------------------------------------------------------------------------


def test_of_old_a_call_with_two_records_is_refused():
    before = run("0:ab", semantics=OLD)[-1].state
    (outcome,) = network_input.step(before, CALL)
    assert failing_claims("network_input", before, CALL, outcome) == set()
    twice = attrs.evolve(outcome, observations=(Record(b"a"), *outcome.observations))
    assert failing_claims("network_input", before, CALL, twice) == {"one-element-a-call"}


@pytest.mark.parametrize(("trace", "current"), [("call", None), ("0over 1over call call", 0)])
def test_an_end_of_input_before_all_is_over_and_read_is_refused(trace, current):
    before = run(trace)[-1].state
    after = attrs.evolve(before, current=current)
    ended = Outcome(after, (Returned(InputStatus.END_OF_INPUT, available=True),), ())
    assert "ends-when-all-channels-have" in failing_claims("network_input", before, CALL, ended)


def test_a_buffer_that_arrives_changes_nothing_that_was_gathered():
    before = run("0b0000 call")[-1].state
    event = Buffer(0, bytes.fromhex(data("a"))[2:])
    (outcome,) = network_input.step(before, event)
    assert failing_claims("network_input", before, event, outcome) == set()
    forgotten = attrs.evolve(outcome, state=attrs.evolve(outcome.state, readers=(Reader(), Reader())))
    assert failing_claims("network_input", before, event, forgotten) == {"readers-keep-their-own"}


def test_records_in_another_order_and_records_of_no_channel_are_refused(monkeypatch):
    law = network_input.each_channel_on_its_own
    samples = list(law.samples())
    assert all(law.holds(*sample) for sample in samples)
    right = network_input.on_process

    def turn_round(state, *, batch):
        outcome = right(state, batch=batch)
        return attrs.evolve(outcome, observations=outcome.observations[::-1])

    def make_one_up(state, *, batch):
        outcome = right(state, batch=batch)
        return attrs.evolve(outcome, observations=(Record(b"x"), *outcome.observations))

    for wrong in (turn_round, make_one_up):
        monkeypatch.setattr(network_input, "on_process", wrong)
        assert not any(law.holds(*sample) for sample in samples)
