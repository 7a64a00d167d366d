"""Bringing Flink into the cache, and what happens when that fails: nothing is left behind."""

import io
import sys
import tarfile
import zipfile

import pytest

from tidegate.conformance.cli.main import main
from tidegate.conformance.engines import UnknownEngineError
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.flink import fetch as fetching
from tidegate.conformance.engines.flink.cache import (
    cache_folder,
    damage_of,
    fetched_versions,
    folder_of,
    has_sql,
    is_fetched,
    sql_folder_of,
)
from tidegate.conformance.engines.flink.engine import FlinkEngine
from tidegate.conformance.engines.flink.fetch import FetchError, fetch
from tidegate.conformance.engines.flink.jobs.cluster import Cluster
from tidegate.conformance.exits import Exit
from tidegate.conformance.kinds import resolve


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("TIDEGATE_CACHE", str(folder))
    return folder


def make_jar(manifest=""):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as jar:
        jar.writestr(zipfile.ZipInfo("META-INF/MANIFEST.MF"), manifest)  # dated 1980, whenever it is made
    return content.getvalue()


MEMBERS = {
    "pyflink/lib/flink-dist-9.0.0.jar": make_jar(),
    "pyflink/lib/log4j-api-2.jar": make_jar(),
    "pyflink/lib/flink-table-9.0.0.jar": b"not needed",
    "pyflink/lib/flink-table-planner-loader-9.0.0.jar": make_jar(),
    "pyflink/opt/flink-dist-9.0.0.jar": b"elsewhere",
}


def write_wheel(path, members=MEMBERS):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def write_source(path, members=MEMBERS):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(f"apache-flink/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def give(monkeypatch, make):
    """Instead of downloading, an archive of ours."""

    def download(_version, scratch, _progress):
        return make(scratch)

    monkeypatch.setattr(fetching, "download", download)


def talk(monkeypatch, text, status=1):
    """Instead of pip, a program that says this."""
    program = f"import sys; print({text!r}); sys.exit({status})"
    monkeypatch.setattr(fetching, "pip_command", lambda _version, _target: [sys.executable, "-c", program])


def leftovers(cache):
    return sorted(path.name for path in cache.rglob("*") if path.is_file())


@pytest.mark.parametrize(("name", "write"), [("a.whl", write_wheel), ("a.tar.gz", write_source)])
def test_only_the_jars_that_are_needed_are_kept(cache, monkeypatch, name, write):
    give(monkeypatch, lambda scratch: write(scratch / name))
    assert fetch("9.0.0") == folder_of("9.0.0")
    assert leftovers(cache) == ["flink-dist-9.0.0.jar", "flink-table-planner-loader-9.0.0.jar", "log4j-api-2.jar"]
    assert [jar.name for jar in folder_of("9.0.0").iterdir() if "table" in jar.name] == []
    assert has_sql("9.0.0")
    assert fetched_versions() == ["9.0.0"]
    give(monkeypatch, lambda _scratch: pytest.fail("it is there already"))
    fetch("9.0.0")


def write_cut(path, write):
    content = write(path).read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    return path


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda scratch: write_cut(scratch / "a.whl", write_wheel), "broken|no flink-dist"),
        (lambda scratch: write_cut(scratch / "a.tar.gz", write_source), "broken"),
        (lambda scratch: write_wheel(scratch / "a.whl", {"pyflink/lib/log4j.jar": b""}), "no flink-dist"),
        (lambda scratch: write_wheel(scratch / "a.whl", {"lib/flink-dist-1.jar": b"cut off"}), "no flink-dist"),
    ],
)
def test_a_broken_archive_leaves_nothing_behind(cache, monkeypatch, make, message):
    give(monkeypatch, make)
    with pytest.raises(FetchError, match=message):
        fetch("9.0.0")
    assert leftovers(cache) == []
    assert not is_fetched("9.0.0")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("ERROR: No matching distribution found for apache-flink-libraries==9.0.0", "PyPI has no Flink 9.0.0", "2.3.0"),
        ("NewConnectionError: Failed\nERROR: No matching distribution found", "no network", "reachable"),
        ("ERROR: [Errno 28] No space left on device", "disk is full", "TIDEGATE_CACHE"),
        ("/usr/bin/python: No module named pip", "pip is not installed", "ensurepip"),
        ("ERROR: something else", "could not be downloaded", "pip"),
    ],
)
def test_what_pip_says_is_explained(cache, monkeypatch, text, message, hint):
    talk(monkeypatch, text)
    with pytest.raises(FetchError) as error:
        fetch("9.0.0")
    assert message in error.value.message
    assert hint in error.value.hint
    assert leftovers(cache) == []


