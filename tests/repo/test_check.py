"""`make check` takes the tests of what changed, and no others."""

import sys

import pytest

from tests.repo import check


def test_a_module_brings_the_tests_that_import_it_nearest_first():
    chosen = check.choose(["reference/watermarks/valve.py"])
    assert chosen[0] == "tests/reference/watermarks/test_valve.py"
    assert "tests/reference/watermarks/test_combiner.py" not in chosen
    assert set(check.ALWAYS) < set(chosen)


def test_a_table_brings_the_tests_of_its_name_and_a_document_those_that_read_it():
    assert "tests/reference/watermarks/test_valve.py" in check.choose(["properties/cases/valve.toml"])
    assert "tests/repo/test_walk.py" in check.choose(["CONTRIBUTING.md"])


def test_a_changed_test_is_run_unless_it_needs_what_a_quick_run_has_not():
    assert "tests/traces/test_codec.py" in check.choose(["tests/traces/test_codec.py"])
    assert "tests/repo/test_wheel.py" not in check.choose(["tests/repo/test_wheel.py"])
    assert all((check.ROOT / place).exists() for place in check.ELSEWHERE)


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        (["reference/watermarks/valve.py", "properties/cases/gate.toml", "README.md"], {"valve", "gate"}),
        (["reference/barriers/steps.py"], {"barriers"}),
        (["reference/watermarks/valve.py", "reference/model.py"], set()),
    ],
)
def test_tests_of_all_components_try_those_that_changed(changed, names):
    assert check.names_in(changed) == names


def test_a_failing_test_fails_the_check(tmp_path, monkeypatch):
    (tmp_path / "test_wrong.py").write_text("def test_wrong():\n    raise ValueError\n")
    monkeypatch.setattr(check, "find_changed", lambda _against: [])
    monkeypatch.setattr(check, "choose", lambda _changed: [str(tmp_path / "test_wrong.py")])
    monkeypatch.setattr(check, "STYLE", ([sys.executable, "-c", "pass"],))
    assert check.main(["--seconds", "100000"]) == 1
    assert check.main(["--list"]) == 0


def test_what_does_not_begin_in_time_is_skipped(monkeypatch, capfd):
    monkeypatch.setattr(check, "find_changed", lambda _against: [])
    monkeypatch.setattr(check, "choose", lambda _changed: ["tests/traces/test_codec.py"])
    monkeypatch.setattr(check, "STYLE", ([sys.executable, "-c", "pass"],))
    assert check.main(["--seconds", "0"]) == 0
    assert "no time was left" in capfd.readouterr().out
