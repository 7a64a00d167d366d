"""What the playground answers: the same as the specification, and an error for what makes no sense."""

import pytest

from tests.sampling import some
from tidegate.conformance.documents.stepping import step_through
from tidegate.conformance.web.playing import MAX_EVENTS, MAX_PARTS, answer, plain, stories
from tidegate.properties.drawing.cases import draw_case
from tidegate.reference.components import BY_FLOOR, COMPONENTS
from tidegate.reference.elements import MAX, MIN
from tidegate.traces.codec import encode
from tidegate.traces.notation.text import read_trace, write_trace


def play(component, config, trace, **more):
    return answer({"ask": "play", "component": component, "config": config, "trace": trace, **more})


def test_components_come_in_the_order_of_the_path():
    known = answer({"ask": "components"})
    assert [one["name"] for one in known["components"]] == [
        place.name for floor in BY_FLOOR.values() for place in floor
    ]
    assert known["rules"]["VALVE-13"]["intent"]


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_component_can_be_described_and_begun(component):
    about = answer({"ask": "component", "component": component})
    assert {field["name"] for field in about["fields"]} >= about["config"].keys()
    assert {one["group"] for one in about["stories"]} == {"directed", "museum", "golden"}
    began = play(component, about["config"], "")
    assert began["offers"], "there is something to click at the start"
    for offer in began["offers"][:3]:
        played = play(component, about["config"], offer["event"])
        assert played["steps"][0]["outcomes"][0]["observations"] == offer["observations"]
    for story in stories(component)[::40]:
        played = play(component, story.config, story.trace)
        assert "error" not in played
        assert len(played["steps"]) == len(read_trace(component, story.trace))


def test_steps_are_those_of_explain():
    case = draw_case("subpartition", 5, 1)
    played = play("subpartition", encode(case.config), write_trace("subpartition", case.events))
    first = [step["outcomes"][0] for step in played["steps"]]
    expected = step_through(case)
    assert [(one["rules"], one["words"]) for one in first] == [(list(step.rules), step.state) for step in expected]
    assert [", ".join(one["observations"]) or "nothing" for one in first] == [step.observations for step in expected]


def test_claims_are_broken_at_the_step_that_breaks_them():
    played = play("valve", {"channels": 3}, "2i 0w20 1w10 0i 2a 1i 2i 2a")
    broken = [step["outcomes"][0]["broken"] for step in played["steps"]]
    assert broken == [[]] * 6 + [["all-idle-puts-out-the-maximum"], []]
    before = play("valve", {"channels": 3}, "2i 0w20 1w10 0i 2a 1i")
    assert {offer["event"] for offer in before["offers"] if offer["breaks"]} == {"2i", "0a"}


def test_another_outcome_can_be_taken():
    config = {"kind": "shuffle", "channels": 3}
    first = play("partitioner", config, "r r", choices={"1": 2})
    assert [step["chosen"] for step in first["steps"]] == [0, 2]
    assert first["steps"][1]["outcomes"][2]["observations"] == ["send(channel 2)"]
    assert play("partitioner", config, "r", choices={"0": 9})["steps"][0]["chosen"] == 0, "a choice without meaning"


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_component_can_be_explored(component):
    config = answer({"ask": "component", "component": component})["config"]
    found = answer({"ask": "explore", "component": component, "config": config})
    assert found["states"] == sum(found["layers"])
    assert found["checked"]
    assert found["transitions"]


@pytest.mark.parametrize("component", some(COMPONENTS))
def test_the_graph_is_the_one_that_is_explored(component):
    """As many states, and each step of the shortest way to a claim is one step on in the graph."""
    asked = {"component": component, "config": answer({"ask": "component", "component": component})["config"]}
    explored = answer({"ask": "explore", **asked})
    start = answer({"ask": "neighbours", **asked, "trace": "", "at": 0})
    if explored["complete"] and "error" not in start:
        assert sum(start["layers"]) == explored["states"]
    for shown in explored["reached"][:1]:
        before = answer({"ask": "neighbours", **asked, "trace": " ".join(shown["trace"].split()[:-1])})
        last = shown["trace"].split()[-1]
        assert any(last in one["events"] for one in before["after"]), shown


