"""From the text after --engine to an engine, or to an error that helps."""

import sys
import types

import pytest

from tidegate.conformance import schemas
from tidegate.conformance.engines import EngineError, UnknownEngineError
from tidegate.conformance.engines.errors import BadOptionError, CannotStartError
from tidegate.conformance.engines.processes.process import ProcessEngine
from tidegate.conformance.kinds import resolve


@pytest.mark.parametrize("text", ["", "sparkle", "reference:2", "python", "exec", "EXEC:true", "./engine", "\x1b[31m"])
def test_an_unknown_engine_is_told_the_forms(text):
    with pytest.raises(UnknownEngineError) as raised:
        resolve(text)
    assert "\x1b" not in str(raised.value)
    for form in ("reference", "python:package.module:Name", "exec:COMMAND LINE"):
        assert form in raised.value.hint


@pytest.mark.parametrize("text", ["exec:", "exec:   ", "exec:engine 'half quoted"])
def test_a_command_line_that_is_none(text):
    with pytest.raises(UnknownEngineError):
        resolve(text)


def test_a_command_line_is_split_as_by_a_shell():
    engine = resolve("exec:'./my engine' --name \"a b\" $HOME")
    assert isinstance(engine, ProcessEngine)
    assert engine.command == ("./my engine", "--name", "a b", "$HOME")


def test_options_become_limits():
    engine = resolve("exec:true", case_timeout=3, window=2, strict=True)
    assert isinstance(engine, ProcessEngine)
    assert (engine.limits.case_timeout, engine.limits.window) == (3, 2)
    assert engine.check is schemas.check


@pytest.mark.parametrize(
    "options", [{"window": 0}, {"case_timeout": 0}, {"case_timeout": float("nan")}, {"window": True}, {"color": "red"}]
)
def test_options_outside_their_domain(options):
    with pytest.raises(BadOptionError):
        resolve("exec:true", **options)


def test_the_reference_is_imported_when_it_is_asked_for(monkeypatch):
    module = types.ModuleType("tidegate.conformance.judging.reference_engine")
    module.Reference = dict
    monkeypatch.setitem(sys.modules, "tidegate.conformance.judging.reference_engine", module)
    assert isinstance(resolve("reference"), dict)


def test_a_file_that_may_not_be_executed(tmp_path):
    script = tmp_path / "engine.py"
    script.write_text("print()")
    with pytest.raises(CannotStartError, match="may not be executed") as raised:
        resolve(f"exec:{script}").start()
    assert "chmod" in raised.value.hint
    script.chmod(0o755)
    with pytest.raises(CannotStartError, match="cannot be run"):
        resolve(f"exec:{script}").start()


def test_an_error_renders_itself():
    error = CannotStartError("it died", "start it by hand", ("panic", "at line 3"))
    assert str(error).splitlines() == [
        "it died",
        "hint: start it by hand",
        "its standard error ended with:",
        "  panic",
        "  at line 3",
    ]
    assert isinstance(error, EngineError)
    assert error.code == "cannot-start"
