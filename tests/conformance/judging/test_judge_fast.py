"""The fast judge says what the judge says, of right answers and of all that the museum's wrong engines give."""

import json
from collections import Counter
from pathlib import Path

import attrs
import pytest

from tidegate.conformance.engines.museum.catalog import mutants_of
from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.judging.golden import read_golden
from tidegate.conformance.judging.judge import follow, judge
from tidegate.conformance.judging.judge_fast import Judge, key_of
from tidegate.conformance.judging.reference_engine import ReferenceEngine
from tidegate.conformance.judging.verdicts import Malformed, Passed, Violation
from tidegate.properties.drawing.cases import draw_case
from tidegate.properties.drawing.directed import directed
from tidegate.reference.components import COMPONENTS
from tidegate.traces.codec import encode_case

#: So many written cases are left out behind each that the short test tries.
SAMPLE = 8


def written_cases(component):
    return [*(one.case for one in directed(component)), *read_golden(component)]


def drawn_cases(component):
    """With the way that whoever drew them knows, so that answers are compared to the letter."""
    return [draw_case(component, "fast", index) for index in range(12)]


def check(case, steps, fast):
    """Both give the same judgement and count the same; the judgement."""
    before = fast.exercised.copy()
    judgement, outcomes = follow(case, steps)
    assert fast.judge(case, steps) == judgement, case
    assert fast.exercised - before == Counter(map(key_of, outcomes)), case
    return judgement


@pytest.mark.parametrize("component", sorted(COMPONENTS))
def test_both_let_right_answers_pass(component):
    fast = Judge()
    for case in (*written_cases(component), *drawn_cases(component)):
        (answer,) = ReferenceEngine(seed=1).replay([encode_case(case)])
        assert check(case, answer["steps"], fast) == Passed()
        # Another order of keys, and a key that nobody knows, are not to the letter.
        turned = [[{"debug": 1, **dict(reversed(shown.items()))} for shown in step] for step in answer["steps"]]
        assert check(case, turned, fast) == Passed()


def compare_museum(component, cases):
    """Judges every distinct answer to each case, of the right engine and of all wrong ones; how many of each kind."""
    engines = [Engine(), *(Engine(one.name) for one in mutants_of(component))]
    fast, kinds = Judge(), Counter()
    for case in cases:
        asked = encode_case(case)
        answers = {}
        for engine in engines:
            steps = engine.replay_case(json.loads(json.dumps(asked))).get("steps")
            if steps is not None:
                answers.setdefault(json.dumps(steps), steps)
        for steps in answers.values():
            kinds[type(check(case, steps, fast))] += 1
    return kinds


@pytest.mark.parametrize("component", sorted(COMPONENTS))
def test_both_say_the_same_of_the_museum(component):
    kinds = compare_museum(component, [*drawn_cases(component)[:4], *written_cases(component)[::SAMPLE]])
    assert kinds[Passed] > 0
    assert kinds[Violation] > 0


@pytest.mark.long
@pytest.mark.parametrize("component", sorted(COMPONENTS))
def test_both_say_the_same_of_all_of_the_museum(component):
    kinds = compare_museum(component, written_cases(component))
    assert kinds[Violation] > 0


@pytest.mark.parametrize("spoilt", [None, 7, "idle", {}, {"type": "watermark", "timestamp": 5}, [], {"type": 1}])
def test_both_say_the_same_of_what_is_no_observation(spoilt):
    fast = Judge()
    case = directed("valve")[0].case
    (answer,) = ReferenceEngine().replay([encode_case(case)])
    for index, step in enumerate(answer["steps"]):
        steps = [*answer["steps"][:index], [*step, spoilt], *answer["steps"][index + 1 :]]
        assert isinstance(check(case, steps, fast), Malformed)


def test_both_let_a_file_override_the_specification():
    for case in read_golden("valve")[:20]:
        (answer,) = ReferenceEngine().replay([encode_case(case)])
        other = attrs.evolve(case, expect=((), *case.expect[1:]) if case.expect[0] else case.expect)
        check(other, answer["steps"], Judge())
        assert judge(case, answer["steps"]) == Passed()


def test_the_judge_stands_on_one_page():
    """Speed lives elsewhere: what everybody can check stays short, and needs nothing that makes it fast."""
    page = Path(judge.__code__.co_filename).read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 100
    assert "import judge_fast" not in page
    assert "from tidegate.conformance.judging.judge_fast" not in page
