"""How an element is handed to the outputs of an operator, one after the other: see `step`."""

from collections.abc import Callable, Sequence

import attrs

from tidegate.reference.model import Outcome
from tidegate.reference.outputs import values
from tidegate.reference.outputs.values import Change, Config, Error, Observation, State
from tidegate.reference.tuples import replace, sorting

Answer = tuple[values.Port, tuple[Observation, ...]]

# --- anything -------------------------------------------------------------------------------------------------


def hand_to(
    state: State, order: tuple[int, ...], hand: Callable[[int, values.Port], Answer], rules: tuple[str, ...]
) -> Outcome[State, Observation]:
    """Hand something to the outputs in this order; a failure reaches the operator at once, and ends it."""
    seen: tuple[Observation, ...] = ()
    for index in order:
        port, new = hand(index, state.ports[index])
        state = with_port(state, index, port)
        seen += new
        if is_failure(new):
            break
    return finish(state, seen, rules)


def finish(state: State, seen: tuple[Observation, ...], rules: tuple[str, ...]) -> Outcome[State, Observation]:
    return Outcome(state, seen, ("OUT-6", *rules) if is_failure(seen) else rules)


def give(state: State, index: int, *elements: values.Element) -> tuple[Observation, ...]:
    """OUT-6: a chained operator fails in the call, once wrapped at each hop; a writer fails before it has written."""
    hops = state.ports[index].hops
    if hops == 0:
        return elements
    if isinstance(state.config.outputs[index], values.Network):
        return (values.Failed(index, Error.IO, wrapped=1),)
    return (*elements, values.Failed(index, Error.CHAINED, wrapped=hops))


def give_event(state: State, index: int, event: values.Element) -> tuple[Observation, ...]:
    """OUT-14: what the task itself broadcasts fails with the plain error."""
    return (values.Failed(index, Error.IO, wrapped=0),) if state.ports[index].hops else (event,)


def is_failure(seen: tuple[Observation, ...]) -> bool:
    return bool(seen) and isinstance(seen[-1], values.Failed)


def is_for(output: values.Output, tag: values.Tag | None) -> bool:
    """OUT-5: a tag is its id; the type does not count."""
    if output.tag is None or tag is None:
        return output.tag is tag
    return output.tag.id == tag.id


def is_chosen(output: values.Output, selected: tuple[str, ...]) -> bool:
    """OUT-16: no names are all names."""
    return not output.names or bool(set(output.names) & set(selected))


def is_unknown(output: values.Output) -> bool:
    return isinstance(output, values.Network) and output.subpartitions is not None


def because_unknown(config: Config) -> tuple[str, ...]:
    return ("OUT-13",) if any(map(is_unknown, config.outputs)) else ()


def because_selected(config: Config) -> tuple[str, ...]:
    return ("OUT-16",) if config.selectors else ()


def is_dated(config: Config) -> bool:
    return config.semantics == "flink-1.5"


def network_of(config: Config) -> tuple[int, ...]:
    return tuple(index for index, output in enumerate(config.outputs) if isinstance(output, values.Network))


def order_of(config: Config) -> tuple[int, ...]:
    return compute_order([isinstance(output, values.Network) for output in config.outputs])


def compute_order(network: Sequence[bool]) -> tuple[int, ...]:
    """OUT-1: network outputs first, then chained ones, each in their own order."""
    return sorting([not is_network for is_network in network])


def with_port(state: State, index: int, port: values.Port) -> State:
    return attrs.evolve(state, ports=replace(state.ports, index, port))


# --- records --------------------------------------------------------------------------------------------------


def emit(state: State, event: values.Record, order: tuple[int, ...]) -> Outcome[State, Observation]:
    """Hand a record to the outputs, in this order, until one of them fails."""
    config, content, copies = state.config, event.content, 0
    seen: tuple[Observation, ...] = ()
    takers = [index for index in order if is_for(config.outputs[index], event.tag)]
    for index in takers:
        output = config.outputs[index]
        if isinstance(output, values.Network):
            seen += give(state, index, values.Write(index, content))
        else:
            record, value = compute_objects(config, copies, is_last=index == order[-1])
            copies = max(copies, record)
            seen += give(state, index, *compute_calls(config, index, values.Process(index, record, value, content)))
            if config.object_reuse and output.changes is Change.VALUE:
                content += 1
        if is_failure(seen):
            break
    return Outcome(count(state, seen), seen, compute_record_rules(state, event, seen))


def compute_objects(config: Config, copies: int, *, is_last: bool) -> tuple[int, int]:
    """OUT-3: which record and which value a chained operator is given, where so many copies were given before."""
    if not config.object_reuse:
        return copies + 1, copies + 1
    return (0, 0) if is_last else (copies + 1, 0)


def compute_calls(config: Config, index: int, process: values.Process) -> tuple[values.Element, ...]:
    output = config.outputs[index]
    needs_key = isinstance(output, values.Chained) and output.keyed
    return (values.KeyContext(index), process) if needs_key or is_dated(config) else (process,)


def count(state: State, seen: tuple[Observation, ...]) -> State:
    """OUT-15: the counters after a record of which this was seen."""
    chained = [index for index, output in enumerate(state.config.outputs) if isinstance(output, values.Chained)]
    written = any(isinstance(one, values.Write) for one in seen)
    if is_dated(state.config):
        by_operator, by_task = True, not chained
    else:
        by_operator = not chained or any(isinstance(one, values.Process) and one.output == chained[0] for one in seen)
        by_task = written and not is_failure(seen)
    return attrs.evolve(
        state, records_out=state.records_out + by_operator, task_records_out=state.task_records_out + by_task
    )


def compute_record_rules(state: State, event: values.Record, seen: tuple[Observation, ...]) -> tuple[str, ...]:
    reached = {one.output for one in seen if isinstance(one, values.Write | values.Process)}
    chained = any(isinstance(one, values.Process) for one in seen)
    named = (
        ("OUT-6", is_failure(seen)),
        ("OUT-16", event.selected is not None),
        ("OUT-5", event.tag is not None or any(output.tag is not None for output in state.config.outputs)),
        ("OUT-3", chained),
        ("OUT-2", chained),
        ("OUT-4", any(isinstance(one, values.Write) for one in seen)),
        ("OUT-10", any(not state.ports[index].active for index in reached)),
    )
    return (*(rule for rule, applies in named if applies), "OUT-1")
