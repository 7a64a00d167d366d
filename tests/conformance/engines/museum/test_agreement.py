"""The right engine of the museum and the reference, written apart from each other, agree on whatever is generated."""

from random import Random

import pytest

from tidegate.conformance.engines.museum.engines import COMPONENTS, Right
from tidegate.conformance.engines.museum.partitioner.keys import hash_code, murmur
from tidegate.conformance.engines.python import InProcess
from tidegate.conformance.engines.wire import to_int32
from tidegate.conformance.judging.suite import Planned
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.cases.drawing import draw_case
from tidegate.properties.cases.partitioner.draw import dress, unscramble
from tidegate.traces.codec import encode

CASES = 300


@pytest.mark.parametrize("component", COMPONENTS)
def test_right_engine_is_never_accused(component):
    engine = InProcess(Right())
    engine.start()
    planned = (Planned("generated", draw_case(component, "agreement", index)) for index in range(CASES))
    verdicts = list(Runner(engine).run(planned))
    assert len(verdicts) == CASES
    assert [verdict for verdict in verdicts if verdict.status is not Status.PASS] == []


def test_generated_keys_have_the_hash_they_are_drawn_for():
    """The generator undoes the scrambling; the museum, which knows nothing of that, does it again."""
    random = Random(0)
    for scrambled in (
        -(2**31),
        -(2**31) + 1,
        -1,
        0,
        1,
        2**31 - 1,
        *(random.randint(-(2**31), 2**31) for _ in range(99)),
    ):
        code = unscramble(scrambled)
        assert to_int32(murmur(code & 0xFFFFFFFF, "partitioner-murmur-unsigned")) == to_int32(scrambled)
        key = encode(dress(random, code))
        assert to_int32(hash_code(key, "")) == code
