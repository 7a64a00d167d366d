"""The folder of a campaign: a manifest, and one Parquet file per finished chunk.

Files are written under a temporary name and renamed, so a file with its final name is complete. A campaign that was
killed at any moment resumes with the chunks that have no file. Running a chunk again writes the same file again, so
nothing is counted twice. A chunk with cases that did not run is `….open.parquet`: it counts for now, and runs again
next time.

Each file is sealed: its metadata hold a SHA-256 of the campaign, of the chunk, and of every byte of the file except
these digits. A file with another seal or none is rejected unread: its name is reported, and the chunk runs again.
"""

import hashlib
import json
import mmap
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.campaign.outcome import Finding, Outcome
from tidegate.conformance.campaign.plan import Chunk, Plan
from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.verdicts import Status
from tidegate.conformance.reports.writing import alone, writing
from tidegate.traces.strict_json import read_json

#: The rows of a chunk's file: one `chunk`, a `count` per verdict, a `rules` per set of rules that decided steps, with
#: the kinds of their observations, and a `finding` per case that did not pass.
TEXTS = ("row", "component", "result", "case", "kind", "message", "evidence", "worker")
NUMBERS = ("first", "stop", "count", "size", "restarts")
LISTS = ("rules", "observations")
#: The required columns of each kind of row.
FILLED = {
    "chunk": ("first", "stop", "message", "seconds", "restarts", "worker"),
    "count": ("result", "count"),
    "rules": ("rules", "observations", "count"),
    "finding": tuple(field.name for field in attrs.fields(Finding)),
}


#: Metadata key of the seal; the digits follow it.
SEAL = b"tidegate-seal="
DIGITS = 64
#: A manifest has a few kilobytes; a larger file is something else.
LONGEST_MANIFEST = 1024 * 1024
#: The findings of a chunk are bounded, and its file is far below this.
LONGEST_FILE = 512 * 1024 * 1024


class CampaignFolderError(OSError):
    """The folder cannot be used: why, and what to do."""


class DamagedChunkError(ValueError):
    """The file of a chunk is not what was written: why it is rejected."""