def test_neighbours_say_what_breaks_and_lead_back():
    asked = {"ask": "neighbours", "component": "valve", "config": {"channels": 3}}
    found = answer({**asked, "trace": "2i 0w2 1w1 0i 2a 1i"})
    (flush,) = [one for one in found["after"] if "2i" in one["events"]]
    assert (flush["breaks"], flush["depth"]) == (["all-idle-puts-out-the-maximum"], found["here"]["depth"] + 1)
    for one in found["before"]:
        back = answer({**asked, "trace": one["trace"]})
        assert (back["here"]["number"], back["here"]["depth"]) == (one["number"], one["depth"])
        assert found["here"]["number"] in [each["number"] for each in back["after"]]
    assert "not explored" in answer({**asked, "trace": "0w77"})["error"]["message"]
    assert "from 1 to" in answer({**asked, "timestamps": 99})["error"]["message"]


def test_the_explorer_finds_what_the_command_finds():
    found = answer({"ask": "explore", "component": "valve", "config": {"channels": 3}})
    assert (found["states"], found["transitions"], found["complete"]) == (210, 3150, True)
    assert {one["name"]: len(one["trace"].split()) for one in found["broken"]} == {
        "no-pending-minimum": 7,
        "all-idle-puts-out-the-maximum": 7,
    }
    corrected = {"channels": 3, "semantics": "flink-40475"}
    assert answer({"ask": "explore", "component": "valve", "config": corrected})["broken"] == []


def test_an_event_that_is_repeated_is_as_many_steps():
    assert len(play("valve", {"channels": 2}, "0w1 0i*12")["steps"]) == 13


def test_events_are_offered_where_one_is():
    config, trace = {"channels": 2}, "0w5 1i"
    assert play("valve", config, trace, at=0)["offers"] == play("valve", config, "")["offers"]
    assert "0w6" in {offer["event"] for offer in play("valve", config, trace)["offers"]}


@pytest.mark.parametrize(
    ("trace", "start", "expected"),
    [("0w1 0x 1i", 4, "its forms are"), ("0w1  {bad", 5, "{bad"), ('0i {"type":"status","channel":0}', 3, "missing")],
)
def test_a_wrong_token_is_shown_where_it_stands(trace, start, expected):
    played = play("valve", {"channels": 2}, trace)
    assert len(played["steps"]) == 1
    error = played["error"]
    assert (error["start"], trace[error["start"] : error["end"]]) == (start, trace.split()[1])
    assert expected in error["message"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("valve", "ask must be one of"),
        ({"ask": "eval"}, "ask must be one of"),
        ({"ask": "play", "component": "<b>"}, "unknown component"),
        ({"ask": "play", "component": ["valve"]}, "unknown component"),
        ({"ask": "play", "component": "valve", "config": {}}, "channels is missing"),
        ({"ask": "play", "component": "valve", "config": 7}, "must be an object"),
        ({"ask": "play", "component": "valve", "config": {"channels": MAX_PARTS + 1}}, "at most"),
        ({"ask": "play", "component": "union_gate", "config": {"members": [1] * (MAX_PARTS + 1)}}, "at most"),
        ({"ask": "play", "component": "valve", "config": {"channels": 2}, "trace": 5}, "must be a string"),
        ({"ask": "play", "component": "valve", "config": {"channels": 2}, "choices": {"x": 1}}, "choices"),
        ({"ask": "play", "component": "valve", "config": {"channels": 2}, "trace": "0i " * (MAX_EVENTS + 1)}, "only"),
    ],
)
def test_a_question_without_sense_is_answered_by_an_error(question, expected):
    assert expected in answer(question)["error"]["message"]


def test_values_that_a_page_would_round_are_texts():
    assert plain((MIN, MAX, 2**53 + 1, -(2**53), True, None, b"a", frozenset({2, 1}))) == [
        "MIN",
        "MAX",
        str(2**53 + 1),
        -(2**53),
        True,
        None,
        "61",
        [1, 2],
    ]


@pytest.mark.parametrize(
    ("component", "config"),
    [
        ("serializer", {"buffer_size": 2**31 - 1}),
        ("buffer", {"capacity": 2**31 - 1}),
        ("buffer_pools", {"total": 2**31 - 1}),
        ("source_alignment", {"samples": 2**15}),
        ("alignment_group", {"sources": [{"group": 0, "drift": "1"}], "subtasks": 2**15}),
    ],
)
def test_what_would_take_a_machine_is_not_played(component, config):
    """Generators draw what fills a buffer; samples and subtasks are copied in every state."""
    for ask in ("play", "explore", "neighbours"):
        answered = answer({"ask": ask, "component": component, "config": config})
        assert "can be played here" in answered["error"]["message"]
