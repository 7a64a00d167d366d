"""Whatever is read, an error is one of ours: a small fixed budget here, `make fuzz` for as long as one likes."""

import attrs
import pytest
from hypothesis import given, settings

from tests.fuzzing.documents import documents
from tests.fuzzing.targets import TARGETS
from tests.hypotheses import QUIET

BUDGET = settings(QUIET, max_examples=60)


@pytest.mark.parametrize("name", TARGETS)
def test_every_error_is_one_of_ours(name, tmp_path):
    target, refused = TARGETS[name], set()

    @BUDGET
    @given(documents(target.seeds()))
    def read(document):
        refused.add(target.refuses(tmp_path / "document", document))

    read()
    assert refused == {True, False}, "some are right as they are, others are not"


def test_a_reader_that_fails_is_reported_and_its_document_kept(tmp_path, monkeypatch, capsys):
    def trip(path):
        if len(path.read_bytes().split(b"--")) > 3:
            raise KeyError("tripped")

    from tests.fuzzing.__main__ import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TARGETS, "expectations", attrs.evolve(TARGETS["expectations"], read=trip))
    assert main(["--seconds", "600", "expectations"]) == 1
    (kept,) = (tmp_path / "fuzz-failures").iterdir()
    assert kept.read_bytes().count(b"--") >= 3
    assert f"expectations fails on {kept.read_bytes()!r}" in capsys.readouterr().out
