"""The coordinator of a consumer group that has one member, in front of a broker that has a coordinator of its own.

librdkafka's mock broker makes a member that joins again after a kill wait for the session of the dead one, and a
member whose session is over before its group is ready never gets an answer: on a machine that stands still for some
seconds it waits for minutes. Here whoever joins leads the group at once, and no session ends. That is right as long as
there is one process at a time.

Requests go one by one on a connection, as with a real broker. Those about groups are answered here, all others by the
broker; where it says where it is, it is here.
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
#: Of each request about groups, the newest version that is understood: those after it have another encoding.
NEWEST = {JOIN: 5, HEARTBEAT: 3, LEAVE: 2, SYNC: 3}
HOST = "127.0.0.1"


class UnknownVersionError(ValueError):
    """A request about groups in a version that is not understood."""


class Words:
    """What a request says, field by field. Texts and bytes have their length before them."""

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
        """What a broker would say, with no error and no throttling."""
        if version > NEWEST[kind]:
            raise UnknownVersionError(f"request {kind} about a group, version {version}; the newest is {NEWEST[kind]}")
        throttled = struct.pack(">i", 0) if version >= (2 if kind == JOIN else 1) else b""
        begin = throttled + struct.pack(">h", 0)
        if kind == JOIN:
            return begin + self._join(version, words)
        return begin + (self._sync(version, words) if kind == SYNC else b"")

    def _join(self, version: int, words: Words) -> bytes:
        """It leads, and is told of all members: of itself."""
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
        """It has what it gave itself."""
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
        """A host and its port stand side by side."""
        if kind not in (METADATA, FIND_COORDINATOR):
            return reply
        there, here = (HOST.encode() + struct.pack(">i", port) for port in (self.server.broker, self.server.port))
        return reply.replace(there, here)


def read_frame(file: BufferedIOBase) -> bytes:
    """Without its length. Nothing at the end, which a client that is killed finds in the middle of a word."""
    size = file.read(4)
    frame = file.read(int.from_bytes(size))
    return frame if len(size) == 4 and len(frame) == int.from_bytes(size) else b""
