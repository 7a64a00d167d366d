"""The protocol's pages: every component is listed and has an example, and examples are answered as the pages say."""

import json
import re

import pytest

from tests.paths import ROOT
from tidegate.conformance import schemas
from tidegate.conformance.documents.pages import list_components
from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.judging.reference_engine import ReferenceEngine
from tidegate.reference.components import COMPONENTS

PAGE = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")


def examples_of(component):
    """The requests on the page of a component, each with the reply that stands below it."""
    page = (ROOT / "docs" / "semantics" / f"{component}.md").read_text(encoding="utf-8")
    lines = re.findall(r"^> (\{.*\})\n< (\{.*\})$", page, flags=re.MULTILINE)
    return [(json.loads(request), json.loads(reply)) for request, reply in lines]


def test_every_component_is_listed():
    """If this fails: `make docs`."""
    assert all(f"| [{name}](semantics/{name}.md) |" in PAGE for name in COMPONENTS)
    assert list_components(PAGE) == PAGE


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_component_has_an_example_that_is_answered_as_its_page_says(component):
    assert examples_of(component)
    for request, reply in examples_of(component):
        assert schemas.check(request, "replay-request") == []
        assert schemas.check(reply, "replay-reply", component=component) == []
        for engine in ReferenceEngine(), Engine(None):
            [answer] = engine.replay([request])
            assert answer == reply["ok"]


@pytest.mark.parametrize(
    ("bytes_", "seen"),
    [
        *re.findall(r"`([0-9a-f]{18,})` is the record `([0-9a-f]+)`", PAGE),
        *re.findall(r"`([0-9a-f]{18,})` the watermark (\d+)", PAGE),
    ],
)
def test_bytes_are_read_as_the_page_says(bytes_, seen):
    events = [{"type": "buffer", "channel": 0, "data": bytes_}, {"type": "process", "batch": False}]
    case = {"case": "page", "component": "network_input", "config": {"channels": 1}, "events": events}
    [answer] = ReferenceEngine().replay([case])
    element = answer["steps"][1][0]
    assert seen in (element.get("value"), element.get("timestamp"))


def test_operations_are_as_the_schemas_say():
    for name, message in [
        ("hello-request", {"id": 1, "op": "hello", "protocol": [1], "suite": "0.1.0"}),
        ("bye-request", {"id": 3, "op": "bye"}),
    ]:
        assert f"`{json.dumps(message, separators=(',', ':'))}`" in PAGE
        assert schemas.check(message, name) == []


def test_the_one_null_is_that_of_an_unreadable_line():
    unread = {"id": None, "error": {"kind": "bad_request", "message": "no JSON"}}
    assert '`"id":null`' in PAGE
    assert schemas.check(unread, "error-reply") == []
    assert schemas.check(unread | {"id": "1"}, "error-reply") != []
    assert schemas.check({"id": None, "ok": {"steps": []}}, "replay-reply") != []


def test_several_edges_into_an_operator_are_a_union():
    """So no source is chained into an operator with several incoming edges."""

    def vertices(*sources):
        plain = {"parallelism": 1, "max_parallelism": -1, "slot_group": "default", "yielding": False}
        nodes = [{"id": one, "name": f"s{one}", "kind": "source", "strategy": "always", **plain} for one in sources]
        last = {"id": 9, "name": "op", "kind": "operator", "strategy": "head_with_sources", **plain}
        edges = [{"source": one, "target": 9, "partitioner": "forward", "exchange": "undefined"} for one in sources]
        graph = {"type": "graph", "operators": [*nodes, last], "edges": edges}
        config = {"chaining": True, "chain_different_max_parallelism": True}
        case = {"case": "page", "component": "chaining", "config": config, "events": [graph]}
        [answer] = ReferenceEngine().replay([case])
        return [vertex["name"] for vertex in answer["steps"][0]]

    assert vertices(1) == ["op [s1]"]
    assert vertices(1, 2) == ["s1", "s2", "op"]
