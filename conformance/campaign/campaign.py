"""Leads a campaign: hands out the chunks that are not done, writes what comes back, knows when to give up."""

from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping

import attrs

from tidegate.conformance.campaign.folder import Folder
from tidegate.conformance.campaign.outcome import Outcome
from tidegate.conformance.campaign.plan import Chunk, Order, Plan

#: How often a chunk of which nothing came back is tried.
TRIES = 2
#: After so many chunks with cases that were not run, the rest is not run: as for the restarts of an engine.
MOST_FAILED_CHUNKS = 10

#: Runs the orders of a queue, which may grow and shrink meanwhile.
Pool = Callable[[deque[Order]], Generator[Outcome, None, None]]


@attrs.define
class Campaign:
    """`resumed` and `left` are chunks: those that an earlier run had done, and those that this one did not come to."""

    plan: Plan
    folder: Folder
    limits: Mapping[str, float | None]
    resumed: list[Chunk] = attrs.Factory(list)
    left: list[Chunk] = attrs.Factory(list)
    interrupted: bool = False
    _tries: Counter[Chunk] = attrs.Factory(Counter)

    def run(self, pool: Pool, observe: Callable[[Outcome], None] = lambda _outcome: None) -> None:
        """Run what is not done. An interrupt ends it; what is done is kept."""
        waiting: deque[Order] = deque()
        for chunk in self.plan.chunks():
            if self.folder.is_done(chunk):
                self.resumed.append(chunk)
            else:
                waiting.append(Order(self.plan, chunk, self.limits))
        missing = {order.chunk for order in waiting}
        failed = 0
        outcomes = pool(waiting)
        try:
            for outcome in outcomes:
                chunk = outcome.chunk
                self._tries[chunk] += 1
                if outcome.is_lost and self._tries[chunk] < TRIES:
                    waiting.append(Order(self.plan, chunk, self.limits))
                    continue
                self.folder.write(outcome)
                missing.discard(chunk)
                observe(outcome)
                failed += not outcome.is_finished
                if failed >= MOST_FAILED_CHUNKS:
                    waiting.clear()
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            outcomes.close()
        self.left = [chunk for chunk in self.plan.chunks() if chunk in missing]