def test_an_interrupt_leaves_nothing_behind(cache, monkeypatch):
    def interrupt(_size, _doing):
        raise KeyboardInterrupt

    program = "import time; time.sleep(60)"
    monkeypatch.setattr(fetching, "pip_command", lambda _version, _target: [sys.executable, "-c", program])
    with pytest.raises(KeyboardInterrupt):
        fetch("9.0.0", interrupt)
    assert leftovers(cache) == []


def test_a_full_disk_is_seen_before_it_is_full(cache, monkeypatch):
    monkeypatch.setattr(fetching, "_ROOM", 2**62)
    with pytest.raises(FetchError, match="MB are free"):
        fetch("9.0.0")


def test_a_cache_that_is_a_file(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TIDEGATE_CACHE", str(tmp_path / "file"))
    with pytest.raises(FetchError, match="cannot be used"):
        fetch("9.0.0")


def test_the_real_index_knows_no_such_version(cache, capsys):
    assert main(["flink", "fetch", "0.0.1"]) == Exit.CANNOT_START
    assert "Flink 0.0.1" in capsys.readouterr().err
    assert leftovers(cache) == []


def test_where_the_cache_is(tmp_path, monkeypatch):
    monkeypatch.delenv("TIDEGATE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "tidegate"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "tidegate"


@pytest.mark.usefixtures("cache")
def test_list(monkeypatch, capsys):
    assert main(["flink", "list"]) == 0
    assert "no version" in capsys.readouterr().out
    give(monkeypatch, lambda scratch: write_wheel(scratch / "a.whl"))
    assert main(["flink", "fetch", "10.0.0", "9.0.0"]) == 0
    assert main(["flink", "fetch", "9.0.0"]) == 0
    assert "already" in capsys.readouterr().out
    assert main(["flink", "list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["9.0.0", "10.0.0"]


@pytest.mark.parametrize("arguments", [["fetch"], ["fetch", "latest"], ["list", "2.3.0"], ["remove"]])
def test_wrong_usage(arguments):
    with pytest.raises(SystemExit) as stopped:
        main(["flink", *arguments])
    assert stopped.value.code == Exit.USAGE


@pytest.mark.usefixtures("cache")
def test_an_engine_that_is_not_there_says_how_to_fetch_it(capsys):
    assert main(["run", "--engine", "flink:2.3.0"]) == Exit.CANNOT_START
    assert "tidegate flink fetch 2.3.0" in capsys.readouterr().err


def test_what_is_no_version_is_no_engine():
    with pytest.raises(UnknownEngineError):
        resolve("flink:latest")


@pytest.mark.parametrize("start", [lambda: FlinkEngine("9.0.0").start(), lambda: Cluster("9.0.0").start()])
@pytest.mark.parametrize(
    ("folder", "name", "content", "why"),
    [
        (folder_of, "flink-dist-9.0.0.jar", b"", "is not a complete jar"),
        (folder_of, "log4j-api-2.jar", make_jar()[:20], "is not a complete jar"),
        (folder_of, "flink-dist-9.0.0.jar", make_jar("Implementation-Version: 8.0.0\r\n"), "says that it is 8.0.0"),
        (sql_folder_of, "flink-table-planner-loader-9.0.0.jar", b"PK", "is not a complete jar"),
    ],
    ids=["empty", "half", "of another version", "half of SQL"],
)
def test_jars_that_are_damaged_or_of_another_version_are_fetched_again(
    cache, monkeypatch, folder, name, content, why, start
):
    give(monkeypatch, lambda scratch: write_wheel(scratch / "a.whl"))
    fetch("9.0.0")
    (folder("9.0.0") / name).write_bytes(content)
    with pytest.raises(CannotStartError, match=why) as raised:
        start()
    assert "tidegate flink fetch 9.0.0" in raised.value.hint
    fetch("9.0.0")
    assert damage_of("9.0.0") is None
