"""When a source makes latency markers, LAT-3 and LAT-4."""

from tidegate.conformance.engines import wire

_MOST = 1000


class LatencyMarkers:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("latency-markers-")
        cluster = wire.get_at_least(config, "cluster", 0)
        job = wire.get_at_least(config, "job", 0) if "job" in config else None
        self.interval = cluster if job is None else job
        if self.bug == "cluster-wins" and cluster:
            self.interval = cluster
        if self.bug == "zero-is-no-word" and job == 0:
            self.interval = cluster
        if self.bug == "job-is-not-asked":
            self.interval = cluster
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
                late = self.interval if self.bug == "first-after-an-interval" else 0
                self.due = self.clock + late
                if self.bug == "from-the-hour":
                    self.due = -(-self.clock // self.interval) * self.interval
            return self.make()
        if kind == "close":
            if not self.began:
                return wire.rejected()
            if self.bug != "goes-on-when-closed":
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
            if self.bug == "one-at-a-time":
                self.due = max(self.due, self.clock + 1)
        return out


make = LatencyMarkers
