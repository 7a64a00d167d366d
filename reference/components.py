"""Every component of the specification, by name."""

from reference import combiner, valve
from reference.model import AnyComponent

COMPONENTS: dict[str, AnyComponent] = {
    component.name: component
    for component in (
        valve.COMPONENT,
        combiner.COMPONENT,
    )
}
