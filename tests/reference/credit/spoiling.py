"""Flow control without one of its parts: each is needed, or data gets stuck."""

import attrs

from tidegate.reference.credit import buffers, readers


def forget_to_wait(monkeypatch):
    """Who lacks a buffer is not remembered (FLINK-23466)."""
    request = buffers.request_floating

    def broken_request(gate, index):
        after, gained = request(gate, index)
        return attrs.evolve(after, waiting=gate.waiting), gained

    monkeypatch.setattr(buffers, "request_floating", broken_request)


def keep_buffers_while_blocked(monkeypatch):
    """A channel that waits behind a barrier keeps its floating buffers (FLINK-16404)."""
    monkeypatch.setattr(buffers, "block", lambda gate, _index: buffers.Change(gate))


def announce_nothing(monkeypatch):
    """A sender without credit does not say that data waits."""
    monkeypatch.setattr(readers, "compute_announcement", lambda _reader: 0)
