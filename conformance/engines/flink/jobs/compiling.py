"""The Java side of the MiniCluster, compiled once against the jars of a version.

One class is generated: the recording gate must forward every method of Flink's gate, and these
differ from version to version. It is made from the output of `javap` for the given version.
"""

import hashlib
import re
import shutil
import subprocess
import tempfile
from importlib import resources
from pathlib import Path

from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.flink.cache import cache_folder, folder_of, has_sql, sql_folder_of, version_key

_GATE = "org.apache.flink.runtime.io.network.partition.consumer.InputGate"
_METHOD = re.compile(r"^  public (?:abstract |default )?([^()]+?) (\w+)\(([^)]*)\)(?: throws ([^;]+))?;$", re.MULTILINE)
_ANCESTORS = re.compile(r"class \S+ implements (.+) \{")
_NAMES = re.compile(r"[\w.$]+")
#: The first version whose operators emit statuses, and so can follow a script.
OLDEST = (1, 14)
#: The first version with asynchronous state in all operators of event time.
OLDEST_ASYNC = (2, 1)
#: The first version that can pause a split of a source.
OLDEST_SPLITS = (1, 17)


def compile_host(version: str, *, sql: bool = False) -> list[Path]:
    """The class path: the folder of our classes, then the jars; with `sql`, also those of SQL.

    Raises
    ------
    CannotStartError
        There is no compiler, the version is too old, or its classes are not the expected ones.
    """
    if version_key(version)[:2] < OLDEST:
        raise CannotStartError(
            f"whole jobs need Flink {'.'.join(map(str, OLDEST))} or later, not {version}",
            "operators of older versions do not emit the status of a stream",
        )
    jars = sorted(folder_of(version).glob("*.jar"))
    if sql:
        if not has_sql(version):
            raise CannotStartError(
                f"the jars of SQL of Flink {version} are not in the cache", f"tidegate flink fetch {version}"
            )
        jars += sorted(sql_folder_of(version).glob("*.jar"))
    sources = make_sources(version, jars, sql=sql)
    classes = cache_folder() / "flink-jobs" / f"{version}-{digest_of(sources)}"
    if not classes.is_dir():
        compile_into(classes, sources, jars)
    return [classes, *jars]


def digest_of(sources: dict[str, str]) -> str:
    return hashlib.sha256("".join(sources[name] for name in sorted(sources)).encode()).hexdigest()[:16]


def make_sources(version: str, jars: list[Path], *, sql: bool = False, deployed: bool = False) -> dict[str, str]:
    is_new = version_key(version) >= (2,)
    java = resources.files("tidegate.conformance.engines.flink.jobs").joinpath("java")
    parts = {
        "v2": is_new,
        "async": version_key(version) >= OLDEST_ASYNC,
        "splits": version_key(version) >= OLDEST_SPLITS,
        "sql": sql,
        "deployed": deployed,
    }
    folders = [java, *(java.joinpath(name) for name, has in parts.items() if has)]
    files = [file for folder in folders for file in folder.iterdir() if file.name.endswith(".java")]
    written = {file.name: file.read_text(encoding="utf-8") for file in files}
    millis = (
        "java.time.Duration.ofMillis" if is_new else "org.apache.flink.streaming.api.windowing.time.Time.milliseconds"
    )
    index = "getTaskInfo().getIndexOfThisSubtask()" if version_key(version) >= (1, 18) else "getIndexOfThisSubtask()"
    has_formats = version_key(version) >= (1, 15)
    savepoint = ", org.apache.flink.core.execution.SavepointFormatType.CANONICAL" if has_formats else ""
    words = {"@LEGACY@": "legacy." if is_new else "", "@MILLIS@": millis, "@INDEX@": index, "@FORMAT@": savepoint}
    sources = {name: fill_in(text, words) for name, text in written.items()}
    return {**sources, "TapGate.java": write_gate(jars)}


def fill_in(text: str, words: dict[str, str]) -> str:
    for place, word in words.items():
        text = text.replace(place, word)
    return text


def compile_into(classes: Path, sources: dict[str, str], jars: list[Path]) -> None:
    """All or nothing: the folder gets its name when it is complete."""
    classes.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=classes.parent) as scratch:
        folder = Path(scratch) / "sources"
        folder.mkdir()
        for name, text in sources.items():
            folder.joinpath(name).write_text(text, encoding="utf-8")
        made = Path(scratch) / "classes"
        files = [str(folder / name) for name in sources]
        options = ["-nowarn", "-Xlint:none", "-proc:none", "-encoding", "UTF-8", "-d", str(made)]
        run_tool("javac", *options, "-cp", join(jars), *files)
        try:
            made.rename(classes)
        except OSError:
            if not classes.is_dir():  # another process was faster
                raise


def write_gate(jars: list[Path]) -> str:
    """A gate that forwards every method to another, and records what was polled."""
    text = run_tool("javap", "-public", "-cp", join(jars), _GATE)
    ancestors = _ANCESTORS.search(text)
    if ancestors is None:
        raise CannotStartError("the gate of this version has changed", "please report the version")
    names = [name for name in _NAMES.findall(re.sub(r"<[^<>]*>", "", ancestors.group(1))) if "." in name]
    above = "org.apache.flink.runtime.io.AvailabilityProvider"
    text += run_tool("javap", "-public", "-cp", join(jars), *names, above).replace("<T>", f"<{_BUFFER}>")
    methods: dict[tuple[str, str], str] = {}
    for result, name, parameters, thrown in _METHOD.findall(text):
        if "static" not in result.split():
            methods.setdefault((name, parameters), write_method(result, name, parameters, thrown))
    return _GATE_SOURCE.replace("@METHODS@", "\n".join(methods.values()))


def write_method(result: str, name: str, parameters: str, thrown: str) -> str:
    types = [one.strip().replace("$", ".") for one in parameters.split(",") if one.strip()]
    declared = ", ".join(f"{kind} a{index}" for index, kind in enumerate(types))
    call = f"real.{name}({', '.join(f'a{index}' for index in range(len(types)))})"
    if name in ("pollNext", "getNext"):
        body = f"return shown({call});"
    else:
        body = f"{call};" if result == "void" else f"return {call};"
    throws = f" throws {thrown.replace('$', '.')}" if thrown else ""
    return f"  @Override public {result.replace('$', '.')} {name}({declared}){throws} {{ {body} }}"


def run_tool(name: str, *arguments: str) -> str:
    """Run a tool of the JDK; its output is the error if it fails."""
    tool = shutil.which(name)
    if tool is None:
        raise CannotStartError(f"no {name} found", "whole jobs are compiled: install a JDK, not only a Java runtime")
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode:
        raise CannotStartError(f"{name} failed: {done.stderr.strip()[:2000]}", "is this version of Flink supported?")
    return done.stdout


def join(paths: list[Path]) -> str:
    return ":".join(map(str, paths))


_BUFFER = "org.apache.flink.runtime.io.network.partition.consumer.BufferOrEvent"
_GATE_SOURCE = f"""\
package tidegate;

final class TapGate extends {_GATE} {{
  private final {_GATE} real;
  private final Tap tap;

  TapGate({_GATE} real, Tap tap) {{
    this.real = real;
    this.tap = tap;
  }}

  private java.util.Optional<{_BUFFER}> shown(java.util.Optional<{_BUFFER}> polled) {{
    polled.ifPresent(tap::polled);
    return polled;
  }}

@METHODS@
}}
"""
