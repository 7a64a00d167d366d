"""Which Java would run Flink or Spark, and whether it is young enough."""

import pytest

from tidegate.conformance.engines import java
from tidegate.conformance.engines.errors import CannotStartError


def make_java(folder, version):
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(("version", "feature"), [("1.8.0_402", 8), ("11.0.22", 11), ("17.0.15", 17), ("25", 25)])
def test_versions_of_java(tmp_path, version, feature):
    program = make_java(tmp_path, version)
    assert java.ask_version(program) == feature
    assert java.version_of(program) is None
    (tmp_path / "release").write_text(f'IMPLEMENTOR="Someone"\nJAVA_VERSION="{version}"\n')
    assert java.version_of(program) == feature


def test_an_old_java_is_refused(tmp_path, monkeypatch):
    make_java(tmp_path, "1.8.0_402")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(CannotStartError, match=r"Java 17 or later; .* is version 8"):
        java.check_spark()


def test_a_java_that_says_nothing_is_refused(tmp_path, monkeypatch):
    make_java(tmp_path, "unknown")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(CannotStartError, match="reports no version"):
        java.check_spark()


def test_no_java_for_flink(monkeypatch):
    import jpype

    def nowhere():
        raise jpype.JVMNotFoundException("No JVM shared library file (libjvm.so) found.")

    monkeypatch.setattr(jpype, "getDefaultJVMPath", nowhere)
    with pytest.raises(CannotStartError) as error:
        java.check_flink()
    assert "JAVA_HOME" in error.value.hint


def test_too_old_for_flink(tmp_path, monkeypatch):
    library = tmp_path / "lib" / "server" / "libjvm.so"
    library.parent.mkdir(parents=True)
    library.touch()
    monkeypatch.setattr(java, "find_library", lambda: library)
    (tmp_path / "release").write_text('JAVA_VERSION="1.8.0_392"\n')
    with pytest.raises(CannotStartError, match="version 8"):
        java.check_flink()
    (tmp_path / "release").write_text('JAVA_VERSION="21.0.1"\n')
    java.check_flink()
