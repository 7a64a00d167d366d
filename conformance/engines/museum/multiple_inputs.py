"""Several inputs of one task, NIN-9, each a network input of the museum."""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum import network_input
from tidegate.conformance.engines.museum.network_input import NetworkInput
from tidegate.conformance.engines.museum.wrong import changed, wrong

_MORE, _NOTHING, _OVER = "more_available", "nothing_available", "end_of_input"

_MOST = 63


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
    source = NetworkInput

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        sizes = wire.get_counts(config, "inputs", 2)
        if len(sizes) > _MOST:
            raise wire.BadRequestError(f"at most {_MOST} inputs, not {len(sizes)}")
        self.inputs = [Input(self.source({"channels": size}, host)) for size in sizes]
        self.last = 1
        self.drained = True
        self.selects = wire.get_extension(config, EXTENSIONS) is not None
        everybody = set(range(len(self.inputs)))
        self.wish, self.selected = everybody, everybody
        self.is_asked = False

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") == "process":
            return self.on_process(batch=wire.get_boolean(event, "batch"))
        if event.get("type") == "select" and self.selects:
            return self.on_select(wire.get_integers(event, "inputs"))
        if event.get("type") not in {"buffer", "event"}:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "input")
        if not 0 <= index < len(self.inputs):
            return wire.rejected()
        seen = self.inputs[index].source.step({key: value for key, value in event.items() if key != "input"})
        return wire.rejected() if seen == wire.rejected() else []

    def on_select(self, inputs: list[int]) -> wire.Observations:
        if not all(0 <= index < len(self.inputs) for index in inputs):
            return wire.rejected()
        self.wish = set(inputs)
        return []

    def ask(self) -> None:
        """The operator says what it selects; ends are read all the same."""
        waiting = {index for index, one in enumerate(self.inputs) if one.data_ended and not one.over}
        self.selected = self.wish | waiting

    def is_selected(self, one: Input) -> bool:
        return any(self.inputs[index] is one for index in self.selected)

    def may_read(self, one: Input) -> bool:
        return self.is_selected(one) and one.hopeful and not one.over

    def look(self) -> None:
        for one in self.inputs:
            one.look()

    def on_process(self, *, batch: bool) -> wire.Observations:
        if not self.is_asked:
            self.is_asked = True
            self.ask()
        if not any(map(self.may_read, self.inputs)):
            self.look()
        index = self.choose()
        if index is None:
            return [self.make_return(_NOTHING)]
        if not all(one.hopeful for one in self.inputs if self.is_selected(one)):
            self.look()
        self.last = index
        chosen = self.inputs[index]
        *elements, returned = chosen.source.step({"type": "process", "batch": False})
        status = returned["status"]
        self.learn(chosen, status)
        self.ask()
        reads: wire.Json = {"type": "reads", "input": index}
        if self.is_stuck(status):
            return [reads, *elements, {"type": "no_progress"}]
        return [reads, *elements, self.make_return(self.sum_up(status))]

    def is_stuck(self, status: str) -> bool:
        """The selected inputs have nothing more, for they are over."""
        return self.sum_up(status) == _NOTHING and all(self.inputs[index].over for index in self.selected)

    def choose(self) -> int | None:
        count = len(self.inputs)
        circle = ((self.last + distance) % count for distance in range(1, count + 1))
        return next((index for index in circle if self.may_read(self.inputs[index])), None)

    def learn(self, one: Input, status: str) -> None:
        if status == _NOTHING:
            one.hopeful = False
        elif status in {"end_of_data", "stopped"}:
            one.data_ended = True
            self.drained = self.drained and status == "end_of_data"
        elif status == _OVER:
            one.over = True

    def sum_up(self, status: str) -> str:
        if status == _MORE:
            return status
        if all(one.over for one in self.inputs):
            return _OVER
        if status == "end_of_data" and all(one.data_ended or one.over for one in self.inputs):
            return "end_of_data" if self.drained else "stopped"
        return _MORE if any(map(self.may_read, self.inputs)) else _NOTHING

    def make_return(self, status: str) -> wire.Json:
        known = any(map(self.may_read, self.inputs))
        asked = any(one.source.is_available() for one in self.inputs if not one.over and self.is_selected(one))
        over = all(one.over for one in self.inputs)
        return {"type": "returned", "status": status, "available": known or asked or over}


