"""The plan of a campaign: an engine, its declarations, and seeds split into chunks."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from tidegate import __version__
from tidegate.conformance.engines.base import Claim, Description
from tidegate.conformance.engines.errors import BadOptionError
from tidegate.conformance.judging.suite import accepts
from tidegate.properties.drawing.cases import draw_case
from tidegate.traces.cases import Case

#: Long enough that submitting a chunk costs little beside it, short enough that losing one costs little.
LARGEST_CHUNK = 5000
SMALLEST_CHUNK = 500
#: Chunks per component between these limits: every worker gets some until the end.
CHUNKS_AT_LEAST = 40
#: A worker holds its findings in memory until the chunk is done.
MOST_CASES_A_CHUNK = 100_000
#: More than anybody will run; chunk names have enough digits for it.
MOST_CASES = 10**15

NAME = re.compile(r"(\w+)-(\d{12,18})-(\d{12,18})")


@attrs.frozen
class Chunk:
    """The cases of a component with indices from `first` up to, but without, `stop`."""

    component: str
    first: int
    stop: int

    @property
    def name(self) -> str:
        return f"{self.component}-{self.first:012d}-{self.stop:012d}"

    @property
    def cases(self) -> int:
        return self.stop - self.first


@attrs.frozen(slots=False)
class Plan:
    """`cases` is the number of generated cases per component; `claims` is what the engine declares."""

    engine: str
    implementation: str
    claims: Mapping[str, Claim]
    seed: int
    cases: int
    chunk: int
    strict: bool = False

    @property
    def components(self) -> tuple[str, ...]:
        return tuple(self.claims)

    def chunks(self) -> Iterator[Chunk]:
        """In the order in which a single process would run the cases."""
        for component in self.components:
            for first in range(0, self.cases, self.chunk):
                yield self.chunk_at(component, first)

    def chunk_at(self, component: str, index: int) -> Chunk:
        """The chunk of a case."""
        first = index - index % self.chunk
        return Chunk(component, first, min(first + self.chunk, self.cases))

    def draw(self, component: str, index: int) -> Case:
        return draw_case(component, self.seed, index, lambda config: accepts(self.claims[component], component, config))

    def find(self, name: str) -> Chunk | None:
        """The chunk of that name, if there is one."""
        named = NAME.fullmatch(name)
        if named is None or named[1] not in self.claims or int(named[2]) >= self.cases:
            return None
        chunk = self.chunk_at(named[1], int(named[2]))
        return chunk if chunk.name == name else None

    def order(self, chunk: Chunk) -> tuple[int, int]:
        """Sorts chunks as `chunks` gives them."""
        return self.components.index(chunk.component), chunk.first

    @property
    def all_chunks(self) -> int:
        return len(self.components) * -(-self.cases // self.chunk)

    @property
    def all_cases(self) -> int:
        return len(self.components) * self.cases

    def manifest(self) -> dict[str, Any]:
        """Everything that identifies a campaign."""
        return {
            "format": "tidegate-campaign/1",
            "suite": __version__,
            "engine": self.engine,
            "implementation": self.implementation,
            "components": {name: claim_as_json(claim) for name, claim in self.claims.items()},
            "seed": self.seed,
            "cases": self.cases,
            "chunk": self.chunk,
            "strict": self.strict,
        }

    @cached_property
    def identity(self) -> str:
        """A digest that identifies the campaign."""
        return hashlib.sha256(json.dumps(self.manifest(), sort_keys=True).encode()).hexdigest()


@attrs.frozen
class Order:
    """A chunk with everything that a worker needs to run it, on any machine."""

    plan: Plan
    chunk: Chunk
    #: options of `Limits`
    limits: Mapping[str, float | None]
    #: the folder in which the engine's command line works
    folder: str = attrs.Factory(lambda: str(Path.cwd()))


def make_plan(
    engine: str,
    description: Description,
    components: list[str],
    *,
    seed: int,
    cases: int,
    chunk: int | None = None,
    strict: bool = False,
) -> Plan:
    claims = {name: description.components[name] for name in components}
    if cases > MOST_CASES:
        raise BadOptionError(f"--cases: a campaign has at most {MOST_CASES:,} cases per component")
    if chunk is not None and chunk > MOST_CASES_A_CHUNK:
        raise BadOptionError(
            f"--chunk: a chunk has at most {MOST_CASES_A_CHUNK:,} cases, because a worker holds its findings in memory"
        )
    return Plan(engine, name_of(description), claims, seed, cases, chunk or usual_chunk(cases), strict)


def name_of(description: Description) -> str:
    return f"{description.name} {description.version}"


def usual_chunk(cases: int) -> int:
    """It depends only on the campaign, so that another machine can resume it."""
    return min(max(cases // CHUNKS_AT_LEAST, SMALLEST_CHUNK), LARGEST_CHUNK)


def claim_as_json(claim: Claim) -> dict[str, Any]:
    return {key: sorted(names) for key, names in attrs.asdict(claim).items() if names is not None}
