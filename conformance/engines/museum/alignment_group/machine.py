"""The coordinators of sources that are aligned, GROUP."""

from tidegate.conformance.engines import wire


class Groups:
    """The last reports by source and subtask."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("group-")
        self.sources = [read_source(one) for one in wire.get_objects(config, "sources")]
        if self.bug == "numbers-in-a-byte":
            self.sources = [(group & 0xFF, drift) for group, drift in self.sources]
        if not self.sources:
            raise wire.BadRequestError("sources must not be empty")
        self.subtasks = wire.get_at_least(config, "subtasks", 1)
        self.reports: dict[tuple[int, int], int] = {}
        self.failed: set[tuple[int, int]] = set()

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in ("announce", "report", "task_failed", "task_ready"):
            raise wire.unknown_type(event)
        source = wire.get_integer(event, "source")
        subtask = 0 if kind == "announce" else wire.get_integer(event, "subtask")
        timestamp = wire.get_long(event, "timestamp") if kind == "report" else 0
        if not (0 <= source < len(self.sources) and 0 <= subtask < self.subtasks):
            return [] if self.bug == "strangers-welcome" else wire.rejected()
        place = (source, subtask)
        if kind == "announce":
            return self.announce(source)
        if kind == "task_failed":
            self.failed.add(place)
            if self.bug == "failure-forgets-the-report":
                self.reports.pop(place, None)
        elif kind == "task_ready":
            self.failed.discard(place)
        else:
            return self.on_report(place, timestamp)
        return []

    def on_report(self, place: tuple[int, int], timestamp: int) -> wire.Observations:
        if timestamp == wire.LOWEST:
            return wire.rejected()
        if self.bug == "reports-only-rise":
            timestamp = max(timestamp, self.reports.get(place, timestamp))
        self.reports[place] = timestamp
        return self.announce(place[0]) if self.bug == "reports-announce" else []

    def announce(self, source: int) -> wire.Observations:
        bug = self.bug
        group, drift = self.sources[source]
        mine = [
            value
            for (one, _subtask), value in self.reports.items()
            if self.sources[one][0] == group or bug == "groups-are-one"
        ]
        if bug == "own-subtasks-only":
            mine = [value for (one, _subtask), value in self.reports.items() if one == source]
        if bug == "silent-sources-hold" and any(
            (one, subtask) not in self.reports
            for one, (other, _drift) in enumerate(self.sources)
            for subtask in range(self.subtasks)
            if other == group
        ):
            mine = [wire.LOWEST, *mine]
        told = [subtask for subtask in range(self.subtasks) if (source, subtask) in self.reports]
        if bug == "everybody-is-told":
            told = list(range(self.subtasks))
        if bug != "failed-are-told":
            told = [subtask for subtask in told if (source, subtask) not in self.failed]
        if not mine:
            return []
        limit = (max(mine) if bug == "the-fastest-decides" else min(mine)) + self.allowed(drift)
        if limit > wire.HIGHEST:
            limit = limit - 2**64 if bug == "limit-overflows" else wire.HIGHEST
        return [{"type": "limit", "subtask": subtask, "timestamp": str(limit)} for subtask in told]

    def allowed(self, drift: int) -> int:
        if self.bug == "drift-forgotten":
            return 0
        return min(one for _group, one in self.sources) if self.bug == "drift-of-the-strictest" else drift


def read_source(source: wire.Json) -> tuple[int, int]:
    drift = wire.get_long(source, "drift")
    if not 0 <= drift < wire.HIGHEST:
        raise wire.BadRequestError(f"drift must be from 0 to {wire.HIGHEST - 1}")
    return wire.get_integer(source, "group"), drift


make = Groups
