"""An engine judged by other semantics than those that it declares.

Dated semantics describe the same component at different times. To see whether an old engine follows the new rules, or
to compare an old engine with a new one, both get the same events and are judged by one semantics. Each engine still
gets its requests in the semantics that it knows.
"""

from collections import deque
from collections.abc import Iterable, Iterator

import attrs

from tidegate.conformance.engines.base import Claim, Description, Engine, Reply, Request
from tidegate.conformance.judging.suite import check_names
from tidegate.reference.components import COMPONENTS


class HeldTo(Engine):
    """The engine, as if it had declared only `semantics`, a name for each component."""

    def __init__(self, engine: Engine, semantics: dict[str, str]) -> None:
        self._engine = engine
        self._semantics = semantics
        self._declared: dict[str, tuple[str, ...]] = {}

    @property
    def restarts(self) -> int:  # type: ignore[override]
        return self._engine.restarts

    def start(self) -> Description:
        description = self._engine.start()
        self._declared = {name: declared_semantics(name, claim) for name, claim in description.components.items()}
        claims = {
            name: attrs.evolve(claim, semantics=frozenset({self._semantics[name]}))
            if name in self._semantics
            else claim
            for name, claim in description.components.items()
        }
        return attrs.evolve(description, components=claims)

    def replay(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Reply]]:
        asked: deque[Request] = deque()

        def translated() -> Iterator[Request]:
            for request in requests:
                asked.append(request)
                yield self._translate(request)

        for _translated, reply in self._engine.replay(translated()):
            yield asked.popleft(), reply

    def _translate(self, request: Request) -> Request:
        declared = self._declared.get(request.component)
        if not declared or request.config.get("semantics", COMPONENTS[request.component].semantics[0]) in declared:
            return request
        return attrs.evolve(request, config={**request.config, "semantics": declared[0]})

    def close(self) -> None:
        self._engine.close()


def declared_semantics(component: str, claim: Claim) -> tuple[str, ...]:
    """Those that the engine declares, in our order."""
    known = COMPONENTS[component].semantics if component in COMPONENTS else ()
    return known[:1] if claim.semantics is None else tuple(one for one in known if one in claim.semantics)


def hold_to(engine: Engine, semantics: str) -> Engine:
    """The engine, judged by this semantics in every component that has it; UnknownNameError if none has."""
    check_names("semantics", [semantics], dict.fromkeys(name for one in COMPONENTS.values() for name in one.semantics))
    return HeldTo(engine, components_with(semantics))


def components_with(semantics: str) -> dict[str, str]:
    """The components that know a semantics of this name."""
    return {name: semantics for name, component in COMPONENTS.items() if semantics in component.semantics}


def disputed(descriptions: Iterable[Description]) -> dict[str, str]:
    """Components that all engines declare, without common semantics; for each the semantics to compare them by."""
    everybody = list(descriptions)
    found = {}
    for name, component in COMPONENTS.items():
        claims = [one.components[name] for one in everybody if name in one.components]
        declared = [set(declared_semantics(name, claim)) for claim in claims]
        if component.semantics and len(claims) == len(everybody) and not set.intersection(*declared):
            found[name] = component.semantics[0]
    return found
