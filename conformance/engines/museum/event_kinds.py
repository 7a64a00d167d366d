"""Events on their way, EVENT-1 … EVENT-3."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_KINDS = (
    "end_of_partition",
    "end_of_superstep",
    "drain",
    "stop",
    "aligned_barrier",
    "timeout_barrier",
    "unaligned_barrier",
    "savepoint_barrier",
    "cancellation",
    "announcement",
    "recovery_completion",
    "subtask_connection",
    "aligned_watermark",
    "unaligned_watermark",
)
_OTHERS = {"end_of_superstep", "unaligned_barrier", "cancellation", "announcement", "subtask_connection"}
_RENAMED = {"drain": "end_of_data", "stop": "end_of_data", "savepoint_barrier": "aligned_barrier"}
_BLOCKING = {"aligned_barrier", "timeout_barrier", "recovery_completion", "aligned_watermark"}


class EventKinds:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        """It has no state."""

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") != "put":
            raise wire.unknown_type(event)
        kind, urgent = wire.get_choice(event, "kind", _KINDS), wire.get_boolean(event, "urgent")
        plain = "event" if kind in _OTHERS else _RENAMED.get(kind, kind)
        label = "urgent" if urgent else plain
        return [
            {
                "type": "labelled",
                "label": label,
                "blocks": label in _BLOCKING,
                "urgent": urgent,
                "announced": label == "timeout_barrier",
                "same": True,
            }
        ]


make = EventKinds

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("EVENT-1")
class EventKindsNothingAnnounced(EventKinds):
    """A barrier that may time out is not announced, so that it never does."""

    step = changed(EventKinds.step, 'label == "timeout_barrier"', "False")


@wrong("EVENT-1")
class EventKindsRecoveryGoesOn(EventKinds):
    """The sender goes on behind the end of recovered state, into data that is still read."""

    step = changed(EventKinds.step, "label in _BLOCKING", 'label in _BLOCKING and kind != "recovery_completion"')


@wrong("EVENT-2")
class EventKindsUrgentBarriersBlock(EventKinds):
    """The sender stops behind a barrier that overtakes."""

    step = changed(EventKinds.step, "label in _BLOCKING", "plain in _BLOCKING")


@wrong("EVENT-3")
class EventKindsStopBecomesDrain(EventKinds):
    """The end of data without drain is read as one with it, and operators are finished."""

    step = changed(EventKinds.step, '"same": True', '"same": kind != "stop"')
