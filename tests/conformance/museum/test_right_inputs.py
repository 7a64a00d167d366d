"""The right inputs of the museum against examples worked out by hand from the rules."""

import pytest

from conformance.museum import engine

CALL = {"type": "process", "batch": False}


def replay(component, config, events):
    [answer] = engine(None).replay([{"case": "1", "component": component, "config": config, "events": events}])
    return answer


def steps(component, config, events):
    return replay(component, config, events)["steps"]


def ending(index, kind):
    return {"type": "event", "input": index, "channel": 0, "kind": kind}


def test_inputs_9_the_circle_starts_behind_input_1():
    records = [{"type": "buffer", "input": index, "channel": 0, "data": "000000020161"} for index in range(3)]
    answers = steps("multiple_inputs", {"inputs": [1, 1, 1]}, [*records, CALL, CALL, CALL])
    assert [answer[0] for answer in answers[3:]] == [{"type": "reads", "input": index} for index in (2, 0, 1)]


@pytest.mark.parametrize(
    ("first", "last", "status"),
    [
        ("end_of_data", "end_of_data", "end_of_data"),
        ("stop", "end_of_data", "stopped"),
        ("end_of_data", "stop", "more_available"),
    ],
)
def test_inputs_9_the_last_end_of_data_speaks_for_all(first, last, status):
    answers = steps("multiple_inputs", {"inputs": [1, 1]}, [ending(0, first), ending(1, last), CALL, CALL])
    assert answers[3][-1] == {"type": "returned", "status": status, "available": True}


@pytest.mark.parametrize(
    ("component", "config", "event"),
    [
        ("multiple_inputs", {"inputs": [1]}, None),
        ("multiple_inputs", {"inputs": [1, 0]}, None),
        ("multiple_inputs", {"inputs": [1, 1]}, {"type": "event", "input": 0, "channel": 0, "kind": "data"}),
    ],
)
def test_malformed_cases_are_bad_requests(component, config, event):
    answer = replay(component, config, [event] if event else [])
    assert answer["error"]["kind"] == "bad_request"
