"""Coordinates a campaign: submits open chunks, writes their outcomes, and decides when to give up."""

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping
from itertools import islice

import attrs

from tidegate.conformance.campaign.folder import CampaignFolderError, Folder
from tidegate.conformance.campaign.outcome import Outcome
from tidegate.conformance.campaign.plan import Chunk, Order, Plan

#: How often a chunk without any outcome is tried.
TRIES = 2
#: After this many chunks with cases that did not run, the campaign stops: as for the restarts of an engine.
MOST_FAILED_CHUNKS = 10


class Orders:
    """The waiting orders, made lazily, because there may be millions."""

    def __init__(self, orders: Iterator[Order]) -> None:
        self._orders = orders
        self._next: deque[Order] = deque()

    def __bool__(self) -> bool:
        if not self._next:
            self._next.extend(islice(self._orders, 1))
        return bool(self._next)

    def popleft(self) -> Order:
        if not self:
            raise IndexError("nothing waits")
        return self._next.popleft()

    def append(self, order: Order) -> None:
        """Add one at the front: it does not wait for millions of others."""
        self._next.append(order)

    def clear(self) -> None:
        self._orders = iter(())
        self._next.clear()


#: Runs the waiting orders, which may become more or fewer meanwhile.
Pool = Callable[[Orders], Generator[Outcome, None, None]]


@attrs.define
class Campaign:
    """`resumed` counts the chunks of an earlier run; `ran` and `ran_cases` count chunks and cases of this one.

    `damaged` says which chunk files are rejected, and why.
    """

    plan: Plan
    folder: Folder
    limits: Mapping[str, float | None]
    resumed: set[Chunk] = attrs.Factory(set)
    damaged: list[str] = attrs.Factory(list)
    ran: int = 0
    ran_cases: int = 0
    interrupted: bool = False
    #: Why a chunk could not be written, which ends the campaign as an interrupt does.
    trouble: str = ""
    _tries: Counter[Chunk] = attrs.Factory(Counter)

    @property
    def resumed_cases(self) -> int:
        return sum(chunk.cases for chunk in self.resumed)

    def look(self) -> None:
        """Find the chunks that an earlier run has done, and the files to reject."""
        for chunk in self.folder.done_chunks(self.plan, self.damaged):
            self.resumed.add(chunk)

    def run(self, pool: Pool, observe: Callable[[Outcome], None] = lambda _outcome: None) -> None:
        """Run the open chunks. An interrupt or a full disk ends it; finished chunks are kept."""
        chunks = (chunk for chunk in self.plan.chunks() if chunk not in self.resumed)
        waiting = Orders(Order(self.plan, chunk, self.limits) for chunk in chunks)
        failed = 0
        outcomes = pool(waiting)
        try:
            for outcome in outcomes:
                chunk = outcome.chunk
                if outcome.is_lost:
                    self._tries[chunk] += 1
                    if self._tries[chunk] < TRIES:
                        waiting.append(Order(self.plan, chunk, self.limits))
                        continue
                self.folder.write(outcome, self.plan)
                self.ran += 1
                self.ran_cases += chunk.cases
                observe(outcome)
                failed += not outcome.is_finished
                if failed >= MOST_FAILED_CHUNKS:
                    waiting.clear()
        except KeyboardInterrupt:
            self.interrupted = True
        except CampaignFolderError as error:
            self.interrupted, self.trouble = True, str(error)
        finally:
            outcomes.close()
