"""The right engine of the museum and the reference, written apart from each other, agree: on golden and directed
traces, on whatever is generated, and on what is no case at all.
"""

import json
import re
from random import Random

import pytest

from tests.conformance.test_schema_domains import changes_of, is_taken
from tests.sampling import some
from tidegate.conformance.engines.museum import engine
from tidegate.conformance.engines.museum.engines import COMPONENTS, Right
from tidegate.conformance.engines.museum.job.outputs import compute_max_parallelism
from tidegate.conformance.engines.museum.partitioner import Keys
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.engines.wire import to_int32
from tidegate.conformance.judging.golden import read_golden
from tidegate.conformance.judging.suite import Planned
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.cases.partitioner import dress, unscramble
from tidegate.properties.drawing.cases import draw_case
from tidegate.properties.drawing.directed import directed
from tidegate.traces.codec import encode

CASES = 120
#: Places where the museum does not look: at fields that do not belong to a kind, and at events in a state that refuses
#: all of them.
UNREAD = {
    "job": {"config.wire", "config.operators.scripts"},
    "outputs": {"config.outputs", "record.selected"},
    "partitioner": {"config", "config.kind"},
    "result_partition": {"emit.subpartition", "emit.data", "end_of_data.drain", "broadcast.data"},
}


@pytest.mark.parametrize("component", some(COMPONENTS, 2))
def test_right_engine_is_never_accused(component):
    engine = InProcess(Right())
    engine.start()
    cases = [*read_golden(component), *(one.case for one in directed(component))]
    cases += [draw_case(component, "agreement", index) for index in range(CASES)]
    verdicts = list(Runner(engine).run(Planned("generated", case) for case in cases))
    assert len(verdicts) == len(cases) > CASES
    assert [verdict for verdict in verdicts if verdict.status is not Status.PASS] == []


@pytest.mark.parametrize("component", COMPONENTS)
def test_what_is_no_case_is_a_bad_request(component):
    """Fields that it does not know an engine ignores; and what is large takes memory."""
    unread, found = UNREAD.get(component, ()), {True: 0, False: 0}
    for place, case in changes_of(component):
        if place not in unread and not re.search(r"[ \[]-?\d{5}", json.dumps(case)):
            [answer] = engine(None).replay([case])
            taken = is_taken(case, strict=False)
            assert "steps" in answer if taken else answer["error"]["kind"] == "bad_request", (case, answer)
            found[taken] += 1
    assert all(found.values())


def test_generated_keys_have_the_hash_they_are_drawn_for():
    """The generator undoes the scrambling; the museum, which knows nothing of that, does it again."""
    random = Random(0)
    edges = (-(2**31), -(2**31) + 1, -1, 0, 1, 2**31 - 1)
    for scrambled in (*edges, *(random.randint(-(2**31), 2**31) for _ in range(99))):
        code = unscramble(scrambled)
        assert to_int32(Keys().mix(code & 0xFFFFFFFF)) == to_int32(scrambled)
        key = encode(dress(random, code))
        assert to_int32(Keys().hash_code(key)) == code


# --- worked out by hand: what no suite meets -----------------------------------------------------------------


def replay(component, config, *events):
    [answer] = engine(None).replay([{"case": "1", "component": component, "config": config, "events": list(events)}])
    return answer


CREATE_FAILS = {"type": "fault", "operator": 0, "call": "create", "failing": True}
HALF_A_CHARACTER = {"type": "record", "key": {"type": "string", "value": "\ud800"}}


@pytest.mark.parametrize(
    ("component", "config", "event"),
    [
        ("gate", [], {"type": "poll"}),
        ("gate", {"channels": 1}, "poll"),
        ("chain_lifecycle", {"operators": [{"lingers": False}], "sources": 0, "inputs": 1}, CREATE_FAILS),
        ("partitioner", {"kind": "hash", "channels": 2, "max_parallelism": 128}, HALF_A_CHARACTER),
    ],
)
def test_more_that_is_no_case(component, config, event):
    assert replay(component, config, event)["error"]["kind"] == "bad_request"


@pytest.mark.parametrize(("parallelism", "groups"), [(1, 128), (85, 128), (86, 256), (30_000, 32_768)])
def test_part_10_key_groups(parallelism, groups):
    assert compute_max_parallelism(parallelism) == groups


def test_span_11_a_failure_surfaces_within_a_hundred_emits_and_stays():
    config = {"kind": "selecting", "channels": 1, "buffer_size": 4096, "timeout": 5}
    emits = [{"type": "record", "channel": 0, "payload": ""}] * 102
    answers = replay("writer", config, {"type": "fail"}, *emits)["steps"]
    failed = [answer == [{"type": "io_error"}] for answer in answers[1:]]
    assert any(failed[:101])
    assert all(failed[failed.index(True) :])


def make_operator(number, **fields):
    plain = {"name": f"n{number}", "kind": "operator", "strategy": "always", "parallelism": 1, "max_parallelism": -1}
    return {"id": number, **plain, "slot_group": "default", "yielding": False, **fields}


def chain(operators, pairs):
    edges = [{"source": a, "target": b, "partitioner": "forward", "exchange": "undefined"} for a, b in pairs]
    config = {"chaining": True, "chain_different_max_parallelism": True}
    [vertices] = replay("chaining", config, {"type": "graph", "operators": operators, "edges": edges})["steps"]
    return [vertex["name"] for vertex in vertices]


def test_a_long_yielding_chain():
    operators = [make_operator(0, kind="source"), *(make_operator(index, yielding=True) for index in range(1, 150))]
    names = chain(operators, [(index, index + 1) for index in range(149)])
    assert names == [" -> ".join(f"n{index}" for index in range(150))]


def test_chain_17_a_union_takes_no_chained_source():
    sources = [make_operator(1, kind="source"), make_operator(2, kind="source")]
    host = make_operator(3, strategy="head_with_sources")
    assert chain([sources[0], host], [(1, 3)]) == ["n3 [n1]"]
    assert chain([*sources, host], [(1, 3), (2, 3)]) == ["n1", "n2", "n3"]
