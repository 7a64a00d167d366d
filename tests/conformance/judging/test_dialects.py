"""An engine held to other semantics is asked in its own words and judged by the others."""

from tidegate.conformance.engines.base import Claim, Description, Engine, Request, Steps
from tidegate.conformance.judging.dialects import HeldTo, components_with, disputed
from tidegate.conformance.kinds import resolve


class Recording(Engine):
    """Declares what it is told to, and remembers what it was asked."""

    def __init__(self, components):
        self.asked = []
        self.description = Description(1, "recording", "1", "python", components, 8)

    def start(self):
        return self.description

    def replay(self, requests):
        for request in requests:
            self.asked.append(request.config)
            yield request, Steps([])

    def close(self):
        self.asked = None


def ask(engine, **config):
    request = Request("case", "valve", {"channels": 1, **config}, [])
    engine.start()
    ((given, _reply),) = engine.replay([request])
    assert given is request


def test_an_engine_is_asked_in_a_semantics_that_it_declares():
    recording = Recording({"valve": Claim(semantics=frozenset({"flink-7728"}))})
    held = HeldTo(recording, {"valve": "flink-40475"})
    assert held.start().components["valve"].semantics == {"flink-40475"}
    ask(held, semantics="flink-40475")
    ask(held, semantics="flink-7728")
    ask(held)
    assert [config.get("semantics") for config in recording.asked] == ["flink-7728", "flink-7728", None]
    held.close()
    assert recording.asked is None


def test_an_engine_that_knows_both_is_asked_as_it_was():
    recording = Recording({"valve": Claim(semantics=frozenset({"flink-7728", "flink-40475"}))})
    ask(HeldTo(recording, {"valve": "flink-40475"}), semantics="flink-40475")
    assert recording.asked == [{"channels": 1, "semantics": "flink-40475"}]


def test_components_that_know_a_semantics():
    assert "valve" in components_with("flink-40475")
    assert components_with("flink-1") == {}


def test_disputed_are_those_that_nobody_shares():
    old = Recording({"valve": Claim(), "combiner": Claim(semantics=frozenset({"flink-18934"})), "gate": Claim()})
    new = Recording({"valve": Claim(), "combiner": Claim(), "gate": Claim()})
    assert disputed([old.start(), new.start()]) == {"combiner": "flink-38454"}
    assert disputed([new.start(), new.start()]) == {}
    with resolve("reference") as both:
        assert disputed([old.start(), both.start()]) == {}
