"""The case that convicts each wrong engine of the museum: a directed trace that names it, or a case of its own."""

from collections.abc import Mapping
from functools import cache

from tidegate.conformance.engines.museum.catalog import load_killers, mutants_of
from tidegate.conformance.engines.museum.wrong import Mutant
from tidegate.properties.drawing.directed import directed
from tidegate.traces.cases import Case
from tidegate.traces.codec import decode_case


@cache
def convictions(component: str) -> Mapping[str, Case]:
    """By the name of the wrong engine. A bug about state that leaks shows when the case is replayed a second time."""
    told = {name: one.case for one in directed(component) for name in one.convicts}
    own = load_killers()
    return {
        mutant.name: told[mutant.name]
        if mutant.name in told
        else decode_case({"case": mutant.name, "component": component, **own[mutant.name]})
        for mutant in mutants_of(component)
    }


def convict(mutant: Mutant) -> Case:
    return convictions(mutant.component)[mutant.name]
