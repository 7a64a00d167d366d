"""The specification itself as an engine: it takes one of the outcomes that its rules allow."""

from random import Random
from typing import Any

from tidegate import __version__
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import InvalidInputError
from tidegate.traces.cases import Case
from tidegate.traces.codec import DecodeError, decode_case, encode


class ReferenceEngine:
    """Answers as the specification does. Where there is a choice it draws from its seed, or takes the first."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = None if seed is None else Random(seed)

    def describe(self) -> dict[str, Any]:
        components = {
            component.name: {"semantics": list(component.semantics)} if component.semantics else {}
            for component in COMPONENTS.values()
        }
        return {
            "protocol": 1,
            "implementation": {"name": "reference", "version": __version__, "language": "python"},
            "components": components,
        }

    def replay(self, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [self._replay(case) for case in cases]

    def _replay(self, raw: dict[str, Any]) -> dict[str, Any]:
        try:
            steps = self._steps(decode_case(raw))
        except (DecodeError, InvalidInputError) as error:
            return {"error": {"kind": "bad_request", "message": str(error)}}
        return {"steps": [[encode(seen) for seen in step] for step in steps]}

    def _steps(self, case: Case) -> list[tuple[Any, ...]]:
        component = case.model
        state = self._choose(component.start(case.config))
        steps = []
        for event in case.events:
            outcome = self._choose(component.step(state, event))
            state = outcome.state
            steps.append(outcome.observations)
        return steps

    def _choose(self, allowed: Any) -> Any:
        return allowed[0] if self._random is None else self._random.choice(allowed)
