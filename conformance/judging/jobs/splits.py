"""Sources that read splits: the output of a subtask, given what its splits did.

The engine chooses which split is read first, which is paused, and when a watermark generator emits, and reports
it. The rest follows: the output of a source (`source_output`) makes one stream of it, and that is the script that
the subtask followed.
"""

from typing import Any

import attrs

from tidegate.conformance.engines.text import printable
from tidegate.reference.elements import MAX, MIN, Long, Status, StatusChange, Watermark
from tidegate.reference.job.programs import Config, Operator, Record, ScriptItem
from tidegate.reference.model import Rejected
from tidegate.reference.watermarks import source_output
from tidegate.reference.watermarks.multiplexer import Mode

#: By operator and subtask: the rules behind each item of the script.
Reasons = dict[tuple[int, int], tuple[tuple[str, ...], ...]]


class BadSplitsError(ValueError):
    """What the engine reports of splits is impossible."""


@attrs.frozen
class Followed:
    """A program whose scripts are the output of its sources, and the rules behind it."""

    config: Config
    reasons: Reasons


def read_scripts(config: Config, told: dict[str, list[list[Any]]]) -> Followed:
    """Each source with the stream that it makes of its splits.

    Raises
    ------
    BadSplitsError
        An item was left out, read twice, or read before an earlier one of its split.
    """
    operators, reasons = [], Reasons()
    for operator in config.operators:
        scripts = list(operator.scripts)
        for subtask in range(len(scripts)):
            words = told.get(f"{operator.id}/{subtask}")
            if words is not None:
                emitted = Edge(operator, subtask).follow(words)
                scripts[subtask] = tuple(item for item, _rules in emitted)
                reasons[operator.id, subtask] = tuple(rules for _item, rules in emitted)
        operators.append(attrs.evolve(operator, scripts=tuple(scripts)))
    return Followed(attrs.evolve(config, operators=tuple(operators)), reasons)


class Edge:
    """The output edge of one subtask of a source."""

    def __init__(self, operator: Operator, subtask: int) -> None:
        self.name, self.script = f"{operator.name}/{subtask}", operator.scripts[subtask]
        (self.state,) = source_output.start(source_output.Config())
        self.read: dict[int, int] = {}
        self.last: dict[int, int] = {}

    def follow(self, words: list[list[Any]]) -> list[tuple[ScriptItem, tuple[str, ...]]]:
        emitted: list[tuple[ScriptItem, tuple[str, ...]]] = []
        for word in words:
            try:
                event, item = self.understand(word)
                (outcome,) = source_output.step(self.state, event)
            except ValueError as error:
                raise BadSplitsError(f"{self.name} cannot have done {printable(str(word), 80)}: {error}") from None
            self.state = outcome.state
            for seen in outcome.observations:
                if isinstance(seen, Rejected):
                    raise BadSplitsError(f"{self.name}: {printable(str(word), 80)} comes out of turn")
                if isinstance(seen, Watermark | StatusChange):
                    emitted.append((seen, outcome.rules))
                elif item is not None:
                    emitted.append((item, outcome.rules))
        left = [at for at in range(len(self.script)) if at not in self.read]
        if left:
            raise BadSplitsError(f"{self.name} has not read {len(left)} items, the first of them {left[0]}")
        return emitted

    def understand(self, word: list[Any]) -> tuple[source_output.Event, ScriptItem | None]:
        match word:
            case ["add", int(split)]:
                return source_output.AddSplit(split), None
            case ["release", int(split)]:
                return source_output.ReleaseSplit(split), None
            case ["periodic"]:
                return source_output.PeriodicEmit(), None
            case ["watermark", int() | None as split, mode, int(timestamp)] if MIN <= timestamp <= MAX:
                return source_output.EmitWatermark(Mode(mode), Long(timestamp), split), None
            case ["status", int() | None as split, mode, status]:
                return source_output.EmitStatus(Mode(mode), Status(status), split), None
            case ["item", int(split), int(at)] if 0 <= at < len(self.script) and at not in self.read:
                if at < self.last.get(split, 0):
                    raise BadSplitsError(f"it reads item {at} of split {split} too late")
                self.read[at], self.last[split] = split, at
                return self.emit(self.script[at], split), self.script[at]
            case _:
                raise BadSplitsError("no source does that, or not twice")

    @staticmethod
    def emit(item: ScriptItem, split: int) -> source_output.Event:
        match item:
            case Record(timestamp=timestamp):
                return source_output.EmitRecord(timestamp, split)
            case Watermark(timestamp):
                return source_output.EmitWatermark(Mode.IMMEDIATE, timestamp, split)
            case StatusChange(status):
                return source_output.EmitStatus(Mode.IMMEDIATE, status, split)
            case other:
                raise TypeError(other)
