"""The protocol's page: it names every component, and its examples are answered as it says."""

import json
import re

import pytest

from tests.paths import ROOT
from tidegate.conformance.judging.reference_engine import ReferenceEngine
from tidegate.reference.components import COMPONENTS

PAGE = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\| `(\w+)` \| `(\{.*\})` \| `(\{.*\})` \| `(\[.*\])` \|$", PAGE, flags=re.MULTILINE)


def test_every_component_has_its_page_linked():
    assert [name for name in COMPONENTS if f"[{name}](semantics/{name}.md)" not in PAGE] == []


def test_there_are_examples():
    assert len(EXAMPLES) >= 7


@pytest.mark.parametrize(("component", "config", "event", "observations"), EXAMPLES, ids=[one[0] for one in EXAMPLES])
def test_example_is_answered_as_the_page_says(component, config, event, observations):
    case = {"case": "page", "component": component, "config": json.loads(config), "events": [json.loads(event)]}
    [answer] = ReferenceEngine().replay([case])
    assert answer["steps"] == [json.loads(observations)]
