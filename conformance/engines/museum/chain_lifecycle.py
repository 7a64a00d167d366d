"""The life cycle of a chain, CHAIN-30 … CHAIN-37, CHAIN-39 … CHAIN-41.

Everything that happens is a script: a list of calls, written down first and then played, by one of two players. One
stops at the first call that fails, the other goes on to the end.
"""

from collections.abc import Iterable

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

SEMANTICS = ("flink-2.3", "flink-1.10", "flink-1.5")
EXTENSIONS = ("finished",)

_STEPS = ("prepare", "snapshot", "complete", "abort", "subsume")
_FALLIBLE = ("init", "open", "end_input", "finish", *_STEPS, "close", "dispose")
_CALLS = (*_FALLIBLE, "create", "quiesce", "mail")
_ELEMENTS = ("record", "status", "latency_marker")
_THE_END: wire.Json = {"type": "watermark", "timestamp": str(wire.HIGHEST)}

#: Who is called, and how; of the end of an input also which one, behind a colon.
Call = tuple[int, str]


def to_json(call: Call) -> wire.Json:
    operator, name = call
    told, _, index = name.partition(":")
    return {"type": "call", "operator": operator, "call": told, **({"input": int(index)} if index else {})}


def read_parents(operators: object) -> tuple[list[int], list[bool]]:
    if type(operators) is not list or not operators or not all(type(one) is dict for one in operators):
        raise wire.BadRequestError("operators must be a list of objects")
    parents = []
    for index, operator in enumerate(operators):
        if ("parent" in operator) != bool(index):
            raise wire.BadRequestError("all operators but the head have a parent")
        parents.append(wire.get_integer(operator, "parent") if index else -1)
        if index and not 0 <= parents[index] < index:
            raise wire.BadRequestError("the parent of an operator stands before it")
    return parents, [wire.get_boolean(operator, "lingers") for operator in operators]


