"""What components of watermarks and statuses show, in short notation."""

from tests.reference.walking import walk
from tidegate.reference.elements import StatusChange, Watermark


def play(component, config, trace, **options):
    """`w5 idle` for a watermark and a status, `` for nothing: one text for each event."""
    return [" ".join(map(short, outcome.observations)) for outcome in walk(component, config, trace, **options)]


def short(observation):
    match observation:
        case Watermark(timestamp=timestamp):
            return f"w{timestamp}"
        case StatusChange(status=status):
            return str(status.value)
    return observation.type