make = MultipleInputs

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("NIN-7", "NIN-4", "NIN-3")
class InputsBarrierForgetsTheCutRecord(MultipleInputs):
    """A barrier throws away what its channel has of a record that is cut."""

    source = network_input.InputBarrierForgetsTheCutRecord


@wrong("NIN-2", "NIN-9")
class InputsGoesOnWithoutLeave(MultipleInputs):
    """A call goes on after an element although mail waits."""

    source = network_input.InputGoesOnWithoutLeave


@wrong("NIN-3", "NIN-9")
class InputsStatusesPassTheValveBy(MultipleInputs):
    """Statuses go to the operator as they come, without the valve of their input."""

    source = network_input.InputStatusesPassTheValveBy


@wrong("NIN-8", "NIN-9", "NIN-4")
class InputsOperatorToldOfTheLastEndAlone(MultipleInputs):
    """The operator is told of the end of an input only when it is the last."""

    on_process = changed(
        MultipleInputs.on_process,
        "self.learn(chosen, status)",
        "if not all(one.data_ended or one.over for one in self.inputs if one is not chosen):\n"
        '    elements = [one for one in elements if one["type"] != "end_input"]\n'
        "self.learn(chosen, status)",
    )


@wrong("NIN-9")
class InputsCircleStartsAtTheFirst(MultipleInputs):
    """The first call begins with input 0, however many there are."""

    __init__ = changed(MultipleInputs.__init__, "self.last = 1", "self.last = len(self.inputs) - 1")


