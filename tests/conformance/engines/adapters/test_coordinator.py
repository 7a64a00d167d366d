"""The coordinator of a group with one member: what it answers itself, and what it leaves to the broker."""

import io
import socket
import socketserver
import struct
import threading

import pytest

from tidegate.conformance.engines.kafka.coordinator import (
    FIND_COORDINATOR,
    HEARTBEAT,
    HOST,
    JOIN,
    LEAVE,
    NEWEST,
    SYNC,
    Coordinator,
    Group,
    UnknownVersionError,
    Words,
    data,
    read_frame,
    text,
)

NO_ERROR = struct.pack(">h", 0)
NOBODY = struct.pack(">h", -1)


def number(value):
    return struct.pack(">i", value)


def join(version, member=b"", instance=NOBODY):
    timeouts = number(6000) * (2 if version >= 1 else 1)
    named = instance if version >= 5 else b""
    protocols = number(2) + text(b"range") + data(b"topics") + text(b"other") + data(b"")
    return text(b"group") + timeouts + text(member) + named + text(b"consumer") + protocols


@pytest.mark.parametrize("version", range(6))
def test_whoever_joins_leads_a_group_of_one(version):
    group = Group()
    throttled = number(0) if version >= 2 else b""
    named = NOBODY if version >= 5 else b""
    for generation, given in ((1, b""), (2, b"member-1"), (3, b"")):
        member = given or b"member-%d" % generation
        told = number(generation) + text(b"range") + text(member) + text(member)
        told += number(1) + text(member) + named + data(b"topics")
        assert group.answer(JOIN, version, Words(join(version, given))) == throttled + NO_ERROR + told


def test_a_member_with_a_name_of_its_own_keeps_it():
    assert text(b"me") + data(b"topics") in Group().answer(JOIN, 5, Words(join(5, instance=text(b"me"))))


@pytest.mark.parametrize("version", range(4))
def test_a_member_has_what_it_gave_itself(version):
    named = NOBODY if version >= 3 else b""
    asked = text(b"group") + number(1) + text(b"m") + named + number(1) + text(b"m") + data(b"partitions")
    told = Group().answer(SYNC, version, Words(asked))
    assert told == (number(0) if version >= 1 else b"") + NO_ERROR + data(b"partitions")


@pytest.mark.parametrize("kind", [HEARTBEAT, LEAVE])
def test_it_has_nothing_against_the_rest(kind):
    assert Group().answer(kind, 0, Words(b"")) == NO_ERROR
    assert Group().answer(kind, 1, Words(b"")) == number(0) + NO_ERROR


@pytest.mark.parametrize("kind", NEWEST)
def test_a_version_that_it_does_not_know_is_named(kind):
    with pytest.raises(UnknownVersionError, match=f"request {kind} about a group, version {NEWEST[kind] + 1}"):
        Group().answer(kind, NEWEST[kind] + 1, Words(b""))


class Broker(socketserver.StreamRequestHandler):
    """Says where it is, and what it was asked."""

    def handle(self):
        while frame := read_frame(self.rfile):
            place = HOST.encode() + number(self.server.server_address[1])
            self.wfile.write(data(frame[4:8] + place + frame))


def test_all_else_is_for_the_broker_which_then_is_here():
    with socketserver.ThreadingTCPServer((HOST, 0), Broker) as broker:
        broker.daemon_threads = True
        threading.Thread(target=broker.serve_forever, args=(0.05,), daemon=True).start()
        with (
            Coordinator(broker.server_address[1]) as coordinator,
            socket.create_connection((HOST, coordinator.port)) as client,
            client.makefile("rb") as replies,
        ):
            fetch, find, beat = (
                struct.pack(">hhi", kind, 1, 70 + kind) + text(b"client") for kind in (1, FIND_COORDINATOR, HEARTBEAT)
            )
            client.sendall(data(fetch) + data(find) + data(beat))
            there, here = (HOST.encode() + number(port) for port in (broker.server_address[1], coordinator.port))
            assert read_frame(replies) == number(71) + there + fetch
            assert read_frame(replies) == number(80) + here + find
            assert read_frame(replies) == number(82) + number(0) + NO_ERROR
        broker.shutdown()


@pytest.mark.parametrize("cut", [b"", b"\0\0", number(5), number(5) + b"four"])
def test_a_word_that_was_cut_is_none(cut):
    assert read_frame(io.BytesIO(cut)) == b""
    assert read_frame(io.BytesIO(number(4) + b"four")) == b"four"
