"""Watermark alignment of Flink 2.3.0 does what the specification says, and has the defect of FLINK-40093."""

import pytest

from tests.conformance.engines.flink.replaying import answer

IDLE_WHILE_PAUSED = [
    {"type": "add_split", "split": 0},
    {"type": "announce", "timestamp": "5"},
    {"type": "split_watermark", "split": 0, "timestamp": "9"},
    {"type": "split_status", "split": 0, "status": "idle"},
    {"type": "announce", "timestamp": "20"},
]


@pytest.mark.rule("ALIGN-7")
def test_flink_40093(flink):
    assert flink.start().components["source_alignment"].semantics == {"flink-39073"}
    seen = answer(flink, "source_alignment", {"samples": 0}, *IDLE_WHILE_PAUSED)
    assert seen == [[], [], [{"type": "pause", "split": 0}], [], []]
