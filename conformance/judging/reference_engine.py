"""The specification itself as an engine: it takes one of the outcomes that its rules allow."""

from random import Random
from typing import Any

from tidegate import __version__
from tidegate.conformance.engines.base import Refused, Reply, Steps
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.engines.text import printable
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import InvalidInputError
from tidegate.traces.cases import Case
from tidegate.traces.codec import DecodeError, decode_case, encode_observation


class ReferenceEngine:
    """Answers as the specification does, and chooses at random where there is a choice."""

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed)

    def describe(self) -> dict[str, Any]:
        components = {
            name: {key: list(getattr(one, key)) for key in ("semantics", "extensions") if getattr(one, key)}
            for name, one in COMPONENTS.items()
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
            steps = self.steps(decode_case(raw))
        except (DecodeError, InvalidInputError) as error:
            return {"error": {"kind": "bad_request", "message": str(error)}}
        return {"steps": [list(map(encode_observation, step)) for step in steps]}

    def steps(self, case: Case) -> list[tuple[Any, ...]]:
        component = case.model
        state = self._choose(component.start(case.config))
        steps = []
        for event in case.events:
            outcome = self._choose(component.step(state, event))
            state = outcome.state
            steps.append(outcome.observations)
        return steps

    def _choose(self, allowed: Any) -> Any:
        return allowed[0] if len(allowed) == 1 else self._random.choice(allowed)


class Reference(InProcess):
    """The specification in this process, which also answers without JSON."""

    def __init__(self) -> None:
        self._drawing = ReferenceEngine()
        super().__init__(self._drawing)

    def answer(self, case: Case) -> Reply:
        try:
            # Without a choice, the outcome is known already.
            steps = [one.observations for one in case.follow()] if case.is_settled else self._drawing.steps(case)
            return Steps([[encode_observation(seen) for seen in step] for step in steps])
        except InvalidInputError as error:
            return Refused("bad_request", printable(str(error)))
