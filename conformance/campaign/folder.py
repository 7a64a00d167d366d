"""The folder of a campaign: a manifest, and one Parquet file for each chunk that is done.

A file is written beside its place and renamed into it, so whatever has its name is whole; a campaign that was killed at
any moment goes on with the chunks that have no file. Running a chunk again writes the same file again, so nothing is
counted twice. A chunk with cases that were not run is `….open.parquet`: it counts for now, and is run again next time.
"""

import fcntl
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.campaign.outcome import Finding, Outcome
from tidegate.conformance.campaign.plan import Chunk, Plan

#: The rows of a chunk's file: one `chunk`, a `count` for each verdict, a `rules` for each set of rules that decided
#: steps, with the kinds of observations that they gave, and a `finding` for each case that did not pass.
TEXTS = ("row", "component", "result", "case", "kind", "message", "evidence", "worker")
NUMBERS = ("first", "stop", "count", "size", "restarts")
LISTS = ("rules", "observations")


class CampaignFolderError(OSError):
    """The folder cannot be used: what is wrong with it, and what to do."""


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
        """Make it the folder of this plan, and of this process alone.

        Raises
        ------
        CampaignFolderError
            Another campaign is in it, or another process is at work there.
        """
        self.chunks.mkdir(parents=True, exist_ok=True)
        with (self.path / "lock").open("w") as lock:
            try:
                # The lock goes with the process, however it ends.
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise CampaignFolderError(f"{self.path}: another campaign is running here; wait for its end") from None
            self._check_manifest(plan)
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
            found = json.loads(self.manifest.read_text(encoding="utf-8"))
            other = [key for key in {**wanted, **found} if wanted.get(key) != found.get(key)]
        except (ValueError, TypeError) as error:
            raise CampaignFolderError(f"{self.manifest}: no manifest of a campaign: {error}") from None
        if other:
            said = "; ".join(f"{key} is {found.get(key)!r} there, {wanted.get(key)!r} now" for key in other)
            raise CampaignFolderError(
                f"{self.path} holds another campaign: {said}\n"
                "hint: give another --out, or the options that this campaign was begun with"
            )

    def done(self, chunk: Chunk) -> Path:
        return self.chunks / f"{chunk.name}.parquet"

    def open(self, chunk: Chunk) -> Path:
        return self.chunks / f"{chunk.name}.open.parquet"

    def is_done(self, chunk: Chunk) -> bool:
        return self.done(chunk).exists()

    def write(self, outcome: Outcome) -> None:
        parquet: Any = import_module("pyarrow.parquet")
        place = self.done(outcome.chunk) if outcome.is_finished else self.open(outcome.chunk)
        half = place.with_suffix(".half")
        with half.open("wb") as file:
            parquet.write_table(as_table(outcome), file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        half.replace(place)
        if outcome.is_finished:
            self.open(outcome.chunk).unlink(missing_ok=True)

    def write_text(self, name: str, text: str) -> None:
        half = self.path / f"{name}.half"
        half.write_text(text, encoding="utf-8")
        half.replace(self.path / name)

    def read(self, chunk: Chunk, *, evidence: bool = False) -> Outcome | None:
        """What is known of the chunk; None if that is nothing. The evidence of its findings only if it is asked for."""
        parquet: Any = import_module("pyarrow.parquet")
        arrow: Any = import_module("pyarrow")
        path = self.done(chunk) if self.is_done(chunk) else self.open(chunk)
        columns = [name for name in (*TEXTS, *NUMBERS, *LISTS, "seconds") if evidence or name != "evidence"]
        try:
            # One small file after another: threads would cost more than they bring.
            rows = parquet.read_table(path, columns=columns, use_threads=False).to_pylist()
            return from_rows(chunk, rows)
        except FileNotFoundError:
            return None
        except (OSError, arrow.ArrowException, KeyError, IndexError) as error:
            raise CampaignFolderError(f"{path}: no file of a chunk ({error}); delete it, and it is run again") from None


def as_table(outcome: Outcome) -> Any:
    arrow: Any = import_module("pyarrow")
    types = {
        **dict.fromkeys(TEXTS, arrow.string()),
        **dict.fromkeys(NUMBERS, arrow.int64()),
        **dict.fromkeys(LISTS, arrow.list_(arrow.string())),
        "seconds": arrow.float64(),
    }
    rows = [{"component": outcome.chunk.component, **row} for row in as_rows(outcome)]
    columns = {name: [row.get(name) for row in rows] for name in types}
    return arrow.table(columns, schema=arrow.schema(list(types.items())))


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
    (about,) = (row for row in rows if row["row"] == "chunk")
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
