"""Several inputs of one task, NIN-9, each a network input of the museum."""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.network_input import NetworkInput

_MORE, _NOTHING, _OVER = "more_available", "nothing_available", "end_of_input"

_MOST = 63

#: Bugs of the inputs themselves that are worth seeing here, too.
_INNER = {
    "barrier-forgets-the-cut-record": "input-barrier-forgets-the-cut-record",
    "goes-on-without-leave": "input-goes-on-without-leave",
    "statuses-pass-the-valve-by": "input-statuses-pass-the-valve-by",
}


@attrs.define(eq=False)
class Input:
    """An input and what its task believes of it."""

    source: NetworkInput
    hopeful: bool = True
    data_ended: bool = False
    over: bool = False

    def look(self) -> None:
        self.hopeful = self.hopeful or self.source.is_available()


EXTENSIONS = ("selection",)


class MultipleInputs:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("inputs-")
        sizes = wire.get_counts(config, "inputs", 2)
        if len(sizes) > _MOST:
            raise wire.BadRequestError(f"at most {_MOST} inputs, not {len(sizes)}")
        inner = _INNER.get(self.bug, "")
        self.inputs = [Input(NetworkInput({"channels": size}, wire.Host(bug=inner))) for size in sizes]
        self.last = len(self.inputs) - 1 if self.bug == "circle-starts-at-the-first" else 1
        self.drained = True
        self.selects = wire.get_extension(config, EXTENSIONS) is not None
        everybody = set(range(len(self.inputs)))
        self.wish, self.selected = everybody, everybody
        self.is_asked = self.bug == "asks-from-the-second-call"
        if self.bug == "start-without-hope":
            for one in self.inputs:
                one.hopeful = False

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") == "process":
            return self.on_process(batch=wire.get_boolean(event, "batch"))
        if event.get("type") == "select" and self.selects:
            return self.on_select(wire.get_integers(event, "inputs"))
        if event.get("type") not in {"buffer", "event"}:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "input")
        if index == -1 and self.bug == "before-the-first-is-the-last":
            index = len(self.inputs) - 1
        if not 0 <= index < len(self.inputs):
            return wire.rejected()
        seen = self.inputs[index].source.step({key: value for key, value in event.items() if key != "input"})
        return wire.rejected() if seen == wire.rejected() else []

    def on_select(self, inputs: list[int]) -> wire.Observations:
        bug = self.bug
        if not all(0 <= index < len(self.inputs) for index in inputs):
            return wire.rejected()
        self.wish = set(inputs)
        if bug == "selection-of-eight":
            self.wish = {index for index in inputs if index < 8}
        elif bug == "selection-in-32-bits":
            bits = {index % 32 for index in inputs}
            self.wish = {index for index in range(len(self.inputs)) if index % 32 in bits}
        if bug == "selection-holds-at-once":
            self.ask()
        return []

    def ask(self) -> None:
        """The operator says what it selects; ends are read all the same."""
        bug = self.bug
        waiting = {index for index, one in enumerate(self.inputs) if one.data_ended and not one.over}
        self.selected = self.wish | (set() if bug == "ends-wait-for-selection" else waiting)
        if bug == "selection-ignored":
            self.selected = set(range(len(self.inputs)))

    def is_selected(self, one: Input) -> bool:
        return any(self.inputs[index] is one for index in self.selected)

    def may_read(self, one: Input) -> bool:
        return self.is_selected(one) and one.hopeful and (not one.over or self.bug == "over-is-read-again")

    def look(self) -> None:
        for one in self.inputs:
            one.look()

    def on_process(self, *, batch: bool) -> wire.Observations:
        bug = self.bug
        if not self.is_asked:
            self.is_asked = True
            self.ask()
        if bug == "looks-before-each-choice" or not any(map(self.may_read, self.inputs)):
            self.look()
        index = self.choose()
        if index is None:
            return [self.make_return(_NOTHING)]
        if bug != "looks-when-none-is-left" and not all(one.hopeful for one in self.inputs if self.is_selected(one)):
            self.look()
        self.last = index
        chosen = self.inputs[index]
        *elements, returned = chosen.source.step({"type": "process", "batch": batch and bug == "batches"})
        status = returned["status"]
        if bug == "operator-told-of-the-last-end-alone" and not self.is_last_to_end(chosen):
            elements = [one for one in elements if one["type"] != "end_input"]
        self.learn(chosen, status)
        if bug != "asks-once":
            self.ask()
        reads: wire.Json = {"type": "reads", "input": index}
        if self.is_stuck(status):
            return [reads, *elements, {"type": "no_progress"}]
        return [reads, *elements, self.make_return(self.sum_up(status))]

    def is_stuck(self, status: str) -> bool:
        """Nothing more to be had of those that are selected, for they are over."""
        if self.sum_up(status) != _NOTHING or self.bug == "waits-for-what-is-over":
            return False
        return all(self.inputs[index].over for index in self.selected)

    def choose(self) -> int | None:
        bug, count = self.bug, len(self.inputs)
        circle = [(self.last + distance) % count for distance in range(1, count + 1)]
        if bug == "lowest-first":
            circle.sort()
        elif bug == "stays-with-the-busy":
            circle = [self.last, *circle[:-1]]
        elif bug == "circle-goes-backwards":
            circle = [*circle[-2::-1], self.last]
        return next((index for index in circle if self.may_read(self.inputs[index])), None)

    def learn(self, one: Input, status: str) -> None:
        bug = self.bug
        if status == _NOTHING:
            one.hopeful = bug == "hope-never-ends"
        elif status == _MORE and bug == "hope-ends-with-each-element":
            one.hopeful = False
        elif status in {"end_of_data", "stopped"}:
            one.data_ended = True
            self.drained = self.drained and status == "end_of_data"
        elif status == _OVER:
            one.over = True

    def is_last_to_end(self, chosen: Input) -> bool:
        return all(one.data_ended or one.over for one in self.inputs if one is not chosen)

    def sum_up(self, status: str) -> str:
        bug = self.bug
        over = [one.over for one in self.inputs]
        if status == _MORE:
            return status
        if any(over) if bug == "over-with-the-first" and status == _OVER else all(over):
            return _OVER
        ends = status == "end_of_data" or (status == "stopped" and bug == "last-stop-is-said")
        ended = [one.data_ended or (one.over and bug != "over-is-no-end-of-data") for one in self.inputs]
        if ends and (all(ended) or bug == "data-ends-with-each-input"):
            return "end_of_data" if self.drained or bug == "one-drain-is-enough" else "stopped"
        if bug == "says-what-the-input-said" and status == _NOTHING:
            return status
        return _MORE if any(map(self.may_read, self.inputs)) else _NOTHING

    def make_return(self, status: str) -> wire.Json:
        known = any(map(self.may_read, self.inputs))
        asked = any(one.source.is_available() for one in self.inputs if not one.over and self.is_selected(one))
        over = all(one.over for one in self.inputs) and self.bug != "unavailable-when-over"
        return {"type": "returned", "status": status, "available": known or asked or over}


make = MultipleInputs
