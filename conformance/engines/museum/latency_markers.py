"""When a source makes latency markers, LAT-3 and LAT-4."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_MOST = 1000


class LatencyMarkers:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        cluster = wire.get_at_least(config, "cluster", 0)
        job = wire.get_at_least(config, "job", 0) if "job" in config else None
        self.interval = cluster if job is None else job
        self.clock = 0
        self.due: int | None = None
        self.began = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "open":
            if self.began:
                return wire.rejected()
            self.began = True
            if self.interval:
                self.due = self.clock
            return self.make()
        if kind == "close":
            if not self.began:
                return wire.rejected()
            self.due = None
            return []
        if kind != "elapse":
            raise wire.unknown_type(event)
        passed = wire.get_at_least(event, "milliseconds", 0)
        if self.clock + passed > _MOST:
            return wire.rejected()
        self.clock += passed
        return self.make()

    def make(self) -> wire.Observations:
        out: wire.Observations = []
        while self.due is not None and self.due <= self.clock:
            out.append({"type": "marker", "timestamp": self.due})
            self.due += self.interval
        return out


make = LatencyMarkers

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("LAT-3")
class LatencyMarkersClusterWins(LatencyMarkers):
    """What the cluster says counts more than what the job says."""

    __init__ = changed(LatencyMarkers.__init__, "cluster if job is None else job", "cluster or job or 0")


@wrong("LAT-3")
class LatencyMarkersZeroIsNoWord(LatencyMarkers):
    """A job that wants no markers counts as one that says nothing."""

    __init__ = changed(LatencyMarkers.__init__, "cluster if job is None else job", "job or cluster")


@wrong("LAT-3")
class LatencyMarkersJobIsNotAsked(LatencyMarkers):
    """Only the cluster is asked."""

    __init__ = changed(LatencyMarkers.__init__, "cluster if job is None else job", "cluster")


@wrong("LAT-4")
class LatencyMarkersFirstAfterAnInterval(LatencyMarkers):
    """The first marker comes an interval late."""

    step = changed(LatencyMarkers.step, "self.due = self.clock", "self.due = self.clock + self.interval")


@wrong("LAT-4")
class LatencyMarkersFromTheHour(LatencyMarkers):
    """Markers come at multiples of the interval, whenever the source began."""

    step = changed(
        LatencyMarkers.step, "self.due = self.clock", "self.due = -(-self.clock // self.interval) * self.interval"
    )


@wrong("LAT-4")
class LatencyMarkersGoesOnWhenClosed(LatencyMarkers):
    """A closed source goes on making markers."""

    step = changed(LatencyMarkers.step, "self.due = None", "pass")


@wrong("LAT-4")
class LatencyMarkersOneAtATime(LatencyMarkers):
    """When several markers are due, one is made, and the next one counts from there."""

    make = changed(
        LatencyMarkers.make, "self.due += self.interval", "self.due = max(self.due + self.interval, self.clock + 1)"
    )