@wrong("NIN-9")
class InputsStartWithoutHope(MultipleInputs):
    """At first no input is taken to have something."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        for one in self.inputs:
            one.hopeful = False


@wrong("NIN-9")
class InputsBeforeTheFirstIsTheLast(MultipleInputs):
    """The index before the first input stands for the last one."""

    step = changed(
        MultipleInputs.step,
        "if not 0 <=",
        "index = len(self.inputs) - 1 if index == -1 else index\nif not 0 <=",
    )


@wrong("NIN-9")
class InputsLooksBeforeEachChoice(MultipleInputs):
    """All inputs are asked before each choice."""

    on_process = changed(MultipleInputs.on_process, "not any(map(self.may_read, self.inputs))", "True")


@wrong("NIN-9")
class InputsLooksWhenNoneIsLeft(MultipleInputs):
    """While one input is busy the others are never asked, and starve."""

    on_process = changed(
        MultipleInputs.on_process, "not all(one.hopeful for one in self.inputs if self.is_selected(one))", "False"
    )


@wrong("NIN-9")
class InputsOverIsReadAgain(MultipleInputs):
    """An input that is over is read again."""

    may_read = changed(MultipleInputs.may_read, " and not one.over", "")


@wrong("NIN-9")
class InputsLowestFirst(MultipleInputs):
    """Of the inputs that have something the one with the lowest number is read."""

    choose = changed(MultipleInputs.choose, "for index in circle", "for index in sorted(circle)")


@wrong("NIN-9")
class InputsStaysWithTheBusy(MultipleInputs):
    """An input is read as long as it has something, and starves the others."""

    choose = changed(MultipleInputs.choose, "range(1, count + 1)", "range(count)")


@wrong("NIN-9")
class InputsCircleGoesBackwards(MultipleInputs):
    """The circle goes from the higher input to the lower."""

    choose = changed(MultipleInputs.choose, "range(1, count + 1)", "range(-1, -count - 1, -1)")


@wrong("NIN-9")
class InputsHopeNeverEnds(MultipleInputs):
    """An input that said it has nothing is still taken to have something."""

    learn = changed(MultipleInputs.learn, "one.hopeful = False", "one.hopeful = True")


@wrong("NIN-9", "NIN-5")
class InputsHopeEndsWithEachElement(MultipleInputs):
    """An input leaves the round with each element."""

    learn = changed(MultipleInputs.learn, "status == _NOTHING", "status in {_NOTHING, _MORE}")


@wrong("NIN-9", "NIN-5")
class InputsOverWithTheFirst(MultipleInputs):
    """The end of input is said with that of the first."""

    sum_up = changed(MultipleInputs.sum_up, "all(one.over", "(any if status == _OVER else all)(one.over")


@wrong("NIN-9")
class InputsLastStopIsSaid(MultipleInputs):
    """If the last input to end was stopped, the call says so."""

    sum_up = changed(MultipleInputs.sum_up, 'status == "end_of_data"', 'status in {"end_of_data", "stopped"}')


@wrong("NIN-9")
class InputsOverIsNoEndOfData(MultipleInputs):
    """An input that is over without an end of data holds up the end of all data."""

    sum_up = changed(MultipleInputs.sum_up, "one.data_ended or one.over", "one.data_ended")


@wrong("NIN-9", "NIN-4")
class InputsDataEndsWithEachInput(MultipleInputs):
    """The end of data is said with that of each input."""

    sum_up = changed(MultipleInputs.sum_up, " and all(one.data_ended or one.over for one in self.inputs)", "")


@wrong("NIN-9")
class InputsOneDrainIsEnough(MultipleInputs):
    """The end of all data counts as drained though an input was stopped."""

    sum_up = changed(MultipleInputs.sum_up, '"end_of_data" if self.drained else "stopped"', '"end_of_data"')


@wrong("NIN-9", "NIN-5")
class InputsSaysWhatTheInputSaid(MultipleInputs):
    """The call says that there is nothing because the input that was read has nothing."""

    sum_up = changed(MultipleInputs.sum_up, "_MORE if any", "_MORE if status != _NOTHING and any")


@wrong("NIN-9", "NIN-6")
class InputsUnavailableWhenOver(MultipleInputs):
    """When all is over the inputs are not available."""

    make_return = changed(MultipleInputs.make_return, " or over", "")


@wrong("NIN-9", "NIN-2", "NIN-4", "NIN-5", "NIN-8", "NIN-10")
class InputsBatches(MultipleInputs):
    """A call that may go on after an element does so, and the other inputs wait for the whole batch."""

    on_process = changed(MultipleInputs.on_process, '"batch": False', '"batch": batch')


@wrong("NIN-10", "NIN-9", "NIN-5")
class InputsSelectionIgnored(MultipleInputs):
    """All inputs are read, whatever the operator selects."""

    ask = changed(MultipleInputs.ask, "self.wish | waiting", "set(range(len(self.inputs)))")


@wrong("NIN-10", "NIN-9", "NIN-5")
class InputsSelectionHoldsAtOnce(MultipleInputs):
    """The operator is asked before each choice; what it decides between two reads counts too early."""

    def on_select(self, inputs: list[int]) -> wire.Observations:
        seen = super().on_select(inputs)
        if not seen:
            self.ask()
        return seen


@wrong("NIN-10", "NIN-9", "NIN-5")
class InputsAsksFromTheSecondCall(MultipleInputs):
    """The operator is not asked before the first call: what it decided when it was opened comes too late."""

    __init__ = changed(MultipleInputs.__init__, "self.is_asked = False", "self.is_asked = True")


@wrong("NIN-10", "NIN-9", "NIN-5")
class InputsAsksOnce(MultipleInputs):
    """The operator is asked once, at the beginning."""

    on_process = changed(
        MultipleInputs.on_process, "self.learn(chosen, status)\n    self.ask()", "self.learn(chosen, status)"
    )


@wrong("NIN-10", "NIN-9", "NIN-5", "NIN-8")
class InputsEndsWaitForSelection(MultipleInputs):
    """An input whose data has ended is not read to its end unless it is selected: the task never finishes."""

    ask = changed(MultipleInputs.ask, "self.wish | waiting", "self.wish")


@wrong("NIN-10", "NIN-9", "NIN-5")
class InputsWaitsForWhatIsOver(MultipleInputs):
    """A task that can make no progress, because all that it selects is over, waits for ever."""

    def is_stuck(self, status: str) -> bool:
        return False


@wrong("NIN-10", "NIN-9")
class InputsSelectionOfEight(MultipleInputs):
    """What an operator selects is a mask of eight bits: further inputs are never selected."""

    on_select = changed(MultipleInputs.on_select, "set(inputs)", "{index for index in inputs if index < 8}")


@wrong("NIN-10", "NIN-9")
class InputsSelectionIn32Bits(MultipleInputs):
    """What an operator selects is a mask of 32 bits: the 33rd input is taken for the first."""

    on_select = changed(
        MultipleInputs.on_select,
        "set(inputs)",
        "{index for index in range(len(self.inputs)) if index % 32 in {one % 32 for one in inputs}}",
    )
