"""Every component of the specification, by name."""

from reference import (
    chain_lifecycle,
    chaining,
    combiner,
    deserializer,
    gate,
    input_channels,
    job_graph,
    mailbox,
    multiple_inputs,
    multiplexer,
    network_input,
    outputs,
    partitioning,
    priority_gate,
    serializer,
    statuses,
    task,
    union_gate,
    valve,
    wiring,
    writer,
)
from reference.barriers import handler
from reference.credit import connection, loop, receiver, sender
from reference.job import scheduler
from reference.model import AnyComponent
from reference.subpartition import blocking, buffer, exchange, partition, pipelined

COMPONENTS: dict[str, AnyComponent] = {
    component.name: component
    for component in (
        valve.COMPONENT,
        combiner.COMPONENT,
        multiplexer.COMPONENT,
        partitioning.COMPONENT,
        wiring.COMPONENT,
        serializer.COMPONENT,
        writer.COMPONENT,
        deserializer.COMPONENT,
        chaining.COMPONENT,
        job_graph.COMPONENT,
        chain_lifecycle.COMPONENT,
        outputs.COMPONENT,
        buffer.COMPONENT,
        pipelined.COMPONENT,
        blocking.COMPONENT,
        partition.COMPONENT,
        exchange.COMPONENT,
        sender.COMPONENT,
        receiver.COMPONENT,
        loop.COMPONENT,
        connection.COMPONENT,
        gate.COMPONENT,
        priority_gate.COMPONENT,
        union_gate.COMPONENT,
        input_channels.COMPONENT,
        network_input.COMPONENT,
        multiple_inputs.COMPONENT,
        mailbox.COMPONENT,
        handler.COMPONENT,
        task.COMPONENT,
        statuses.COMPONENT,
        scheduler.COMPONENT,
    )
}
