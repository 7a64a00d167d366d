"""Known failures: found as by a look at each entry in turn, without one; files that are none are refused by line."""

from fnmatch import fnmatchcase
from random import Random

import pytest

from tidegate.conformance.judging.expectations import (
    FAILING,
    Entry,
    Expectations,
    ExpectationsFileError,
    Index,
    parse_expectations,
    read_expectations,
    write_expectations,
)
from tidegate.conformance.judging.verdicts import Status

PATTERNS = (
    "valve-0-1",
    "valve-0-*",
    "*-1",
    "v*-1?",
    "[gv]ate-0-1",
    "*",
    "gate-[0-9]-1",
    "*0*",
    "gate-0-[1",
    "x]*",
    "??te-*",
)
NAMES = ("valve-0-1", "valve-0-12", "gate-0-1", "gate-0-[1", "x]y", "late-7-1", "")
RULES = ("VALVE-1", "GATE-2")


def one_by_one(entries, name, status, rules):
    """What the text of the page says: the first entry that covers it."""
    for entry in entries:
        covers = fnmatchcase(name, entry.pattern) if entry.kind == "case" else entry.pattern in rules
        if covers and status in FAILING:
            return Status.XFAIL, f"expected: {entry.reason}"
        if covers and status is Status.PASS and entry.is_exact:
            return Status.XPASS, f"listed as failing: {entry.reason}"
    return status, ""


@pytest.mark.parametrize("seed", range(200))
def test_the_first_entry_that_covers_a_case_decides(seed):
    random = Random(seed)
    made = [("case", one) for one in PATTERNS] + [("rule", one) for one in RULES]
    entries = tuple(Entry(*random.choice(made), f"{number}") for number in range(random.randint(0, 6)))
    for name in NAMES:
        for status in (*FAILING, Status.PASS, Status.NOT_RUN):
            rules = random.sample(RULES, random.randint(0, 2)) if status is Status.FAIL else ()
            assert Expectations(entries).judge(name, status, rules) == one_by_one(entries, name, status, rules)


@pytest.mark.parametrize("form", ["valve-{}-1", "valve-{}-*", "*-{}-1", "v*-{}"])
def test_many_entries_cost_a_case_a_look_at_few(form, monkeypatch):
    looked = []
    monkeypatch.setattr(Index, "_matches", lambda _index, number, _name: looked.append(number))
    known = Expectations(tuple(Entry("case", form.format(f"n{number}"), "known") for number in range(40_000)))
    for number in range(23):
        known.judge(f"valve-n{number}-1", Status.FAIL, ("VALVE-1",))
    assert len(looked) <= 23


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"case a -- b\n\xff", "line 2: not UTF-8"),
        (b"case valve-0-1\n", "line 1: not `case PATTERN"),
        (b"# fine\n\ncase " + b"x" * 20_000 + b" -- y", "line 3"),
        (b"\0\0", "line 1"),
    ],
)
def test_a_file_that_is_no_list_is_refused_by_its_line(tmp_path, content, said):
    path = tmp_path / "known.txt"
    path.write_bytes(content)
    with pytest.raises(ExpectationsFileError, match=said) as raised:
        read_expectations(path)
    assert str(path) in str(raised.value)


def test_a_file_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr("tidegate.conformance.judging.expectations.LARGEST_FILE", 10)
    (tmp_path / "known.txt").write_text("case a -- b\n")
    with pytest.raises(ExpectationsFileError, match="over 10 bytes"):
        read_expectations(tmp_path / "known.txt")


def test_an_entry_with_a_text_stands_for_failures_that_say_it():
    known = parse_expectations('rule VALVE-1 "the heap" -- dies\nrule VALVE-1 -- wrong\ncase a* "b" -- c', "known")
    assert known.judge("x", Status.CRASH, ("VALVE-1",), "in the heap of") == (Status.XFAIL, "expected: dies")
    assert known.judge("x", Status.FAIL, ("VALVE-1",), "elsewhere") == (Status.XFAIL, "expected: wrong")
    assert known.judge("ab", Status.FAIL, (), "abc") == (Status.XFAIL, "expected: c")
    assert known.judge("ab", Status.FAIL, (), "a") == (Status.FAIL, "")
    assert known.problems() == ()
    assert parse_expectations('rule VALVE-1 "x" -- y', "known").problems()[0].startswith('rule VALVE-1 "x": ')


def test_a_text_is_kept_when_the_file_is_written_anew(tmp_path):
    known = parse_expectations('rule VALVE-1 "the heap" -- dies', "known")
    known.judge("x", Status.CRASH, ("VALVE-1",), "the heap")
    assert write_expectations(tmp_path / "known", [], known) == 1
    assert read_expectations(tmp_path / "known").entries == known.entries
