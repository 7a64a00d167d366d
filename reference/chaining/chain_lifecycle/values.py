"""A chain of operators: its config, state, events and observations. What happens is in `step`."""

from enum import IntEnum, StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.elements import Counted, Index, Length, Long, Position, Watermark, at_least, check_long, one_of
from tidegate.reference.model import InvalidInputError

SEMANTICS = ("flink-2.3", "flink-1.10", "flink-1.5")
#: A chain whose operators had finished before the job was restored.
FINISHED = "finished"
EXTENSIONS = (FINISHED,)

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Operator:
    """An operator of the chain: the head has no parent. One that lingers leaves a mail behind when it finishes."""

    lingers: Annotated[bool, "Whether it leaves a mail behind when it finishes."]
    parent: Annotated[Position | None, "The operator that calls it: the place of one that stands before it."] = None


@attrs.frozen
class Config:
    """The operators, the head first and each behind its parent; so many chained sources, on its last inputs.

    With the extension `finished` all of them had finished before the job was restored.
    """

    operators: Annotated[
        tuple[Operator, ...],
        "The operators, the head first and each behind its parent. They are numbered by their places, from 0.",
        Length(1),
    ]
    sources: Annotated[
        Position,
        "How many chained sources there are, on the last inputs of the head. They are numbered behind the operators.",
        Counted.PARTS,
    ] = attrs.field(validator=at_least(0))
    inputs: Annotated[Position, "How many inputs the head has.", Counted.PARTS] = attrs.field(validator=at_least(0))
    semantics: Annotated[
        str,
        "`flink-2.3` is the default. `flink-1.10` and `flink-1.5` are the older orders of calls.",
    ] = attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))
    extension: Annotated[
        str | None,
        "With `finished` all operators had finished before the job was restored, and there are events `watermark` "
        "and `element`. Only for engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))

    def __attrs_post_init__(self) -> None:
        if not self.operators or self.operators[0].parent is not None:
            raise InvalidInputError("a chain begins with its head, which has no parent")
        for index, operator in enumerate(self.operators[1:], start=1):
            if operator.parent is None or not 0 <= operator.parent < index:
                raise InvalidInputError(f"the parent of operator {index} must be one before it")
        if self.sources > self.inputs:
            raise InvalidInputError("each chained source has an input of its own")
        if self.sources and self.semantics != "flink-2.3":
            raise InvalidInputError("chained sources are younger than the old orders")
        if self.extension is not None and self.semantics != "flink-2.3":
            raise InvalidInputError("chains that had finished before a restore are younger than the old orders")


# --- state ----------------------------------------------------------------------------------------------------


class Phase(IntEnum):
    PLANNED = 0
    CREATED = 1
    OPEN = 2
    FINISHED = 3


class Call(StrEnum):
    CREATE = "create"
    INIT = "init"
    OPEN = "open"
    END_INPUT = "end_input"
    QUIESCE = "quiesce"
    MAIL = "mail"
    FINISH = "finish"
    PREPARE = "prepare"
    SNAPSHOT = "snapshot"
    COMPLETE = "complete"
    ABORT = "abort"
    SUBSUME = "subsume"
    CLOSE = "close"
    DISPOSE = "dispose"


INFALLIBLE = (Call.CREATE, Call.QUIESCE, Call.MAIL)
FALLIBLE = tuple(call for call in Call if call not in INFALLIBLE)


@attrs.frozen
class State:
    """`ended` are the inputs of the head that have, `mails` those who have queued one, `faults` what will fail.

    `over` are the inputs of a chain that had finished before on which event time is over.
    """

    config: Config
    phase: Phase = Phase.PLANNED
    failed: bool = False
    closed: bool = False
    ended: frozenset[int] = frozenset()
    mails: tuple[int, ...] = ()
    faults: frozenset[tuple[int, Call]] = frozenset()
    over: frozenset[int] = frozenset()


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Create:
    """The task creates its chain."""

    type: ClassVar[str] = "create"


@attrs.frozen
class Open:
    """The task restores and opens the operators."""

    type: ClassVar[str] = "open"


@attrs.frozen
class EndInput:
    """An input of the head has ended."""

    type: ClassVar[str] = "end_input"
    input: Annotated[Index, "The number of the input, from 0. One out of range is rejected."]


@attrs.frozen
class Mail:
    """An operator puts a mail into the mailbox of its task."""

    type: ClassVar[str] = "mail"
    operator: Annotated[Index, "The number of an operator or chained source, from 0. One out of range is rejected."]


@attrs.frozen
class Finish:
    """The task has come to its end: drained, or stopped with a savepoint and to be continued from there."""

    type: ClassVar[str] = "finish"
    drain: Annotated[bool, "Whether it is drained."]


class Step(StrEnum):
    PREPARE = "prepare"
    SNAPSHOT = "snapshot"
    COMPLETE = "complete"
    ABORT = "abort"
    SUBSUME = "subsume"


@attrs.frozen
class Checkpoint:
    """A checkpoint goes one step further."""

    type: ClassVar[str] = "checkpoint"
    step: Annotated[Step, "Which step."]


@attrs.frozen
class Close:
    """The task gives up what its operators hold."""

    type: ClassVar[str] = "close"


@attrs.frozen
class Fault:
    """From now on an operator fails when it is called so, or does so no more."""

    type: ClassVar[str] = "fault"
    operator: Annotated[Index, "The number of an operator or chained source, from 0. One out of range is rejected."]
    call: Annotated[Call, "The call that fails."] = attrs.field(validator=one_of(*FALLIBLE))
    failing: Annotated[bool, "Whether it fails from now on."]


@attrs.frozen
class InputWatermark:
    """An input of a chain that had finished before says how far event time is. Extension `finished`."""

    type: ClassVar[str] = "watermark"
    input: Annotated[
        Index,
        "The number of the input, from 0. One out of range, or that of a chained source, is rejected.",
    ]
    timestamp: Annotated[Long, "How far it is. Anything but the largest is rejected."] = attrs.field(
        validator=check_long
    )


class Kind(StrEnum):
    RECORD = "record"
    STATUS = "status"
    LATENCY_MARKER = "latency_marker"


@attrs.frozen
class Element:
    """Anything else comes on an input of a chain that had finished before, which is rejected. Extension `finished`."""

    type: ClassVar[str] = "element"
    input: Annotated[Index, "The number of the input, from 0."]
    kind: Annotated[Kind, "What comes."]


OfFinished = InputWatermark | Element
Event = Create | Open | EndInput | Mail | Finish | Checkpoint | Close | Fault | OfFinished

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Called:
    """An operator is called; `input` says which input has ended, where one has."""

    type: ClassVar[str] = "call"
    operator: Annotated[Position, "The number of the operator or chained source."]
    call: Annotated[Call, "Which call it is."]
    input: Annotated[
        Position | None,
        "The input that has ended; with `end_input`, where the semantics tells it.",
    ] = None


@attrs.frozen
class Failed:
    """The task gets the first error of these calls, with the later ones attached to it, each by its operator."""

    type: ClassVar[str] = "failed"
    operator: Annotated[Position, "Whose call failed first."]
    suppressed: Annotated[tuple[Position, ...], "Whose calls failed later, in order."]


class Side(StrEnum):
    INPUTS = "inputs"
    OUTPUTS = "outputs"


@attrs.frozen
class ChannelState:
    """The checkpoint has what is on the inputs or on the outputs of the chain, as a part of this operator."""

    type: ClassVar[str] = "channel_state"
    operator: Annotated[Position, "Whose part it is."]
    side: Annotated[Side, "Where it is."]


Observation = Called | Failed | Watermark | ChannelState

# --- orders ---------------------------------------------------------------------------------------------------


def compute_creation_order(config: Config) -> tuple[int, ...]:
    """CHAIN-30: each operator behind all that are chained to it, subtree by subtree; chained sources come last."""
    return compute_forward_order(config)[::-1]


def compute_forward_order(config: Config) -> tuple[int, ...]:
    """CHAIN-30: the order of creation, reversed: from the head down, of several branches the last one first."""
    order = [*reversed(range(len(config.operators), len(config.operators) + config.sources))]
    waiting = [0]
    while waiting:
        order.append(waiting.pop())
        waiting += [index for index, operator in enumerate(config.operators) if operator.parent == order[-1]]
    return tuple(order)


def is_source(config: Config, operator: int) -> bool:
    return operator >= len(config.operators)


def is_dated(config: Config) -> bool:
    return config.semantics != "flink-2.3"
