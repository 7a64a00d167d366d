"""Lines from a stream that may never send one: their memory is bounded, whatever comes in."""

from collections import deque

from tidegate.conformance.engines.text import printable


class LineBuffer:
    """Cuts standard output into lines, up to a limit for each.

    The pieces of an incomplete line are kept in a list and joined once, so that a long line takes time in
    proportion to its length. Beyond the limit nothing more is kept: `overflowed` becomes true, and stays true.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lines: deque[bytes] = deque()
        self._open: list[bytes] = []
        self._open_size = 0
        self.overflowed = False

    @property
    def waiting(self) -> bool:
        """Whether a complete line is available."""
        return bool(self._lines)

    @property
    def half_line(self) -> bytes:
        """The beginning of the incomplete line."""
        return self._open[0][:1000] if self._open else b""

    def feed(self, chunk: bytes) -> None:
        if self.overflowed:
            return
        *finished, rest = chunk.split(b"\n")
        if finished:
            self._open.append(finished[0])
            finished[0] = b"".join(self._open)
            self._open.clear()
            self._open_size = 0
            for line in finished:
                if len(line) > self._limit:
                    self.overflowed = True
                    return
                self._lines.append(line)
        if rest:
            self._open.append(rest)
            self._open_size += len(rest)
            if self._open_size > self._limit:
                self.overflowed = True
                self._open = [self._open[0][:1000]]

    def take(self) -> bytes | None:
        """The oldest line that has not been taken, without its end."""
        return self._lines.popleft() if self._lines else None


class Tail:
    """The last lines of a stream of free text, each one cut to a limit."""

    def __init__(self, lines: int = 32, width: int = 500) -> None:
        self._kept: deque[bytes] = deque(maxlen=lines)
        self._open = b""
        self._width = width

    def feed(self, chunk: bytes) -> None:
        *finished, rest = chunk.split(b"\n")
        if finished:
            finished[0] = self._open + finished[0]
            self._open = b""
            self._kept.extend(line[: 4 * self._width] for line in finished[-(self._kept.maxlen or 0) :])
        room = 4 * self._width - len(self._open)  # four bytes are the longest character in UTF-8
        self._open += rest[: max(room, 0)]

    def lines(self) -> tuple[str, ...]:
        shown = [*self._kept, self._open] if self._open else list(self._kept)
        texts = (line.decode("utf-8", "replace").rstrip("\r") for line in shown[-(self._kept.maxlen or 0) :])
        return tuple(printable(text, self._width) for text in texts)
