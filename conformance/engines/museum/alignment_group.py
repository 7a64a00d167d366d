"""The coordinators of sources that are aligned, GROUP."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong


class Groups:
    """The last reports by source and subtask."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.sources = [read_source(one) for one in wire.get_objects(config, "sources")]
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
            return wire.rejected()
        place = (source, subtask)
        if kind == "announce":
            return self.announce(source)
        if kind == "task_failed":
            self.failed.add(place)
        elif kind == "task_ready":
            self.failed.discard(place)
        else:
            return self.on_report(place, timestamp)
        return []

    def on_report(self, place: tuple[int, int], timestamp: int) -> wire.Observations:
        if timestamp == wire.LOWEST:
            return wire.rejected()
        self.reports[place] = timestamp
        return []

    def announce(self, source: int) -> wire.Observations:
        group, drift = self.sources[source]
        mine = [value for (one, _subtask), value in self.reports.items() if self.sources[one][0] == group]
        if not mine:
            return []
        limit = min(min(mine) + drift, wire.HIGHEST)
        reachable = self.reports.keys() - self.failed
        told = [subtask for subtask in range(self.subtasks) if (source, subtask) in reachable]
        return [{"type": "limit", "subtask": subtask, "timestamp": str(limit)} for subtask in told]


def read_source(source: wire.Json) -> tuple[int, int]:
    drift = wire.get_long(source, "drift")
    if not 0 <= drift < wire.HIGHEST:
        raise wire.BadRequestError(f"drift must be from 0 to {wire.HIGHEST - 1}")
    return wire.get_integer(source, "group"), drift


make = Groups

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("GROUP-1")
class GroupStrangersWelcome(Groups):
    """Reports of subtasks that do not exist are taken without a word."""

    step = changed(Groups.step, "wire.rejected()", "[]")


@wrong("GROUP-1", "GROUP-2")
class GroupReportsOnlyRise(Groups):
    """A subtask that was idle holds nobody back any more when it is active again."""

    on_report = changed(
        Groups.on_report,
        "self.reports[place] = timestamp",
        "timestamp = max(timestamp, self.reports.get(place, timestamp))\nself.reports[place] = timestamp",
    )


@wrong("GROUP-1")
class GroupReportsAnnounce(Groups):
    """Each report is followed by an announcement."""

    on_report = changed(Groups.on_report, "return []", "return self.announce(place[0])")


@wrong("GROUP-2", "GROUP-4")
class GroupGroupsAreOne(Groups):
    """All sources of a job wait for each other."""

    announce = changed(Groups.announce, "self.sources[one][0] == group", "True")


@wrong("GROUP-2")
class GroupOwnSubtasksOnly(Groups):
    """Sources of a group do not wait for each other."""

    announce = changed(Groups.announce, "self.sources[one][0] == group", "one == source")


@wrong("GROUP-2", "GROUP-4", origin="FLINK-32414, at the coordinator")
class GroupSilentSourcesHold(Groups):
    """Who has not reported holds everybody back."""

    announce = changed(
        Groups.announce,
        "if not mine:",
        "members = [one for one, _drift in self.sources if one == group]\n"
        "if len(mine) < len(members) * self.subtasks:\n"
        "    mine.append(wire.LOWEST)\n"
        "if not mine:",
    )


@wrong("GROUP-2")
class GroupTheFastestDecides(Groups):
    """The limit follows the fastest subtask, so nobody waits."""

    announce = changed(Groups.announce, "min(mine)", "max(mine)")


@wrong("GROUP-3", "GROUP-2", "GROUP-4")
class GroupDriftForgotten(Groups):
    """Nobody may be ahead of the slowest."""

    announce = changed(Groups.announce, "min(mine) + drift", "min(mine)")


@wrong("GROUP-3", "GROUP-2", "GROUP-4")
class GroupDriftOfTheStrictest(Groups):
    """The smallest drift of all sources counts for each of them."""

    announce = changed(Groups.announce, "+ drift", "+ min(one for _group, one in self.sources)")


@wrong("GROUP-3", "GROUP-2", "GROUP-4")
class GroupEverybodyIsTold(Groups):
    """Subtasks that have not reported are told, too."""

    announce = changed(Groups.announce, "in reachable", "not in self.failed")


@wrong("GROUP-4", origin="FLINK-31632")
class GroupLimitOverflows(Groups):
    """The limit of an idle group overflows and becomes one of the lowest, so everybody waits for ever."""

    announce = changed(
        Groups.announce,
        "min(min(mine) + drift, wire.HIGHEST)",
        "min(mine) + drift\nif limit > wire.HIGHEST:\n    limit -= 2**64",
    )


@wrong("GROUP-5", "GROUP-2", "GROUP-4", origin="FLINK-32362")
class GroupFailedAreTold(Groups):
    """Subtasks that have failed are told, and are not there."""

    announce = changed(Groups.announce, " - self.failed", "")


@wrong("GROUP-5", "GROUP-2", "GROUP-4")
class GroupFailureForgetsTheReport(Groups):
    """The report of a subtask that fails is forgotten, and others run ahead of where it starts again."""

    step = changed(Groups.step, "self.failed.add(place)", "self.failed.add(place)\nself.reports.pop(place, None)")


@wrong("GROUP-2", "GROUP-4")
class GroupNumbersInAByte(Groups):
    """The numbers of groups are kept in a byte: 0 and 256 are one group."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.sources = [(group & 0xFF, drift) for group, drift in self.sources]
