"""What is measured of an alignment, BARR-21."""

from tidegate.conformance.engines.wire import Json, to_int32


class Gauge:
    """`open` holds what is known of the present alignment; the checkpoint that was triggered last may hold the same."""

    def __init__(self, bug: str) -> None:
        self.bug = bug
        self.began: int | None = None
        self.checkpoint = -1
        self.delay = 0
        self.bytes = 0
        self.open: dict[str, int] = {}
        self.triggered: dict[str, int] = {}

    def begin(self, checkpoint: int, created: int, clock: int) -> None:
        self.reset()
        if self.bug == "barriers-delay-in-32-bits":
            created = to_int32(created)
        self.began, self.checkpoint = clock, checkpoint
        self.delay = clock - created if self.bug == "barriers-delay-below-zero" else max(0, clock - created)

    def end(self, duration: int) -> None:
        self.open.setdefault("duration", duration)
        self.open.setdefault("bytes", self.bytes)
        self.began = None
        if self.bug != "barriers-bytes-of-all-alignments":
            self.bytes = 0

    def reset(self) -> None:
        if self.bug != "barriers-given-up-stays-open":
            self.end(0)
        self.began = None
        self.open = {}

    def count(self, clock: int, counted: int, wanted: int, checkpoint: int, created: int) -> None:
        if counted == 1:
            self.begin(checkpoint, created, clock)
            if wanted == 1:
                self.end(0)
        if counted == wanted and self.began is not None:
            self.end(clock - self.began)

    def trigger(self, checkpoint: int) -> None:
        same = checkpoint == self.checkpoint
        self.triggered = self.open if same else {"duration": 0, "bytes": 0}

    def process(self, amount: int) -> None:
        if self.began is not None:
            self.bytes += amount

    def show(self, clock: int) -> Json:
        alignment = self.open.get("duration", 0) if self.began is None else clock - self.began
        return {"type": "measured", "alignment": alignment, "start_delay": str(self.delay), **self.triggered}
