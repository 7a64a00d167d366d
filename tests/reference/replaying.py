"""Plays a trace in short notation on a deterministic component, and shows its answers as short."""

from conformance.judge import expect
from reference.components import COMPONENTS
from reference.elements import StatusChange, Watermark
from reference.model import Rejected
from traces.cases import Case
from traces.codec import decode
from traces.notation import read_trace


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