@attrs.frozen
class Folder:
    path: Path

    @property
    def manifest(self) -> Path:
        return self.path / "campaign.json"

    @property
    def chunks(self) -> Path:
        return self.path / "chunks"

    @contextmanager
    def opened(self, plan: Plan) -> Iterator[None]:
        """Lock the folder for this plan and this process.

        Raises
        ------
        CampaignFolderError
            It holds another campaign.
        FolderBusyError
            Another process uses it.
        """
        with ExitStack() as stack:
            with writing(self.path):
                self.chunks.mkdir(parents=True, exist_ok=True)
                stack.enter_context(alone(self.path, "campaign"))
            self._check_manifest(plan)
            with writing(self.chunks):
                for half in self.chunks.glob("*.half"):
                    half.unlink()
            yield

    def _check_manifest(self, plan: Plan) -> None:
        wanted = json.loads(json.dumps(plan.manifest()))
        if not self.manifest.exists():
            if any(self.chunks.iterdir()):
                raise CampaignFolderError(f"{self.path}: chunks without {self.manifest.name}; take an empty folder")
            self.write_text(self.manifest.name, json.dumps(wanted, indent=2) + "\n")
            return
        try:
            # Opening a pipe would wait.
            with Path(self.manifest if self.manifest.is_file() else os.devnull).open("rb") as file:
                found = read_json(file.read(LONGEST_MANIFEST))
            other = [key for key in {**wanted, **found} if wanted.get(key) != found.get(key)]
        except (ValueError, TypeError) as error:
            raise CampaignFolderError(f"{self.manifest}: not a manifest of a campaign: {error}") from None
        if other:
            said = "; ".join(
                printable(f"{key} is {found.get(key)!r} there, {wanted.get(key)!r} now", 200) for key in other[:10]
            )
            raise CampaignFolderError(
                f"{self.path} holds another campaign: {said}\nhint: give another --out, or the options of this campaign"
            )

    def done(self, chunk: Chunk) -> Path:
        return self.chunks / f"{chunk.name}.parquet"

    def open(self, chunk: Chunk) -> Path:
        return self.chunks / f"{chunk.name}.open.parquet"

    def chunks_here(self, plan: Plan, *, open_too: bool, strangers: list[str]) -> list[Chunk]:
        """The chunks of the plan that have a file, in its order, and the names of other files."""
        found = set()
        for path in self.chunks.iterdir():
            name = path.name.removesuffix(".parquet")
            chunk = plan.find(name.removesuffix(".open"))
            if chunk is None or name == path.name:
                strangers.append(f"{path}: not a chunk of this campaign; it is not counted")
            elif open_too or not name.endswith(".open"):
                found.add(chunk)
        return sorted(found, key=plan.order)

    def done_chunks(self, plan: Plan, damaged: list[str]) -> Iterator[Chunk]:
        """The finished chunks, and the reason for each rejected file."""
        for chunk in self.chunks_here(plan, open_too=False, strangers=damaged):
            try:
                self.read(chunk, plan)
            except DamagedChunkError as error:
                damaged.append(f"{error}; the chunk runs again")
            else:
                yield chunk

    def write(self, outcome: Outcome, plan: Plan) -> None:
        parquet: Any = import_module("pyarrow.parquet")
        arrow: Any = import_module("pyarrow")
        place = self.done(outcome.chunk) if outcome.is_finished else self.open(outcome.chunk)
        written = arrow.BufferOutputStream()
        table = as_table(outcome).replace_schema_metadata({b"tidegate": SEAL + b"0" * DIGITS})
        parquet.write_table(table, written, compression="zstd")
        content = bytearray(written.getvalue())
        at = content.rindex(SEAL) + len(SEAL)
        content[at : at + DIGITS] = seal_of(outcome.chunk, plan, content, at)
        half = place.with_suffix(".half")
        try:
            with half.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            half.replace(place)
        except OSError as error:
            raise CampaignFolderError(f"{place}: cannot be written: {error.strerror}") from None
        if outcome.is_finished:
            self.open(outcome.chunk).unlink(missing_ok=True)

    def write_text(self, name: str, text: str) -> None:
        half = self.path / f"{name}.half"
        half.write_text(text, encoding="utf-8")
        half.replace(self.path / name)

    def read(self, chunk: Chunk, plan: Plan, *, evidence: bool = False) -> Outcome:
        """The outcome of the chunk, with the evidence of its findings only if requested.

        Raises
        ------
        DamagedChunkError
            The file is missing, or not what was written.
        """
        parquet: Any = import_module("pyarrow.parquet")
        arrow: Any = import_module("pyarrow")
        path = self.done(chunk) if os.path.lexists(self.done(chunk)) else self.open(chunk)
        columns = [name for name in types() if evidence or name != "evidence"]
        try:
            if not path.stat().st_size <= LONGEST_FILE or not path.is_file():
                raise DamagedChunkError("it is not a chunk file")
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                check_seal(chunk, plan, content)
            # The files are small: threads would cost more than they save.
            table = parquet.read_table(path, columns=columns, use_threads=False)
            if dict(zip(table.column_names, table.schema.types, strict=True)) != {one: types()[one] for one in columns}:
                raise DamagedChunkError("its columns are not those of a chunk")
            outcome = from_rows(chunk, table.to_pylist())
            check_counts(outcome, plan, is_done=path == self.done(chunk))
        except OSError as error:
            raise DamagedChunkError(f"{path}: cannot be read: {error.strerror or error}") from None
        except (ValueError, arrow.ArrowException, KeyError, TypeError) as error:
            raise DamagedChunkError(f"{path}: {error}") from None
        return outcome