class ChainLifecycle:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.parents, self.lingers = read_parents(config.get("operators"))
        self.sources = wire.get_at_least(config, "sources", 0)
        self.inputs = wire.get_at_least(config, "inputs", 0)
        self.semantics = wire.get_semantics(config, SEMANTICS)
        self.old = self.semantics != "flink-2.3"
        if self.sources > self.inputs or (self.sources and self.old):
            raise wire.BadRequestError("there are no such chained sources")
        self.past = wire.get_extension(config, EXTENSIONS) is not None
        if self.past and self.old:
            raise wire.BadRequestError("such chains are restored by newer semantics")
        #: The inputs that have yet to say that event time is over, chained sources behind the others.
        self.silent = set(range(self.inputs))
        self.tail_first = self.order_of_creation()
        self.created = self.opened = self.finished = self.broken = self.closed = False
        self.ended: set[int] = set()
        self.mails: list[int] = []
        self.faults: set[Call] = set()

    def order_of_creation(self) -> list[int]:
        children: dict[int, list[int]] = {index: [] for index in range(len(self.parents))}
        for index, parent in enumerate(self.parents[1:], start=1):
            children[parent].append(index)
        # Heads first with the last branch first, and then turned round.
        order, waiting = [], [0]
        while waiting:
            operator = waiting.pop()
            order.append(operator)
            waiting += children[operator]
        order.reverse()
        sources = list(range(len(self.parents), len(self.parents) + self.sources))
        return order + sources

    def step(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "create":
                return self.on_create()
            case "open":
                return self.on_open()
            case "end_input":
                return self.on_end_input(wire.get_integer(event, "input"))
            case "mail":
                return self.on_mail(wire.get_integer(event, "operator"))
            case "finish":
                return self.on_finish(drain=wire.get_boolean(event, "drain"))
            case "checkpoint":
                return self.on_checkpoint(wire.get_choice(event, "step", _STEPS))
            case "close":
                return self.on_close()
            case "fault":
                return self.on_fault(event)
            case "watermark" if self.past:
                timestamp = wire.get_long(event, "timestamp")
                return self.on_watermark(wire.get_integer(event, "input"), timestamp)
            case "element" if self.past:
                wire.get_integer(event, "input")
                wire.get_choice(event, "kind", _ELEMENTS)
                return wire.rejected()
        raise wire.unknown_type(event)

    # --- a chain that had finished before

    def has_input(self, index: int) -> bool:
        return self.is_running() and 0 <= index < self.inputs - self.sources and index not in self.ended

    def on_watermark(self, index: int, timestamp: int) -> wire.Observations:
        if not self.has_input(index) or index not in self.silent or timestamp != wire.HIGHEST:
            return wire.rejected()
        self.silent.discard(index)
        return [] if self.silent else [_THE_END]

    def finish_again(self, *, drain: bool) -> wire.Observations:
        """What its beginnings have to say, in the end."""
        if not drain:
            return []
        begins = self.sources > 0 or self.inputs == 0
        is_over = all(one >= self.inputs - self.sources for one in self.silent)
        return [_THE_END] if begins and is_over else []

    def save_channels(self) -> wire.Observations:
        parts = [(self.tail_first[0], "outputs"), (0, "inputs")]
        if parts[0][0] == 0:
            parts.reverse()
        return [{"type": "channel_state", "operator": operator, "side": side} for operator, side in parts]

    # --- playing

    def fails(self, call: Call) -> bool:
        return (call[0], call[1].partition(":")[0]) in self.faults

    def play(self, script: list[Call]) -> wire.Observations:
        """Up to the first call that fails."""
        out: wire.Observations = []
        for call in script:
            out.append(to_json(call))
            if self.fails(call):
                return [*out, {"type": "failed", "operator": call[0], "suppressed": []}]
        return out

    def play_all(self, script: list[Call]) -> wire.Observations:
        out = [to_json(call) for call in script]
        errors = [call[0] for call in script if self.fails(call)]
        if not errors:
            return out
        return [*out, {"type": "failed", "operator": errors[0], "suppressed": errors[1:]}]

    def is_failure(self, out: wire.Observations) -> bool:
        return bool(out) and out[-1]["type"] == "failed"

    # --- events

    def on_fault(self, event: wire.Json) -> wire.Observations:
        operator, call = wire.get_integer(event, "operator"), wire.get_choice(event, "call", _CALLS)
        failing = wire.get_boolean(event, "failing")
        if call not in _FALLIBLE:
            raise wire.BadRequestError(f"{call} does not fail")
        if operator not in self.tail_first:
            return wire.rejected()
        (self.faults.add if failing else self.faults.discard)((operator, call))
        return []

    def on_create(self) -> wire.Observations:
        if self.created:
            return wire.rejected()
        self.created = True
        return [to_json((operator, "create")) for operator in self.tail_first]

    def on_open(self) -> wire.Observations:
        if not self.created or self.opened or self.broken or self.closed:
            return wire.rejected()
        order, calls = self.tail_first, ("init", "open")
        if self.semantics == "flink-1.5":
            script = [(operator, call) for call in calls for operator in order]
        else:
            script = [(operator, call) for operator in order for call in calls]
        out = self.play([] if self.past else script)
        self.broken = self.is_failure(out)
        self.opened = not self.broken
        return out

    def is_running(self) -> bool:
        return self.opened and not (self.finished or self.broken or self.closed)

    def on_end_input(self, index: int) -> wire.Observations:
        if not self.is_running() or not 0 <= index < self.inputs or index in self.ended:
            return wire.rejected()
        self.ended.add(index)
        if self.semantics == "flink-1.5" or self.past:
            return []
        out = self.play([(0, f"end_input:{index}")])
        self.broken = self.is_failure(out)
        return out

    def on_mail(self, operator: int) -> wire.Observations:
        if not self.is_running() or self.semantics == "flink-1.5" or self.past or operator not in self.tail_first:
            return wire.rejected()
        self.mails.append(operator)
        return []

    def on_finish(self, *, drain: bool) -> wire.Observations:
        if not self.is_running() or (drain and len(self.ended) < self.inputs):
            return wire.rejected()
        if not drain and self.semantics == "flink-1.5":
            return wire.rejected()
        if self.past:
            out = self.finish_again(drain=drain)
        elif self.old:
            out = self.play(self.write_old_end())
        else:
            out = self.play(self.write_end() if drain else self.write_stop())
        self.mails.clear()
        self.broken = self.is_failure(out)
        self.finished = not self.broken
        return out

    def run_mails(self, mails: Iterable[int]) -> list[Call]:
        return [(operator, "mail") for operator in mails]

    def linger(self, operator: int) -> list[Call]:
        return [(operator, "mail")] if operator < len(self.parents) and self.lingers[operator] else []

    def write_end(self) -> list[Call]:
        script: list[Call] = []
        waiting = self.run_mails(self.mails)
        for operator in self.tail_first[::-1]:
            told = [(operator, "end_input:0")] if 0 < operator < len(self.parents) else []
            script += [*told, (operator, "quiesce"), *waiting, (operator, "finish"), *self.linger(operator)]
            waiting = []
        return script

    def write_stop(self) -> list[Call]:
        first, *others = [(operator, "quiesce") for operator in self.tail_first[::-1]]
        return [first, *self.run_mails(self.mails), *others]

    def write_old_end(self) -> list[Call]:
        has_mailbox = self.semantics == "flink-1.10"
        script: list[Call] = []
        late = self.run_mails(self.mails)
        for operator in self.tail_first[::-1]:
            if operator and has_mailbox:
                script.append((operator, "end_input:0"))
            script.append((operator, "close"))
            late += self.linger(operator)
        return script + (late if has_mailbox else [])

    def on_checkpoint(self, what: str) -> wire.Observations:
        if not self.opened or (what in {"abort", "subsume"} and self.old):
            return wire.rejected()
        if self.past:
            return self.save_channels() if what == "snapshot" else []
        if self.closed and not self.old and what != "abort":
            return []
        order = self.tail_first
        if what == "prepare":
            order = [operator for operator in order[::-1] if operator < len(self.parents)]
        script = [(operator, what) for operator in order]
        tells_all = what in {"complete", "abort", "subsume"} and not self.old
        return self.play_all(script) if tells_all else self.play(script)

    def on_close(self) -> wire.Observations:
        if not self.created:
            return wire.rejected()
        if self.closed:
            return []
        self.closed = True
        self.mails.clear()
        order = self.tail_first
        if self.past:
            return []
        if not self.old:
            return self.play_all([(operator, "close") for operator in order])
        script = [(operator, "dispose") for operator in order]
        if not self.finished:
            return [to_json(call) for call in script]
        careful = self.play(script)
        if not self.is_failure(careful):
            return careful
        return [*careful[:-1], *[to_json(call) for call in script], careful[-1]]


make = ChainLifecycle

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("CHAIN-30")
class LifecycleCreatedHeadFirst(ChainLifecycle):
    """Operators are created from the head on, before there is anything that they could emit to."""

    on_create = changed(ChainLifecycle.on_create, "self.tail_first", "self.tail_first[::-1]")


@wrong("CHAIN-30", "CHAIN-31", "CHAIN-32", "CHAIN-33", "CHAIN-34", "CHAIN-36")
class LifecycleLastBranchFirst(ChainLifecycle):
    """Of several branches the last one is created first."""

    order_of_creation = changed(ChainLifecycle.order_of_creation, "children[operator]", "children[operator][::-1]")


@wrong("CHAIN-30", "CHAIN-31", "CHAIN-33", "CHAIN-34", "CHAIN-35", "CHAIN-36", "CHAIN-32")
class LifecycleSourcesCreatedFirst(ChainLifecycle):
    """Chained sources are created before the operators that they feed."""

    order_of_creation = changed(ChainLifecycle.order_of_creation, "order + sources", "sources + order")


@wrong("CHAIN-30", "CHAIN-31", "CHAIN-33", "CHAIN-34", "CHAIN-35", "CHAIN-36")
class LifecycleLastSourceFirst(ChainLifecycle):
    """Chained sources are created in the reverse order of the inputs."""

    order_of_creation = changed(ChainLifecycle.order_of_creation, "order + sources", "order + sources[::-1]")


@wrong("CHAIN-31", "CHAIN-30")
class LifecycleOpensHeadFirst(ChainLifecycle):
    """Operators are opened from the head on, and may emit into one that is not open."""

    on_open = changed(ChainLifecycle.on_open, "self.tail_first", "self.tail_first[::-1]")


@wrong("CHAIN-31", origin="Flink 1.5")
class LifecycleRestoresAllFirst(ChainLifecycle):
    """The state of all operators is restored before the first one is opened."""

    on_open = changed(ChainLifecycle.on_open, 'self.semantics == "flink-1.5"', "True")


@wrong("CHAIN-31")
class LifecycleOpensBeforeRestoring(ChainLifecycle):
    """An operator is opened before its state is restored."""

    on_open = changed(ChainLifecycle.on_open, '"init", "open"', '"open", "init"')


@wrong("CHAIN-31")
class LifecycleOpensOnAfterFailure(ChainLifecycle):
    """After an operator failed to open the others are opened all the same."""

    on_open = changed(ChainLifecycle.on_open, "self.play(", "self.play_all(")


@wrong("CHAIN-31")
class LifecycleOpensAfterFailure(ChainLifecycle):
    """A chain that failed to open may be opened again."""

    on_open = changed(ChainLifecycle.on_open, " or self.broken", "")


@wrong("CHAIN-32")
class LifecyclePreparesTailFirst(ChainLifecycle):
    """Operators prepare for a barrier from the tail on: what the head emits then comes too late for those behind it."""

    on_checkpoint = changed(ChainLifecycle.on_checkpoint, "order[::-1]", "order")


@wrong("CHAIN-32")
class LifecyclePreparesSources(ChainLifecycle):
    """Chained sources are asked to prepare for a barrier, too."""

    on_checkpoint = changed(ChainLifecycle.on_checkpoint, " if operator < len(self.parents)", "")


@wrong("CHAIN-33")
class LifecycleSnapshotHeadFirst(ChainLifecycle):
    """Snapshots are taken from the head on."""

    on_checkpoint = changed(
        ChainLifecycle.on_checkpoint,
        "for operator in order]",
        'for operator in (order[::-1] if what == "snapshot" else order)]',
    )


@wrong("CHAIN-33")
class LifecycleAbortHeadFirst(ChainLifecycle):
    """That a checkpoint was aborted is told from the head on."""

    on_checkpoint = changed(
        ChainLifecycle.on_checkpoint,
        "for operator in order]",
        'for operator in (order[::-1] if what == "abort" else order)]',
    )


@wrong("CHAIN-33")
class LifecycleSnapshotsAllTheSame(ChainLifecycle):
    """A snapshot goes on after an operator has failed."""

    on_checkpoint = changed(ChainLifecycle.on_checkpoint, "tells_all = ", 'tells_all = what == "snapshot" or ')


@wrong("CHAIN-33", origin="Flink 1.5 to 1.10")
class LifecycleToldUpToAnError(ChainLifecycle):
    """A notification ends with the first operator that fails, and the others are not told."""

    on_checkpoint = changed(ChainLifecycle.on_checkpoint, "if tells_all", "if False")


@wrong("CHAIN-33", origin="FLINK-16383")
class LifecycleClosedOperatorsTold(ChainLifecycle):
    """Completed checkpoints are relayed to operators that are closed already."""

    on_checkpoint = changed(ChainLifecycle.on_checkpoint, "self.closed and", "False and")


@wrong("CHAIN-33")
class LifecycleClosedOperatorsNeverTold(ChainLifecycle):
    """Closed operators are not even told that a checkpoint was aborted."""

    on_checkpoint = changed(ChainLifecycle.on_checkpoint, ' and what != "abort"', "")


@wrong("CHAIN-33", "CHAIN-36")
class LifecycleErrorsSwallowed(ChainLifecycle):
    """Errors of notifications and of closing reach nobody."""

    play_all = changed(ChainLifecycle.play_all, "if not errors:", "if True:")


@wrong("CHAIN-33", "CHAIN-36")
class LifecycleLastErrorRaised(ChainLifecycle):
    """The last error is raised, with the earlier ones attached."""

    play_all = changed(ChainLifecycle.play_all, "for call in script if", "for call in reversed(script) if")


@wrong("CHAIN-33", "CHAIN-36")
class LifecycleLaterErrorsLost(ChainLifecycle):
    """Only the first error is kept."""

    play_all = changed(ChainLifecycle.play_all, "errors[1:]", "[]")


@wrong("CHAIN-34", "CHAIN-37", origin="FLINK-14231")
class LifecycleAllInputsEndFirst(ChainLifecycle):
    """All chained operators learn that their input has ended before the first one finishes; then records still come."""

    def write_end(self) -> list[Call]:
        return sorted(super().write_end(), key=lambda call: not call[1].startswith("end_input"))


@wrong("CHAIN-34", origin="FLINK-14230")
class LifecycleAllToldAtOnce(ChainLifecycle):
    """When an input of the head ends, all operators of the chain are told that theirs has."""

    on_end_input = changed(
        ChainLifecycle.on_end_input,
        '[(0, f"end_input:{index}")]',
        '[(one, f"end_input:{index}") for one in self.tail_first[::-1] if one < len(self.parents)]',
    )


@wrong("CHAIN-34", "CHAIN-36", "CHAIN-37", "CHAIN-35", origin="FLINK-14230", semantics="flink-1.10")
class LifecycleOldEndsToldFirst(ChainLifecycle):
    """As in 1.9 all operators are told of the end before the first one is closed."""

    write_old_end = changed(
        ChainLifecycle.write_old_end, "return script", 'return sorted(script, key=lambda call: call[1] == "close")'
    )


@wrong("CHAIN-34", "CHAIN-37")
class LifecycleFinishesTailFirst(ChainLifecycle):
    """Operators finish from the tail on, and what the head emits last meets finished ones."""

    write_end = changed(ChainLifecycle.write_end, "self.tail_first[::-1]", "self.tail_first")


@wrong("CHAIN-34", "CHAIN-37")
class LifecycleFinishesBeforeTold(ChainLifecycle):
    """A chained operator finishes before it is told that its input has ended."""

    write_end = changed(
        ChainLifecycle.write_end, "*told, ", "", "*self.linger(operator)", "*told, *self.linger(operator)"
    )


@wrong("CHAIN-34", "CHAIN-37", origin="FLINK-18907")
class LifecycleSourceEndsInputOfHead(ChainLifecycle):
    """A chained source that finishes ends an input of the head, which was told already."""

    write_end = changed(
        ChainLifecycle.write_end,
        "else []",
        'else [(0, f"end_input:{operator - len(self.parents)}")] if operator else []',
    )


@wrong("CHAIN-34")
class LifecycleHeadToldOfLastInputOnly(ChainLifecycle):
    """The head is told only when its last input ends."""

    on_end_input = changed(ChainLifecycle.on_end_input, "or self.past", "or self.past or len(self.ended) < self.inputs")


@wrong("CHAIN-34")
class LifecycleInputEndsTwice(ChainLifecycle):
    """An input may end twice."""

    on_end_input = changed(ChainLifecycle.on_end_input, " or index in self.ended", "")


@wrong("CHAIN-34")
class LifecycleDrainsTooEarly(ChainLifecycle):
    """A chain drains although an input is still open."""

    on_finish = changed(ChainLifecycle.on_finish, " or (drain and len(self.ended) < self.inputs)", "")


@wrong("CHAIN-35", "CHAIN-37", origin="FLINK-21132")
class LifecycleStopFinishes(ChainLifecycle):
    """A stop with savepoint ends the inputs and finishes the operators as if the data had ended."""

    on_finish = changed(ChainLifecycle.on_finish, " if drain else self.write_stop()", "")


@wrong("CHAIN-35", "CHAIN-37", origin="FLINK-21132")
class LifecycleStopEndsInputs(ChainLifecycle):
    """A stop with savepoint tells the chained operators that their input has ended."""

    def write_stop(self) -> list[Call]:
        chained = [operator for operator in self.tail_first[::-1] if 0 < operator < len(self.parents)]
        return super().write_stop() + [(operator, "end_input:0") for operator in chained]


@wrong("CHAIN-35", "CHAIN-37")
class LifecycleStopDropsMails(ChainLifecycle):
    """A stop does not run the mails that wait."""

    write_stop = changed(ChainLifecycle.write_stop, "*self.run_mails(self.mails), ", "")


@wrong("CHAIN-37", "CHAIN-35")
class LifecycleStopRunsMailsLast(ChainLifecycle):
    """A stop runs the mails that wait after the timers of all operators were stopped."""

    write_stop = changed(
        ChainLifecycle.write_stop,
        "first, *self.run_mails(self.mails), *others",
        "first, *others, *self.run_mails(self.mails)",
    )


@wrong("CHAIN-36")
class LifecycleClosesUpToAnError(ChainLifecycle):
    """An operator that fails to close keeps those behind it from being closed."""

    on_close = changed(ChainLifecycle.on_close, "self.play_all", "self.play")


@wrong("CHAIN-36")
class LifecycleClosesHeadFirst(ChainLifecycle):
    """Operators are closed from the head on."""

    on_close = changed(ChainLifecycle.on_close, "self.tail_first", "self.tail_first[::-1]")


@wrong("CHAIN-36", "CHAIN-33")
class LifecycleClosesAgain(ChainLifecycle):
    """Closing a chain again closes its operators again."""

    on_close = changed(ChainLifecycle.on_close, "self.closed = True", "pass")


@wrong("CHAIN-36")
class LifecycleSecondCloseRefused(ChainLifecycle):
    """Closing a chain again is refused."""

    def on_close(self) -> wire.Observations:
        return wire.rejected() if self.closed else super().on_close()


@wrong("CHAIN-36", semantics="flink-1.10")
class LifecycleDisposesUpToAnError(ChainLifecycle):
    """After an error in a careful disposal the others are not disposed of."""

    on_close = changed(ChainLifecycle.on_close, "not self.is_failure(careful)", "True")


@wrong("CHAIN-37", "CHAIN-34")
class LifecycleMailsRunAfterFinish(ChainLifecycle):
    """The mails that wait are run after the first operator has finished."""

    write_end = changed(ChainLifecycle.write_end, '*waiting, (operator, "finish")', '(operator, "finish"), *waiting')


@wrong("CHAIN-37", "CHAIN-34")
class LifecycleMailsBeforeQuiescence(ChainLifecycle):
    """The mails that wait are run before the timers are stopped."""

    write_end = changed(
        ChainLifecycle.write_end, '(operator, "quiesce"), *waiting', '*reversed(waiting), (operator, "quiesce")'
    )


@wrong("CHAIN-37", "CHAIN-34", origin="Flink 1.10")
class LifecycleLeftMailsRunLast(ChainLifecycle):
    """Mails that an operator leaves behind run when all have finished."""

    def write_end(self) -> list[Call]:
        late = [mail for operator in self.tail_first[::-1] for mail in self.linger(operator)]
        self.lingers = [False] * len(self.lingers)
        return super().write_end() + late


@wrong("CHAIN-37", "CHAIN-34")
class LifecycleLeftMailsBehindNextEnd(ChainLifecycle):
    """Mails that an operator leaves behind run after the next one was told that its input has ended."""

    def write_end(self) -> list[Call]:
        script = super().write_end()
        for place in range(1, len(script)):
            mail, end = script[place - 1 : place + 1]
            if mail[1] == "mail" and end[1] == "end_input:0":
                script[place - 1 : place + 1] = end, mail
        return script


@wrong("CHAIN-39")
class LifecyclePastRestores(ChainLifecycle):
    """Operators that had finished are restored."""

    on_open = changed(
        ChainLifecycle.on_open, "[] if self.past", '[(operator, "init") for operator in order] if self.past'
    )


@wrong("CHAIN-39")
class LifecyclePastOpens(ChainLifecycle):
    """Operators that had finished are restored and opened, and begin anew."""

    on_open = changed(ChainLifecycle.on_open, "[] if self.past else ", "")


@wrong("CHAIN-39")
class LifecyclePastHeadTold(ChainLifecycle):
    """The head that had finished is told that its input has ended."""

    on_end_input = changed(ChainLifecycle.on_end_input, " or self.past", "")


@wrong("CHAIN-39")
class LifecyclePastFinishesAgain(ChainLifecycle):
    """A chain that had finished finishes again, and emits a second time what it had left."""

    def finish_again(self, *, drain: bool) -> wire.Observations:
        return self.play(self.write_end()) if drain else []


@wrong("CHAIN-39")
class LifecyclePastPrepareTold(ChainLifecycle):
    """Operators that had finished are prepared for a barrier."""

    on_checkpoint = changed(ChainLifecycle.on_checkpoint, "if self.past:", 'if self.past and what != "prepare":')


@wrong("CHAIN-39")
class LifecyclePastCompleteTold(ChainLifecycle):
    """Operators that had finished are told to commit."""

    on_checkpoint = changed(ChainLifecycle.on_checkpoint, "if self.past:", 'if self.past and what != "complete":')


@wrong("CHAIN-39")
class LifecyclePastAbortTold(ChainLifecycle):
    """Operators that had finished are told of a checkpoint that was aborted."""

    on_checkpoint = changed(ChainLifecycle.on_checkpoint, "if self.past:", 'if self.past and what != "abort":')


@wrong("CHAIN-39")
class LifecyclePastSubsumeTold(ChainLifecycle):
    """Operators that had finished are told of a checkpoint that was subsumed."""

    on_checkpoint = changed(ChainLifecycle.on_checkpoint, "if self.past:", 'if self.past and what != "subsume":')


@wrong("CHAIN-39")
class LifecyclePastCloses(ChainLifecycle):
    """Operators that were never opened are closed."""

    on_close = changed(ChainLifecycle.on_close, "self.past", "False")


@wrong("CHAIN-39")
class LifecyclePastTakesMails(ChainLifecycle):
    """An operator that had finished puts a mail."""

    on_mail = changed(ChainLifecycle.on_mail, " or self.past", "")


@wrong("CHAIN-40")
class LifecyclePastSaysNothing(ChainLifecycle):
    """Nobody behind the chain learns that event time is over."""

    on_watermark = changed(ChainLifecycle.on_watermark, "[] if self.silent else [_THE_END]", "[]")


@wrong("CHAIN-40")
class LifecyclePastFirstEndIsEnough(ChainLifecycle):
    """The chain says that event time is over when the first of its inputs does."""

    on_watermark = changed(ChainLifecycle.on_watermark, "if self.silent", "if len(self.silent) != self.inputs - 1")


@wrong("CHAIN-40")
class LifecyclePastEndSaidTwice(ChainLifecycle):
    """An input may say twice that event time is over."""

    on_watermark = changed(ChainLifecycle.on_watermark, " or index not in self.silent", "")


@wrong("CHAIN-40")
class LifecyclePastTakesAnyWatermark(ChainLifecycle):
    """Any watermark is taken for the last."""

    on_watermark = changed(ChainLifecycle.on_watermark, " or timestamp != wire.HIGHEST", "")


@wrong("CHAIN-40")
class LifecyclePastStatusesIgnored(ChainLifecycle):
    """A status, which cannot come, is passed over in silence."""

    def step(self, event: wire.Json) -> wire.Observations:
        seen = super().step(event)
        ignored = event["type"] == "element" and event["kind"] == "status" and self.has_input(event["input"])
        return [] if ignored else seen


@wrong("CHAIN-40")
class LifecyclePastSourcesNotAwaited(ChainLifecycle):
    """The chain says that event time is over before its chained sources do."""

    on_watermark = changed(
        ChainLifecycle.on_watermark,
        "if self.silent",
        "if any(one < self.inputs - self.sources for one in self.silent)",
    )


@wrong("CHAIN-40")
class LifecyclePastSourcesSilent(ChainLifecycle):
    """Chained sources that had finished never say that event time is over."""

    def finish_again(self, *, drain: bool) -> wire.Observations:
        return []


@wrong("CHAIN-40")
class LifecyclePastStopEndsTime(ChainLifecycle):
    """A stop without drain ends event time."""

    finish_again = changed(ChainLifecycle.finish_again, "if not drain:", "if False:")


@wrong("CHAIN-40")
class LifecyclePastEndSaidInAnyCase(ChainLifecycle):
    """The end of the chain says that event time is over, whatever its inputs said."""

    finish_again = changed(ChainLifecycle.finish_again, "begins and is_over", "True")


@wrong("CHAIN-41")
class LifecyclePastNothingSaved(ChainLifecycle):
    """What is on the channels of such a chain is not saved."""

    def save_channels(self) -> wire.Observations:
        return []


@wrong("CHAIN-41")
class LifecyclePastInputsNotSaved(ChainLifecycle):
    """What is on the inputs of such a chain is not saved."""

    save_channels = changed(ChainLifecycle.save_channels, ', (0, "inputs")', "")


@wrong("CHAIN-41")
class LifecyclePastPartsOfTheHead(ChainLifecycle):
    """What is on the outputs is saved as a part of the head."""

    save_channels = changed(ChainLifecycle.save_channels, "self.tail_first[0]", "0")


@wrong("CHAIN-41", "CHAIN-39")
class LifecyclePastSnapshotTold(ChainLifecycle):
    """Operators that had finished are asked for their state."""

    on_checkpoint = changed(ChainLifecycle.on_checkpoint, "if self.past:", 'if self.past and what != "snapshot":')
