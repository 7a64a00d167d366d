"""The right engine of the museum and the reference, written apart from each other, agree on whatever is generated."""

import pytest

from conformance.engines.python import InProcess
from conformance.museum.engines import COMPONENTS, Right
from conformance.runner import Planned, Runner
from conformance.verdicts import Result
from properties.strategies import draw_case

CASES = 300


@pytest.mark.parametrize("component", COMPONENTS)
def test_right_engine_is_never_accused(component):
    engine = InProcess(Right())
    engine.start()
    planned = (Planned("generated", draw_case(component, "agreement", index)) for index in range(CASES))
    verdicts = list(Runner(engine).run(planned))
    assert len(verdicts) == CASES
    assert [verdict for verdict in verdicts if verdict.result is not Result.PASS] == []