def check_counts(outcome: Outcome, plan: Plan, *, is_done: bool) -> None:
    """Check that each case is counted once, and each case that did not pass has one finding."""
    chunk = outcome.chunk
    counts = {Status(result): count for result, count in outcome.results.items()}
    if min([*counts.values(), *outcome.exercised.values()], default=0) < 0 or sum(counts.values()) != chunk.cases:
        raise DamagedChunkError(f"it counts {sum(counts.values())} cases, but the chunk has {chunk.cases}")
    if outcome.restarts < 0 or not 0 <= outcome.seconds < float("inf"):
        raise DamagedChunkError(f"it took {outcome.seconds} seconds and {outcome.restarts} restarts")
    if outcome.is_finished != is_done:
        raise DamagedChunkError("its name does not say whether it is done")
    failed = {
        result: count for result, count in counts.items() if result not in (Status.PASS, Status.NOT_RUN) and count
    }
    if Counter(Status(finding.result) for finding in outcome.findings) != failed:
        raise DamagedChunkError("its findings do not match its counts")
    found = {finding.case for finding in outcome.findings}
    names = (f"{chunk.component}-{plan.seed}-{index}" for index in range(chunk.first, chunk.stop))
    if found and len(found.intersection(names)) != len(outcome.findings):
        raise DamagedChunkError("its findings belong to other cases, or to one case twice")


def check_seal(chunk: Chunk, plan: Plan, content: mmap.mmap) -> None:
    at = content.rfind(SEAL) + len(SEAL)
    if at < len(SEAL):
        raise DamagedChunkError("it has no checksum: it is from an older release, or not a chunk")
    with memoryview(content) as whole:
        if whole[at : at + DIGITS] != seal_of(chunk, plan, whole, at):
            raise DamagedChunkError(
                "its checksum does not match: it was changed, or belongs to another chunk or campaign"
            )


def seal_of(chunk: Chunk, plan: Plan, content: bytearray | memoryview, at: int) -> bytes:
    """The digits of the seal for this file."""
    seal = hashlib.sha256(f"{plan.identity}/{chunk.name}/".encode())
    with memoryview(content) as whole, whole[:at] as before, whole[at + DIGITS :] as behind:
        seal.update(before)
        seal.update(behind)
    return seal.hexdigest().encode()


@cache
def types() -> dict[str, Any]:
    """The columns of a chunk's file."""
    arrow: Any = import_module("pyarrow")
    return {
        **dict.fromkeys(TEXTS, arrow.string()),
        **dict.fromkeys(NUMBERS, arrow.int64()),
        **dict.fromkeys(LISTS, arrow.list_(arrow.string())),
        "seconds": arrow.float64(),
    }


def as_table(outcome: Outcome) -> Any:
    arrow: Any = import_module("pyarrow")
    rows = [{"component": outcome.chunk.component, **row} for row in as_rows(outcome)]
    columns = {name: [row.get(name) for row in rows] for name in types()}
    return arrow.table(columns, schema=arrow.schema(list(types().items())))


def as_rows(outcome: Outcome) -> Iterator[dict[str, Any]]:
    chunk = outcome.chunk
    yield {
        "row": "chunk",
        "first": chunk.first,
        "stop": chunk.stop,
        "message": outcome.trouble,
        "seconds": outcome.seconds,
        "restarts": outcome.restarts,
        "worker": outcome.worker,
    }
    for result, count in sorted(outcome.results.items()):
        yield {"row": "count", "result": result, "count": count}
    for (rules, kinds), count in sorted(outcome.exercised.items()):
        yield {"row": "rules", "rules": rules, "observations": kinds, "count": count}
    for finding in outcome.findings:
        yield {"row": "finding", **attrs.asdict(finding)}


def from_rows(chunk: Chunk, rows: list[dict[str, Any]]) -> Outcome:
    if any(row.get(name, "") is None for row in rows for name in FILLED[row["row"]]):
        raise DamagedChunkError("required values are missing")
    (about,) = (row for row in rows if row["row"] == "chunk")
    if (about["first"], about["stop"]) != (chunk.first, chunk.stop):
        raise DamagedChunkError("it claims to be another chunk")
    findings = [
        Finding(
            row["case"],
            row["result"],
            row["kind"],
            row["size"],
            tuple(row["rules"]),
            row["message"],
            row.get("evidence", ""),
        )
        for row in rows
        if row["row"] == "finding"
    ]
    return Outcome(
        chunk=chunk,
        results={row["result"]: row["count"] for row in rows if row["row"] == "count"},
        exercised=Counter(
            {(tuple(row["rules"]), tuple(row["observations"])): row["count"] for row in rows if row["row"] == "rules"}
        ),
        findings=tuple(findings),
        seconds=about["seconds"],
        restarts=about["restarts"],
        worker=about["worker"],
        trouble=about["message"],
    )
