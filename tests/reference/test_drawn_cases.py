"""Along drawn cases every claim holds, but for the defects that dated semantics are known for."""

import pytest

from tests.reference.walking import walk
from tidegate.properties.drawing.cases import draw_case
from tidegate.reference.components import COMPONENTS

CASES = 60
#: The claims are checked at every step; the longest cases are there to be played.
STEPS = 500
#: What the explorer shows to fail, by the semantics that breaks it.
DEFECTS = {
    "flink-7728": {"all-idle-puts-out-the-maximum", "no-pending-minimum"},
    "flink-18934": {"all-idle-puts-out-the-maximum", "idle-has-put-out-the-maximum", "idle-only-with-outputs"},
    "flink-17653": {"idle-has-put-out-the-maximum", "idle-only-with-outputs"},
    "flink-38454": {"idle-only-with-outputs"},
    "flink-39073": {"nobody-is-forgotten"},
    "flink-39018": {"recovered-data-is-saved-once"},
}


@pytest.mark.parametrize("component", COMPONENTS)
def test_claims_hold_along_drawn_cases(component):
    for case in (draw_case(component, "claims", index) for index in range(CASES)):
        defects = DEFECTS.get(getattr(case.config, "semantics", None), set())
        walk(component, case.config, case.events[:STEPS], breaks=defects)
