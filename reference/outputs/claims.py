"""What must hold of the outputs of an operator."""

from collections.abc import Iterator
from itertools import product

from tidegate.reference.elements import StatusChange
from tidegate.reference.model import Law, Outcome, Property, Rejected
from tidegate.reference.outputs.handing import compute_order, emit, is_old
from tidegate.reference.outputs.values import (
    Chained,
    Change,
    Config,
    Event,
    Failed,
    MarkerOut,
    Metrics,
    Network,
    Observation,
    Output,
    Port,
    Process,
    Record,
    State,
    StatusOut,
    WatermarkOut,
    Write,
)

# --- properties -----------------------------------------------------------------------------------------------


def outputs_seen(outcome: Outcome[State, Observation]) -> list[int]:
    """The outputs that were given something, each once where it was given several things in a row."""
    given = [seen.output for seen in outcome.observations if not isinstance(seen, Rejected | Metrics)]
    return [output for place, output in enumerate(given) if place == 0 or given[place - 1] != output]


def network_comes_first(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    if isinstance(event, Record) and event.selected is not None:
        return True
    order = compute_order(before.config)
    seen = outputs_seen(outcome)
    return seen == [index for index in order if index in seen]


def the_network_gets_what_was_emitted(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    if not isinstance(event, Record) or before.config.selectors:
        return True
    return all(seen.content == event.content for seen in outcome.observations if isinstance(seen, Write))


def objects_are_shared_as_configured(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    given = [seen for seen in outcome.observations if isinstance(seen, Process)]
    records, values = [seen.record for seen in given], [seen.value for seen in given]
    if len(set(records)) != len(records):
        return False
    if before.config.object_reuse:
        return not any(values)
    return len(set(values)) == len(values) and 0 not in records + values


def nothing_passes_behind_a_failure(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    failures = [place for place, seen in enumerate(outcome.observations) if isinstance(seen, Failed)]
    return failures in ([], [len(outcome.observations) - 1])


def watermarks_pass_while_active(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    passed = {seen.output for seen in outcome.observations if isinstance(seen, WatermarkOut)}
    return all(before.ports[output].active for output in passed)


def statuses_are_news(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    told = [seen for seen in outcome.observations if isinstance(seen, StatusOut)]
    changed = [index for index, port in enumerate(outcome.state.ports) if port.active != before.ports[index].active]
    if not isinstance(event, StatusChange):
        return not told and not changed
    return all(seen.output in changed and seen.status is event.status for seen in told)


def a_marker_takes_one_path(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    return sum(isinstance(seen, MarkerOut) for seen in outcome.observations) <= 1


def a_record_counts_once(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    by_operator = outcome.state.records_out - before.records_out
    by_task = outcome.state.task_records_out - before.task_records_out
    if not isinstance(event, Record):
        return (by_operator, by_task) == (0, 0)
    written = any(isinstance(seen, Write) for seen in outcome.observations)
    return by_operator in (0, 1) and 0 <= by_task <= (1 if written or is_old(before.config) else 0)


def a_gauge_shows_what_passed(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """While idle the gauge of an output stands still; the old ones move all the same."""
    pairs = zip(before.ports, outcome.state.ports, strict=True)
    return is_old(before.config) or all(new.watermark == old.watermark for old, new in pairs if not old.active)


PROPERTIES = (
    Property(
        "network-comes-first",
        "What goes to several outputs goes to those to the network first, and to each in its order.",
        ("OUT-1",),
        network_comes_first,
    ),
    Property(
        "the-network-gets-what-was-emitted",
        "No chained operator can change what is written to the network for the same record.",
        ("OUT-4",),
        the_network_gets_what_was_emitted,
    ),
    Property(
        "objects-are-shared-as-configured",
        "No two operators are given the same record; all of them the same value with object reuse, and none without.",
        ("OUT-3",),
        objects_are_shared_as_configured,
    ),
    Property(
        "nothing-passes-behind-a-failure",
        "The first output that fails ends it: those behind it are given nothing.",
        ("OUT-6",),
        nothing_passes_behind_a_failure,
    ),
    Property(
        "watermarks-pass-while-active",
        "No watermark passes an output that has announced that it is idle.",
        ("OUT-7",),
        watermarks_pass_while_active,
    ),
    Property("statuses-are-news", "Only news of the status passes.", ("OUT-9", "OUT-10"), statuses_are_news),
    Property("markers-take-one-path", "A latency marker takes one output.", ("OUT-11",), a_marker_takes_one_path),
    Property("records-count-once", "A record counts once, however many take it.", ("OUT-15",), a_record_counts_once),
    Property("gauges-show-what-passed", "An idle output keeps its gauge.", ("OUT-8",), a_gauge_shows_what_passed),
)

# --- laws -----------------------------------------------------------------------------------------------------


def compute_contents(config: Config, content: int) -> list[int]:
    """What each receiver finds in a record that is emitted to outputs that nothing has happened to."""
    fresh = State(config, (Port(),) * len(config.outputs))
    seen = emit(fresh, Record(content), compute_order(config)).observations
    return [one.content for one in seen if isinstance(one, Write | Process)]


def changes_stay_private_without_reuse(changes: tuple[Change, ...], content: int) -> bool:
    outputs: tuple[Output, ...] = (
        Network(unaligned=False),
        *(Chained(keyed=False, changes=change) for change in changes),
    )
    return set(compute_contents(Config(outputs, object_reuse=False), content)) == {content}


def changes_of_a_value_show_with_reuse(changes: tuple[Change, ...], content: int) -> bool:
    """A value that an operator counts up is seen so by those behind it; a record that it refills is its own."""
    config = Config(tuple(Chained(keyed=False, changes=change) for change in changes), object_reuse=True)
    counted_up = [changes[:place].count(Change.VALUE) for place in range(len(changes))]
    return compute_contents(config, content) == [content + more for more in counted_up]


def ways_to_change() -> Iterator[tuple[tuple[Change, ...], int]]:
    for receivers in range(1, 4):
        yield from product(product(Change, repeat=receivers), (0, 7))


LAWS = (
    Law(
        "changes-stay-private-without-reuse",
        "Without object reuse every receiver finds what was emitted, whatever those before it did.",
        ("OUT-3", "OUT-4"),
        changes_stay_private_without_reuse,
        ways_to_change,
    ),
    Law(
        "changes-of-a-value-show-with-reuse",
        "With object reuse a changed value is seen by those that are called later, and a changed record by nobody.",
        ("OUT-3",),
        changes_of_a_value_show_with_reuse,
        ways_to_change,
    ),
)
