"""How many buffers are needed, rule by rule."""

import pytest

from tests.reference.walking import seen

USUAL = {"per_channel": 2, "floating": 8}


@pytest.mark.rule("NEED-1")
@pytest.mark.parametrize(
    ("result", "most"), [("pipelined_bounded", 16), ("pipelined", 2**31 - 1), ("blocking", 2**31 - 1)]
)
def test_need_1_partitions(result, most):
    assert seen("buffer_needs", USUAL, f"partition:{result}.x4") == [f"partition(required 5, most {most})"]


@pytest.mark.rule("NEED-2")
def test_need_2_gates():
    assert seen("buffer_needs", USUAL, "gate:pipelined_bounded.x2") == ["gate(exclusive 2, required 1, most 8)"]


@pytest.mark.rule("NEED-3")
def test_need_3_many_channels():
    told = seen("buffer_needs", USUAL, "gate:pipelined_bounded.x500 gate:blocking.x500")
    assert told == ["gate(exclusive 2, required 1, most 8)", "gate(exclusive 1, required 500, most 508)"]
