"""Events on their way, EVENT-1 … EVENT-3."""

from tidegate.conformance.engines import wire

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
    def __init__(self, _config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("event-kinds-")

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") != "put":
            raise wire.unknown_type(event)
        kind, urgent = wire.get_choice(event, "kind", _KINDS), wire.get_boolean(event, "urgent")
        plain = "event" if kind in _OTHERS else _RENAMED.get(kind, kind)
        label = "urgent" if urgent else plain
        blocks = label in _BLOCKING
        if self.bug == "urgent-barriers-block":
            blocks = plain in _BLOCKING
        if self.bug == "recovery-goes-on" and kind == "recovery_completion":
            blocks = False
        same = kind != "stop" or self.bug != "stop-becomes-drain"
        announced = label == "timeout_barrier" and self.bug != "nothing-announced"
        return [
            {
                "type": "labelled",
                "label": label,
                "blocks": blocks,
                "urgent": urgent,
                "announced": announced,
                "same": same,
            }
        ]


make = EventKinds
