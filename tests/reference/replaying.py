"""Plays a trace in short notation on a deterministic component, and shows its answers as short."""

from tidegate.conformance.judging.judge import expect
from tidegate.reference.components import COMPONENTS
from tidegate.reference.elements import StatusChange, Watermark
from tidegate.reference.model import Rejected
from tidegate.traces.cases import Case
from tidegate.traces.codec import decode
from tidegate.traces.notation.text import read_trace


def play(component, config, trace):
    """`w5 idle` for a watermark and a status, `` for nothing: one text for each event."""
    case = Case("test", component, decode(config, COMPONENTS[component].config), read_trace(component, trace))
    answers, _rules = expect(case)
    return [" ".join(map(short, step)) for step in answers]


def short(observation):
    match observation:
        case Watermark(timestamp=timestamp):
            return f"w{timestamp}"
        case StatusChange(status=status):
            return str(status.value)
        case Rejected():
            return "rejected"
    return repr(observation)
