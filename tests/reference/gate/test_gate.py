"""The gate, rule by rule."""

import pytest

from tidegate.reference.gate import end_of_data, gate
from tidegate.reference.gate.gate import (
    COMPONENT,
    Arrive,
    Available,
    Channel,
    Config,
    Finished,
    Item,
    Nothing,
    Poll,
    Polled,
    start,
    step,
)
from tidegate.reference.model import InvalidInputError, Rejected

ITEMS = {"d": Item.DATA, "e": Item.END_OF_DATA, "p": Item.END_OF_PARTITION}
LETTERS = {item: letter for letter, item in ITEMS.items()}


def walk(channels, trace):
    """The outcome of each event of a trace: `0d` is data on channel 0, e ends data, p the partition; `?` polls."""
    (state,) = start(Config(channels))
    outcomes = []
    for word in trace.split():
        event = Poll() if word == "?" else Arrive(int(word[:-1]), ITEMS[word[-1]])
        (outcome,) = step(state, event)
        outcomes.append(outcome)
        state = outcome.state
    return outcomes


def show(outcome):
    """An item as in the trace, with + if there is more; ! available, - none, . finished, x rejected."""
    signs = {Available(): "!", Nothing(): "-", Finished(): ".", Rejected(): "x"}
    return "".join(
        f"{seen.channel}{LETTERS[seen.item]}{'+' * seen.more}" if isinstance(seen, Polled) else signs[seen]
        for seen in outcome.observations
    )


def run(channels, trace):
    return " ".join(show(outcome) or "~" for outcome in walk(channels, trace))


def rules(channels, trace):
    return walk(channels, trace)[-1].rules


@pytest.mark.rule("GATE-1", "GATE-2", "GATE-3")
@pytest.mark.parametrize(
    ("trace", "shown", "named"),
    [
        ("0d", "!", ("GATE-2", "GATE-1", "GATE-3")),
        ("0d 1d", "! ~", ("GATE-2", "GATE-1", "GATE-3")),
        ("0d 0d", "! ~", ("GATE-3", "GATE-1")),
        ("0d ? 0d", "! 0d !", ("GATE-2", "GATE-1", "GATE-3")),
        ("0d 1d ? 0d", "! ~ 0d+ ~", ("GATE-2", "GATE-1", "GATE-3")),
        ("0d 0d ? 0d", "! ~ 0d+ ~", ("GATE-3", "GATE-1")),
    ],
)
def test_gate_2_only_the_first_channel_in_the_queue_is_signalled(trace, shown, named):
    assert (run(2, trace), rules(2, trace)) == (shown, named)


@pytest.mark.rule("GATE-4")
def test_gate_4_nothing_to_poll():
    assert run(2, "? ?") == "- -"
    assert rules(2, "?") == ("GATE-4", "GATE-7")


@pytest.mark.rule("GATE-5", "GATE-8")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("2d 2d 2d 0d 1d 1d ? ? ? ? ? ? ?", "! ~ ~ ~ ~ ~ 2d+ 0d+ 1d+ 2d+ 1d+ 2d -"),
        ("0d 0d 1d ? 0d ? ? ?", "! ~ ~ 0d+ ~ 1d+ 0d+ 0d"),
        ("0d 1d ? 0d ? ?", "! ~ 0d+ ~ 1d+ 0d"),
    ],
)
def test_gate_8_channels_are_served_in_turn(trace, shown):
    assert run(3, trace) == shown


@pytest.mark.rule("GATE-5", "GATE-7", "GATE-8", "GATE-9")
@pytest.mark.parametrize(
    ("trace", "named"),
    [
        ("0d ?", ("GATE-5", "GATE-7")),
        ("0d 0d ?", ("GATE-5", "GATE-9")),
        ("0d 1d ?", ("GATE-5", "GATE-8")),
        ("0d 0d 1d ?", ("GATE-5", "GATE-8", "GATE-9")),
        ("0e ?", ("GATE-5", "GATE-15", "GATE-7")),
        ("0p ?", ("GATE-16", "GATE-5", "GATE-7")),
        ("0p 1p ? ?", ("GATE-17", "GATE-16", "GATE-5")),
    ],
)
def test_gate_5_rules_of_a_poll(trace, named):
    assert rules(2, trace) == named


@pytest.mark.rule("GATE-7")
def test_gate_7_available_exactly_while_a_channel_is_queued():
    outcomes = walk(2, "0d 1d ? ? ? 0d")
    assert [outcome.state.available for outcome in outcomes] == [True, True, True, False, False, True]


@pytest.mark.rule("GATE-9")
def test_gate_9_items_of_a_channel_keep_their_order():
    assert run(1, "0d 0e 0d 0p ? ? ? ?") == "! ~ ~ ~ 0d+ 0e+ 0d+ 0p."


