"""One `replay` with an engine process: several requests in flight, and one case blamed for each failure.

Normally, requests are drawn and sent a window ahead of the replies, and each reply names its request. When
the engine hangs, dies or writes a line that belongs to no request, it is killed. The requests that it had begun to
read and not answered are *suspects*, and so is the one that it answered last: a new process runs them one at a time,
each followed by a short silence. The one that fails alone is to blame; then several are in flight again.

Choices
-------
*Which case.* An engine that dies or falls silent after a good reply has still answered: the reply counts. A request
that was unread at that time, which the system can tell, is innocent. But output after a reply
makes that reply doubtful: the newest one is held back until the next line shows that nothing else was coming. A failure
that no suspect repeats alone is charged to the oldest request in work, because it did happen; and the window
is halved, because the engine may not cope with it.

*What a restart is.* One failure costs one restart, however long the search for its cause, so the progress of a run does
not depend on how many requests happened to be in flight.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import attrs

from tidegate.conformance.engines import messages
from tidegate.conformance.engines.base import Answer, Asked, Broken, Crashed, NotRun, Request, TimedOut
from tidegate.conformance.engines.text import quoted

if TYPE_CHECKING:
    from tidegate.conformance.engines.processes.process import ProcessEngine


#: The id of `hello` is 1.
_FIRST_REPLAY_ID = 2


Failure = Broken | Crashed | TimedOut


@attrs.define(eq=False)
class Pending:
    """A request that was drawn and whose reply has not been returned to the caller."""

    request: Asked
    position: int
    reply: Answer | None = None
    #: a reply that stands unless the search finds a better one
    earlier: Answer | None = None
    #: approximate bytes of the reply
    weight: int = 0
    suspect: bool = False
    #: its id, and its offset in everything sent to its process
    number: int = 0
    start: int = 0
    size: int = 0
    #: nothing was in flight when it was sent, and the engine had been silent for a while
    sent_into_silence: bool = False


class Conversation:
    def __init__(self, engine: "ProcessEngine", requests: Iterable[Asked]) -> None:
        self._engine = engine
        self._limits = engine.limits
        self._source = iter(requests)
        self._source_ended = False
        self._drawn = 0
        #: drawn and not returned to the caller yet, in order: not sent, in flight, or answered
        self._pending: deque[Pending] = deque()
        self._unsent: deque[Pending] = deque()
        self._in_flight: dict[int, Pending] = {}
        self._in_flight_bytes = 0
        self._answered_weight = 0
        self._newest: Pending | None = None
        self._answered_again: Pending | None = None
        self._searching = False
        #: the requests in work at the failure whose cause we search, and the failure
        self._accused: Pending | None = None
        self._accusation: Failure | None = None
        #: seconds waited since the engine last made progress
        self._waited = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the engine still owes answers."""
        return bool(self._in_flight)

    def replies(self) -> Iterator[tuple[Asked, Answer]]:
        if self._engine.connection:
            self._exchange(0.0)  # output since the last replay belongs to none of these requests
        while True:
            while self._pending and self._is_settled(self._pending[0]):
                done = self._pending.popleft()
                self._answered_weight -= done.weight
                assert done.reply is not None
                yield done.request, done.reply
            if self._engine.given_up:
                yield from self._not_run(self._engine.given_up)
                return
            if self._source_ended and not self._pending:
                return
            self._send()
            if self._engine.connection and self._pending and not self._is_settled(self._pending[0]):
                self._exchange(self._patience())

    def _is_settled(self, pending: Pending) -> bool:
        """Whether the reply can be returned."""
        if pending.reply is None:
            return False
        if self._engine.given_up:
            return True
        if pending is self._accused:
            return False
        if pending is not self._newest:
            return True
        if self._unsent or self._in_flight or not self._source_ended:
            return False
        # The last reply: no later line can show that the engine had finished. A replay of one case
        # is a step of a search, and time matters; at the end of many a short silence costs nothing.
        return self._silence_missing() <= 0 or (self._drawn == 1 and not pending.suspect)

    def _not_run(self, reason: str) -> Iterator[tuple[Asked, Answer]]:
        if self._accused:
            self._accused.reply = self._accusation
        for pending in self._pending:
            yield pending.request, pending.reply or pending.earlier or NotRun(reason)
        for request in self._source:
            yield request, NotRun(reason)

    # Sending

    def _send(self) -> None:
        if self._unsent and self._unsent[0].suspect:
            self._send_suspect()
            return
        if self._searching:
            if not self._in_flight and self._silence_missing() <= 0:
                self._end_search()
            return
        if len(self._in_flight) > self._engine.window // 2 or self._a_suspect_is_in_flight():
            return
        while len(self._in_flight) < self._engine.window and self._in_flight_bytes < self._limits.window_bytes:
            pending = self._unsent.popleft() if self._unsent else self._draw()
            if pending is None or not self._queue(pending):
                break
        if self._engine.connection:
            self._engine.connection.flush()

    def _send_suspect(self) -> None:
        connection = self._engine.connect()
        if connection and not connection.hung_up and not self._in_flight and self._silence_missing() <= 0:
            self._queue(self._unsent.popleft())
            connection.flush()

    def _a_suspect_is_in_flight(self) -> bool:
        return len(self._in_flight) == 1 and next(iter(self._in_flight.values())).suspect

    def _draw(self) -> Pending | None:
        request = None if self._source_ended else next(self._source, None)
        if request is None:
            self._source_ended = True
            return None
        pending = Pending(request, self._drawn)
        self._drawn += 1
        self._pending.append(pending)
        return pending

    def _queue(self, pending: Pending) -> bool:
        """Queue the request for writing; false if no process can read it."""
        complaint = self._engine.complaint_about_request(pending.request)
        if complaint:
            pending.reply = Broken(f"the request breaks the schema of the protocol: {complaint}")
            return True
        connection = self._engine.connect()
        if connection is None or connection.hung_up:
            self._unsent.appendleft(pending)
            return False
        pending.number = self._engine.next_id()
        nothing_to_hear = pending.number == _FIRST_REPLAY_ID or self._silence_missing() <= 0
        pending.sent_into_silence = not self._in_flight and nothing_to_hear
        if not self._in_flight:
            self._waited = 0.0
        data = self._engine.writer.write(pending.number, pending.request)
        pending.start = connection.send(data)
        pending.size = len(data)
        self._in_flight[pending.number] = pending
        self._in_flight_bytes += len(data)
        return True

    # Receiving

    def _silence_missing(self) -> float:
        connection = self._engine.connection
        return 0.0 if connection is None else self._limits.settle - connection.silent_for()

    def _patience(self) -> float:
        if self._in_flight:
            return self._engine.patience - self._waited
        return max(self._silence_missing(), 0.01)

    def _exchange(self, seconds: float) -> None:
        connection = self._engine.connection
        assert connection
        began = time.monotonic()
        connection.exchange(seconds)
        self._waited += time.monotonic() - began
        while (line := connection.take_line()) is not None:
            complaint = self._take(line)
            if complaint:
                self._fail(Broken(complaint, connection.stderr()), misspoke=True)
                return
        failure = connection.failure()
        if failure:
            self._fail(failure, misspoke=connection.overflowed)
        elif self._in_flight:
            if self._waited >= self._engine.patience and not connection.hung_up:
                self._fail(TimedOut(self._engine.patience, connection.stderr()), misspoke=False)
        elif (half := connection.half_line()) and self._silence_missing() <= 0:
            complaint = f"wrote half a line without a request: {quoted(half)}"
            self._fail(Broken(complaint, connection.stderr()), misspoke=True)

    def _take(self, line: bytes) -> str | None:
        """Take a reply in. Returns the complaint if it belongs to no request in flight."""
        try:
            message = self._engine.parser.parse(line)
        except messages.MalformedLineError as error:
            return str(error)
        pending = self._in_flight.pop(message.id, None) if type(message.id) is int else None
        if pending is None:
            self._answered_again = next((p for p in self._pending if p.reply and p.number == message.id), None)
            return f"wrote an answer to no request in flight: {quoted(line)}"
        self._waited = 0.0
        self._in_flight_bytes -= pending.size
        self._newest = pending
        pending.reply = self._engine.read_reply(message, pending.request)
        pending.weight = message.weight
        self._answered_weight += message.weight
        # In order, replies go to the caller as they come; only those that overtook an earlier request wait here.
        if self._answered_weight > self._limits.waiting_bytes and self._pending[0].reply is None:
            return f"answered out of order with more than {self._limits.waiting_bytes} bytes in all"
        return None

    # Failing

    def _fail(self, failure: Failure, *, misspoke: bool) -> None:
        """Handle an engine that can no longer be used. One that misspoke may have done so after a reply."""
        assert self._engine.connection
        consumed = self._engine.connection.consumed()
        in_flight = list(self._in_flight.values())
        begun = [p for p in in_flight if p.start < consumed or p.number == _FIRST_REPLAY_ID]
        replied = list({p.position: p for p in (self._answered_again, self._newest) if p is not None}.values())
        self._in_flight.clear()
        self._in_flight_bytes = 0
        self._newest = self._answered_again = self._accused = self._accusation = None
        self._searching = False
        culprit: Pending | None = None
        suspects: list[Pending] = []
        if len(in_flight) == 1 and in_flight[0].sent_into_silence and in_flight[0].number == self._engine.last_id:
            culprit = begun[0] if begun else replied[-1] if replied and misspoke else None
        elif begun or (misspoke and len(replied) > 1):
            suspects = replied + begun
        elif misspoke and replied:
            culprit = replied[-1]
        elif self._unsent and self._engine.last_id < _FIRST_REPLAY_ID:
            culprit = self._unsent[0]  # a process that fails without a request fails the next one
        self._engine.disconnect()
        if culprit:
            self._forget_reply(culprit)
            culprit.reply = failure
            if isinstance(failure, TimedOut) and isinstance(culprit.request, Request):
                self._engine.count_hang()
        if suspects:
            self._searching = True
            self._accused, self._accusation = (begun or replied)[0], failure
        else:
            self._engine.count_restart()
        for suspect in suspects:
            suspect.earlier = None if misspoke else suspect.reply
            self._forget_reply(suspect)
            suspect.suspect = True
        again = {p.position: p for p in (*suspects, *in_flight, *self._unsent) if p is not culprit}
        self._unsent = deque(again[position] for position in sorted(again))

    def _forget_reply(self, pending: Pending) -> None:
        self._answered_weight -= pending.weight
        pending.weight = 0
        pending.reply = None

    def _end_search(self) -> None:
        """No suspect failed alone."""
        if self._accused:
            self._forget_reply(self._accused)
            self._accused.reply = self._accusation
        self._accused = self._accusation = None
        self._searching = False
        self._engine.narrow_window()
        self._engine.count_restart()
