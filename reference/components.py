"""Every component of the specification, by name."""

from reference import (
    chaining,
    combiner,
    deserializer,
    gate,
    job_graph,
    partitioning,
    serializer,
    valve,
    wiring,
    writer,
)
from reference.credit import connection, loop, receiver, sender
from reference.model import AnyComponent

COMPONENTS: dict[str, AnyComponent] = {
    component.name: component
    for component in (
        valve.COMPONENT,
        combiner.COMPONENT,
        partitioning.COMPONENT,
        wiring.COMPONENT,
        serializer.COMPONENT,
        writer.COMPONENT,
        deserializer.COMPONENT,
        chaining.COMPONENT,
        job_graph.COMPONENT,
        sender.COMPONENT,
        receiver.COMPONENT,
        loop.COMPONENT,
        connection.COMPONENT,
        gate.COMPONENT,
    )
}