@pytest.mark.rule("GATE-15", "GATE-16")
@pytest.mark.parametrize(
    ("trace", "shown", "rule"),
    [
        ("0e 0e", "! x", "GATE-15"),
        ("0e ? 0e", "! 0e x", "GATE-15"),
        ("0p 0d", "! x", "GATE-16"),
        ("0p ? 0d", "! 0p x", "GATE-16"),
        ("0p 0p", "! x", "GATE-16"),
        ("0e 0p 0e", "! ~ x", "GATE-16"),
        ("0p 1p ? ? 1d", "! ~ 0p+ 1p. x", "GATE-16"),
        ("2d", "x", "GATE-1"),
        ("-1d", "x", "GATE-1"),
        ("0d 2p", "! x", "GATE-1"),
    ],
)
def test_refused_items_change_nothing(trace, shown, rule):
    outcomes = walk(2, trace)
    assert " ".join(show(outcome) or "~" for outcome in outcomes) == shown
    before = outcomes[-2].state if len(outcomes) > 1 else start(Config(2))[0]
    assert outcomes[-1].state == before
    assert outcomes[-1].rules == (rule,)


@pytest.mark.rule("GATE-16")
def test_gate_16_a_partition_ends_with_or_without_end_of_data():
    assert run(2, "0p 1e 1d 1p ? ? ? ?") == "! ~ ~ ~ 0p+ 1e+ 1d+ 1p."


@pytest.mark.rule("GATE-17")
def test_gate_17_finished_with_the_last_end_of_partition():
    outcomes = walk(2, "0p 1d ? ? 1p ? ? ?")
    assert " ".join(show(outcome) or "~" for outcome in outcomes) == "! ~ 0p+ 1d ! 1p. - -"
    assert outcomes[-1].state.available
    assert outcomes[-1].state == outcomes[-3].state
    assert outcomes[-1].rules == ("GATE-17", "GATE-4")


@pytest.mark.parametrize("channels", [0, -1])
def test_a_gate_has_channels(channels):
    with pytest.raises(InvalidInputError):
        Config(channels)


@pytest.mark.parametrize("law", COMPONENT.laws, ids=lambda law: law.name)
def test_law_holds_on_every_sample(law):
    assert all(law.holds(*sample) for sample in law.samples())


@pytest.mark.rule("GATE-8")
def test_gate_8_law_fails_where_a_channel_is_served_to_its_end(monkeypatch):
    def keep_at_the_head(state):
        outcome = on_poll(state)
        (polled,) = outcome.observations
        again = (polled.channel,) if outcome.state.channels[polled.channel].waiting else ()
        others = tuple(index for index in outcome.state.queue if index != polled.channel)
        unfair = gate.State(state.config, outcome.state.channels, again + others, outcome.state.available)
        return type(outcome)(unfair, outcome.observations, outcome.rules)

    on_poll = gate.on_poll
    monkeypatch.setattr(gate, "on_poll", keep_at_the_head)
    assert gate.in_rounds.holds(1, 1, 1)
    assert not gate.in_rounds.holds(2, 2, 0)


@pytest.mark.rule("GATE-15")
@pytest.mark.parametrize(
    ("drains", "known"),
    [((), "not_yet"), ((True,), "not_yet"), ((True, True), "drained"), ((False, True), "stopped")],
)
def test_gate_15_what_is_known_about_the_end_of_data(drains, known):
    assert end_of_data.compute_end_of_data(2, drains) == known


@pytest.mark.rule("GATE-15")
def test_gate_15_law_fails_where_the_last_channel_decides(monkeypatch):
    last = {True: end_of_data.EndOfData.DRAINED, False: end_of_data.EndOfData.STOPPED}
    monkeypatch.setattr(end_of_data, "compute_end_of_data", lambda _channels, drains: last[drains[-1]])
    assert not end_of_data.one_stop_makes_a_stop.holds(2, 1, 1)


def break_queue(state):
    return gate.State(state.config, state.channels, (*state.queue, 0), state.available)


def break_availability(state):
    return gate.State(state.config, state.channels, state.queue, available=not state.available)


def lose_an_item(state):
    channels = tuple(Channel(channel.waiting[1:], channel.data_ended, channel.ended) for channel in state.channels)
    return gate.State(state.config, channels, state.queue, state.available)


@pytest.mark.parametrize(
    ("breaking", "claims"),
    [
        (break_queue, {"queue-holds-who-has-something"}),
        (break_availability, {"available-with-something"}),
        (lose_an_item, {"queue-holds-who-has-something", "one-item-of-one-channel"}),
    ],
)
def test_properties_fail_on_a_broken_poll(breaking, claims):
    before = walk(2, "0d 0d 1d")[-1].state
    (outcome,) = step(before, Poll())
    assert all(claim.holds(before, Poll(), outcome) for claim in COMPONENT.properties)
    broken = type(outcome)(breaking(outcome.state), outcome.observations, outcome.rules)
    assert {claim.name for claim in COMPONENT.properties if not claim.holds(before, Poll(), broken)} == claims
