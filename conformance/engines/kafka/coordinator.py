"""The coordinator of a consumer group with one member, in front of a broker with a coordinator of its own.

With librdkafka's mock broker, a member that joins again after a kill waits for the session of the dead one, and a
member whose session ends before its group is ready never gets an answer: on a machine that stalls for some
seconds it waits for minutes. Here a joining member leads the group at once, and no session ends. That is right while
there is one process at a time.

Requests on a connection are processed one by one, as with a real broker. Those about groups are answered here, all
others by the broker; its address in replies is replaced by ours.
"""

import itertools
import socket
import socketserver
import struct
import threading
from contextlib import suppress
from io import BufferedIOBase
from typing import Self

METADATA, FIND_COORDINATOR, JOIN, HEARTBEAT, LEAVE, SYNC = 3, 10, 11, 12, 13, 14
#: The newest supported version of each request about groups: later ones have another encoding.
NEWEST = {JOIN: 5, HEARTBEAT: 3, LEAVE: 2, SYNC: 3}
HOST = "127.0.0.1"


class UnknownVersionError(ValueError):
    """A request about groups in an unsupported version."""


class Words:
    """The fields of a request, one by one. Strings and bytes have their length in front."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(f">{form}", self._content, self._at)
        self._at += struct.calcsize(form)
        return int(value)

    def text(self) -> bytes:
        return self._take(self.number("h"))

    def data(self) -> bytes:
        return self._take(self.number("i"))

    def _take(self, size: int) -> bytes:
        begin, self._at = self._at, self._at + max(size, 0)
        return self._content[begin : self._at]


def text(value: bytes) -> bytes:
    return struct.pack(">h", len(value)) + value


def data(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


class Group:
    def __init__(self) -> None:
        self._generations = itertools.count(1)

    def answer(self, kind: int, version: int, words: Words) -> bytes:
        """The answer of a broker, with no error and no throttling."""
        if version > NEWEST[kind]:
            raise UnknownVersionError(f"request {kind} about a group, version {version}; the newest is {NEWEST[kind]}")
        throttled = struct.pack(">i", 0) if version >= (2 if kind == JOIN else 1) else b""
        begin = throttled + struct.pack(">h", 0)
        if kind == JOIN:
            return begin + self._join(version, words)
        return begin + (self._sync(version, words) if kind == SYNC else b"")

    def _join(self, version: int, words: Words) -> bytes:
        """The member leads, and receives the list of members: itself."""
        words.text()
        for _timeout in range(2 if version >= 1 else 1):
            words.number("i")
        generation = next(self._generations)
        member = words.text() or b"member-%d" % generation
        instance = words.text() if version >= 5 else b""
        words.text()
        assert words.number("i") > 0
        protocol, about = words.text(), words.data()
        named = (text(instance) if instance else struct.pack(">h", -1)) if version >= 5 else b""
        members = struct.pack(">i", 1) + text(member) + named + data(about)
        return struct.pack(">i", generation) + text(protocol) + text(member) + text(member) + members

    def _sync(self, version: int, words: Words) -> bytes:
        """It gets the assignment that it made for itself."""
        words.text()
        words.number("i")
        words.text()
        if version >= 3:
            words.text()
        given = b""
        for _member in range(words.number("i")):
            words.text()
            given = words.data()
        return data(given)


class Coordinator(socketserver.ThreadingTCPServer):
    """In front of the broker at a port of this machine; `port` is its own."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, broker: int) -> None:
        super().__init__((HOST, 0), Connection)
        self.broker, self.group = broker, Group()
        self.port = int(self.server_address[1])

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.shutdown()
        self.server_close()


class Connection(socketserver.StreamRequestHandler):
    server: Coordinator
    rfile: BufferedIOBase
    disable_nagle_algorithm = True

    def handle(self) -> None:
        with suppress(OSError), socket.create_connection((HOST, self.server.broker)) as broker:
            broker.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            replies = broker.makefile("rb")
            while frame := read_frame(self.rfile):
                kind, version, correlation = struct.unpack_from(">hhi", frame)
                if kind in NEWEST:
                    words = Words(frame[8:])
                    words.text()
                    self.wfile.write(data(struct.pack(">i", correlation) + self.group.answer(kind, version, words)))
                    continue
                broker.sendall(data(frame))
                self.wfile.write(data(self.readdress(kind, read_frame(replies))))

    @property
    def group(self) -> Group:
        return self.server.group

    def readdress(self, kind: int, reply: bytes) -> bytes:
        """Replace a host and the port next to it."""
        if kind not in (METADATA, FIND_COORDINATOR):
            return reply
        there, here = (HOST.encode() + struct.pack(">i", port) for port in (self.server.broker, self.server.port))
        return reply.replace(there, here)


def read_frame(file: BufferedIOBase) -> bytes:
    """Without its length. Empty at the end, which a killed client may cause in the middle of a frame."""
    size = file.read(4)
    frame = file.read(int.from_bytes(size))
    return frame if len(size) == 4 and len(frame) == int.from_bytes(size) else b""
