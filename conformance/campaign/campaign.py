"""Leads a campaign: hands out the chunks that are not done, writes what comes back, knows when to give up."""

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping
from itertools import islice

import attrs

from tidegate.conformance.campaign.folder import CampaignFolderError, Folder
from tidegate.conformance.campaign.outcome import Outcome
from tidegate.conformance.campaign.plan import Chunk, Order, Plan

#: How often a chunk of which nothing came back is tried.
TRIES = 2
#: After so many chunks with cases that were not run, the rest is not run: as for the restarts of an engine.
MOST_FAILED_CHUNKS = 10


class Orders:
    """The orders that wait: made when they are taken, because there may be millions of them."""

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
        """One more, soon: it does not wait for millions of others."""
        self._next.append(order)

    def clear(self) -> None:
        self._orders = iter(())
        self._next.clear()


#: Runs the orders that wait, which may become more or fewer meanwhile.
Pool = Callable[[Orders], Generator[Outcome, None, None]]


@attrs.define
class Campaign:
    """`resumed` are the chunks that an earlier run had done; `ran` and `ran_cases` count those of this one.

    `damaged` says which files of chunks are not believed, and why.
    """

    plan: Plan
    folder: Folder
    limits: Mapping[str, float | None]
    resumed: set[Chunk] = attrs.Factory(set)
    damaged: list[str] = attrs.Factory(list)
    ran: int = 0
    ran_cases: int = 0
    interrupted: bool = False
    #: Why a chunk could not be written: it ended the campaign, as an interrupt does.
    trouble: str = ""
    _tries: Counter[Chunk] = attrs.Factory(Counter)

    @property
    def resumed_cases(self) -> int:
        return sum(chunk.cases for chunk in self.resumed)

    def look(self) -> None:
        """Find out what an earlier run has done, and which of its files cannot be believed."""
        for chunk in self.folder.done_chunks(self.plan, self.damaged):
            self.resumed.add(chunk)

    def run(self, pool: Pool, observe: Callable[[Outcome], None] = lambda _outcome: None) -> None:
        """Run what is not done. An interrupt ends it, and a full disk; what is done is kept."""
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
