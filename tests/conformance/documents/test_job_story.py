"""The story of WordCount: every choice has a title, and in the end the words are counted."""

import pytest

from tidegate.conformance.documents.job_story import introduction, results, steps, story
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.job.programs import Wire


def test_the_story_begins_with_the_tasks():
    lines = introduction()
    assert lines[0] == "The program: lines (source), words (flat_map), count (sum), print (sink)."
    assert lines[1] == "Chained into the task [lines -> words], with 2 subtasks."
    assert len(lines) == 3 + 4


def test_each_step_says_what_was_seen():
    told = steps()
    assert [one.number for one in told] == list(range(1, len(told) + 1))
    assert told[0].title == "[lines -> words]/0 goes on with its script"
    assert told[0].lines[0] == "hands out record 0 'to' of time 1 (0 to 1)"
    assert "PART-6" in told[0].rules
    assert told[1].lines == ("receives record 0 'to' of time 1 (0 to 1)", "now 'to' is 1")
    assert all(one.lines for one in told)


@pytest.mark.parametrize("wire", [None, Wire(32, 0, 1)])
def test_the_story_ends_with_the_counts(wire):
    assert results(make_word_count(wire)) == ["be: 2", "not: 1", "or: 1", "to: 2"]
    text = story(wire)
    assert text.endswith("to: 2")
    assert ("buffer" in text) == (wire is not None)
