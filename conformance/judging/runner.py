"""Runs cases against an engine and judges its answers while it works on the next ones."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from tidegate.conformance.engines.base import Claim, Description, Engine, Request
from tidegate.conformance.judging.judge import Judge
from tidegate.conformance.judging.verdicts import Verdict, reach
from tidegate.reference.components import COMPONENTS
from tidegate.traces.cases import Case
from tidegate.traces.codec import encode


@attrs.frozen
class Planned:
    """A case, and the stage of the suite that it belongs to."""

    stage: str
    case: Case


class Encoder:
    """Cases as requests. Encoded configs and events are remembered: the same few objects make up most traces."""

    def __init__(self) -> None:
        #: By identity, which is found faster than a hash; who is held here keeps it.
        self._known: dict[int, tuple[Any, Any]] = {}

    def request(self, case: Case) -> Request:
        return Request(case.name, case.component, self._encode(case.config), [*map(self._encode, case.events)])

    def _encode(self, value: Any) -> Any:
        known = self._known.get(id(value))
        if known is None:
            if len(self._known) > 100_000:
                self._known.clear()
            known = self._known[id(value)] = (value, encode(value))
        return known[1]


class Runner:
    """One engine, one judge, any number of cases."""

    def __init__(self, engine: Engine, judge: Judge | None = None) -> None:
        self.engine = engine
        self.judge = judge or Judge()
        self._encoder = Encoder()

    def run(self, planned: Iterable[Planned]) -> Iterator[Verdict]:
        """A verdict for each case, in order, as the answers come in."""
        waiting: deque[Planned] = deque()

        def requests() -> Iterator[Request]:
            for one in planned:
                waiting.append(one)
                yield self._encoder.request(one.case)

        for _request, reply in self.engine.replay(requests()):
            one = waiting.popleft()
            yield reach(self.judge, one.case, one.stage, reply)

    def run_one(self, case: Case, stage: str = "") -> Verdict:
        return next(iter(list(self.run([Planned(stage, case)]))))


def is_declared(description: Description, case: Case) -> bool:
    """Whether the engine said that it can do this: component, kind and semantics."""
    claim = description.components.get(case.component)
    return claim is not None and accepts(claim, case.component, case.config)


def accepts(claim: Claim, component: str, config: Any) -> bool:
    if claim.kinds is not None and (kind := kind_of(config)) is not None and kind not in claim.kinds:
        return False
    semantics = getattr(config, "semantics", None)
    if semantics is None:
        return True
    declared = claim.semantics if claim.semantics is not None else {COMPONENTS[component].semantics[0]}
    return semantics in declared


def kind_of(config: Any) -> str | None:
    """What a config calls its kind; the wiring calls it its pattern."""
    kind = getattr(config, "kind", getattr(config, "pattern", None))
    return None if kind is None else str(kind)
