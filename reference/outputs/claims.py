"""What must hold of the outputs of an operator."""

from collections.abc import Iterator
from itertools import product

from tidegate.reference.claims import always, law, sometimes
from tidegate.reference.elements import StatusChange, Watermark
from tidegate.reference.model import Outcome, Rejected
from tidegate.reference.outputs import values
from tidegate.reference.outputs.handing import emit, is_dated, order_of
from tidegate.reference.outputs.values import Change, Config, Event, Observation, State

# --- claims ---------------------------------------------------------------------------------------------------


def outputs_seen(outcome: Outcome[State, Observation]) -> list[int]:
    """The outputs that were given something, each once where it was given several things in a row."""
    given = [seen.output for seen in outcome.observations if not isinstance(seen, Rejected | values.Metrics)]
    return [output for place, output in enumerate(given) if place == 0 or given[place - 1] != output]


@always("OUT-1")
def network_comes_first(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What goes to several outputs goes to those to the network first, and to each in its order."""
    if isinstance(event, values.Record) and event.selected is not None:
        return True
    order = order_of(before.config)
    seen = outputs_seen(outcome)
    return seen == [index for index in order if index in seen]


@always("OUT-4")
def the_network_gets_what_was_emitted(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No chained operator can change what is written to the network for the same record."""
    if not isinstance(event, values.Record) or before.config.selectors:
        return True
    return all(seen.content == event.content for seen in outcome.observations if isinstance(seen, values.Write))


@always("OUT-3")
def objects_are_shared_as_configured(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No two operators are given the same record; all of them the same value with object reuse, and none without."""
    given = [seen for seen in outcome.observations if isinstance(seen, values.Process)]
    records, objects = [seen.record for seen in given], [seen.value for seen in given]
    if len(set(records)) != len(records):
        return False
    if before.config.object_reuse:
        return not any(objects)
    return len(set(objects)) == len(objects) and 0 not in records + objects


@always("OUT-6")
def nothing_passes_behind_a_failure(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The first output that fails ends it: those behind it are given nothing."""
    failures = [place for place, seen in enumerate(outcome.observations) if isinstance(seen, values.Failed)]
    return failures in ([], [len(outcome.observations) - 1])


@always("OUT-7")
def watermarks_pass_while_active(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No watermark passes an output that has announced that it is idle."""
    passed = {seen.output for seen in outcome.observations if isinstance(seen, values.WatermarkOut)}
    return all(before.ports[output].active for output in passed)


@always("OUT-9", "OUT-10")
def statuses_are_news(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Only news of the status passes."""
    told = [seen for seen in outcome.observations if isinstance(seen, values.StatusOut)]
    changed = [index for index, port in enumerate(outcome.state.ports) if port.active != before.ports[index].active]
    if not isinstance(event, StatusChange):
        return not told and not changed
    return all(seen.output in changed and seen.status is event.status for seen in told)


@always("OUT-11")
def markers_take_one_path(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A latency marker takes one output."""
    return sum(isinstance(seen, values.MarkerOut) for seen in outcome.observations) <= 1


@always("OUT-15")
def records_count_once(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A record counts once, however many take it."""
    by_operator = outcome.state.records_out - before.records_out
    by_task = outcome.state.task_records_out - before.task_records_out
    if not isinstance(event, values.Record):
        return (by_operator, by_task) == (0, 0)
    written = any(isinstance(seen, values.Write) for seen in outcome.observations)
    return by_operator in (0, 1) and 0 <= by_task <= (1 if written or is_dated(before.config) else 0)


@always("OUT-8")
def gauges_show_what_passed(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An idle output keeps its gauge.

    While idle the gauge of an output stands still; the old ones move all the same.
    """
    pairs = zip(before.ports, outcome.state.ports, strict=True)
    return is_dated(before.config) or all(new.watermark == old.watermark for old, new in pairs if not old.active)


@sometimes("OUT-6")
def written_before_another_fails(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A record was written to the network when a chained operator fails on it."""
    kinds = [type(seen) for seen in outcome.observations]
    return values.Write in kinds and values.Failed in kinds


@sometimes("OUT-7")
def an_idle_output_drops_a_watermark(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A watermark reaches no output, because all of them are idle."""
    return isinstance(event, Watermark) and bool(before.ports) and not outcome.observations


# --- laws -----------------------------------------------------------------------------------------------------


def compute_contents(config: Config, content: int) -> list[int]:
    """What each receiver finds in a record that is emitted to outputs that nothing has happened to."""
    fresh = State(config, (values.Port(),) * len(config.outputs))
    seen = emit(fresh, values.Record(content), order_of(config)).observations
    return [one.content for one in seen if isinstance(one, values.Write | values.Process)]


def ways_to_change() -> Iterator[tuple[tuple[Change, ...], int]]:
    for receivers in range(1, 4):
        yield from product(product(Change, repeat=receivers), (0, 7))


@law("OUT-3", "OUT-4", samples=ways_to_change)
def changes_stay_private_without_reuse(changes: tuple[Change, ...], content: int) -> bool:
    """Without object reuse every receiver finds what was emitted, whatever those before it did."""
    outputs: tuple[values.Output, ...] = (
        values.Network(unaligned=False),
        *(values.Chained(keyed=False, changes=change) for change in changes),
    )
    return set(compute_contents(Config(outputs, object_reuse=False), content)) == {content}


@law("OUT-3", samples=ways_to_change)
def changes_of_a_value_show_with_reuse(changes: tuple[Change, ...], content: int) -> bool:
    """With object reuse a changed value is seen by those that are called later, and a changed record by nobody."""
    config = Config(tuple(values.Chained(keyed=False, changes=change) for change in changes), object_reuse=True)
    counted_up = [changes[:place].count(Change.VALUE) for place in range(len(changes))]
    return compute_contents(config, content) == [content + more for more in counted_up]
