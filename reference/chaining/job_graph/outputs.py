"""What goes through the network: the outputs of a vertex, their order, who reads them, and in which way.

An edge that is not chained becomes a network output of its vertex. Several edges of one operator may read the same
output if it can be read several times. Finding the vertices and numbering their outputs is one walk through the plan.

Choices. StreamingJobGraphGenerator of Flink 2.3. Partitioners are known by name alone: two hash partitioners of one
operator count as equal, which in Flink they are if they share the key selector. Only blocking results are kept for
later jobs; an id on a hybrid result, which no program makes, is compared all the same.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.chaining import chains
from tidegate.reference.chaining.chains import Exchange, Kind, Partitioner
from tidegate.reference.claims import law
from tidegate.reference.elements import Length
from tidegate.reference.partitioning.wiring import Pattern

# --- names ----------------------------------------------------------------------------------------------------


class Mode(StrEnum):
    """How a job treats the edges whose exchange is undefined."""

    ALL_EDGES_PIPELINED = "all_edges_pipelined"
    ALL_EDGES_PIPELINED_APPROXIMATE = "all_edges_pipelined_approximate"
    POINTWISE_EDGES_PIPELINED = "pointwise_edges_pipelined"
    FORWARD_EDGES_PIPELINED = "forward_edges_pipelined"
    ALL_EDGES_BLOCKING = "all_edges_blocking"
    ALL_EDGES_HYBRID_FULL = "all_edges_hybrid_full"
    ALL_EDGES_HYBRID_SELECTIVE = "all_edges_hybrid_selective"


class Result(StrEnum):
    PIPELINED_BOUNDED = "pipelined_bounded"
    PIPELINED_APPROXIMATE = "pipelined_approximate"
    BLOCKING = "blocking"
    BLOCKING_PERSISTENT = "blocking_persistent"
    HYBRID_FULL = "hybrid_full"
    HYBRID_SELECTIVE = "hybrid_selective"


BLOCKING = (Result.BLOCKING, Result.BLOCKING_PERSISTENT)
HYBRID = (Result.HYBRID_FULL, Result.HYBRID_SELECTIVE)
#: The ways of a job that streams; the others are those of batch jobs.
STREAMING = (Mode.ALL_EDGES_PIPELINED, Mode.ALL_EDGES_PIPELINED_APPROXIMATE)
PIPELINED = (Result.PIPELINED_BOUNDED, Result.PIPELINED_APPROXIMATE)


@attrs.frozen
class NetworkOutput:
    """What an operator of the vertex writes to the network, and the heads of the vertices that read it."""

    type: ClassVar[str] = "output"
    vertex: Annotated[int, "The head of the vertex."]
    operator: Annotated[int, "The operator that writes."]
    partitioner: Annotated[Partitioner, "How records are spread."]
    pattern: Annotated[Pattern, "How subtasks are wired."]
    result: Annotated[Result, "The type of the result."]
    consumers: Annotated[tuple[int, ...], "The heads of the vertices that read it.", Length(1)]
    tag: Annotated[str | None, "The tag of a side output; absent for the main output."] = None


# --- the way of an edge ---------------------------------------------------------------------------------------


def compute_pattern(partitioner: Partitioner) -> Pattern:
    """CHAIN-23."""
    is_pointwise = partitioner in (Partitioner.FORWARD, Partitioner.RESCALE)
    return Pattern.POINTWISE if is_pointwise else Pattern.ALL_TO_ALL


def compute_result(link: chains.Link, mode: Mode) -> Result:
    """CHAIN-24, for an edge that goes through the network."""
    result = compute_result_of_mode(link.partitioner, mode)
    if link.exchange is not Exchange.UNDEFINED:
        result = {
            Exchange.PIPELINED: Result.PIPELINED_BOUNDED,
            Exchange.BATCH: Result.BLOCKING,
            Exchange.HYBRID_FULL: Result.HYBRID_FULL,
            Exchange.HYBRID_SELECTIVE: Result.HYBRID_SELECTIVE,
        }[link.exchange]
    if result is Result.BLOCKING and link.dataset is not None:
        return Result.BLOCKING_PERSISTENT
    if result is Result.HYBRID_SELECTIVE and link.partitioner is Partitioner.BROADCAST:
        return Result.HYBRID_FULL
    return result


def compute_result_of_mode(partitioner: Partitioner, mode: Mode) -> Result:
    is_forward = partitioner is Partitioner.FORWARD
    is_pointwise = compute_pattern(partitioner) is Pattern.POINTWISE
    return {
        Mode.ALL_EDGES_PIPELINED: Result.PIPELINED_BOUNDED,
        Mode.ALL_EDGES_PIPELINED_APPROXIMATE: Result.PIPELINED_APPROXIMATE,
        Mode.POINTWISE_EDGES_PIPELINED: Result.PIPELINED_BOUNDED if is_pointwise else Result.BLOCKING,
        Mode.FORWARD_EDGES_PIPELINED: Result.PIPELINED_BOUNDED if is_forward else Result.BLOCKING,
        Mode.ALL_EDGES_BLOCKING: Result.BLOCKING,
        Mode.ALL_EDGES_HYBRID_FULL: Result.HYBRID_FULL,
        Mode.ALL_EDGES_HYBRID_SELECTIVE: Result.HYBRID_SELECTIVE,
    }[mode]


def compute_sharing(link: chains.Link, consumer: chains.Node, mode: Mode) -> tuple[object, ...] | None:
    """CHAIN-25: network edges of one operator share an output if this is equal for them; never if it is None."""
    result = compute_result(link, mode)
    if result not in BLOCKING and result not in HYBRID:
        return None
    family = "hybrid" if result in HYBRID else result
    return family, link.partitioner, consumer.parallelism, consumer.max_parallelism, link.dataset, link.tag


# --- the order of vertices ------------------------------------------------------------------------------------


def compute_completion(plan: chains.Plan) -> tuple[int, ...]:
    """CHAIN-18: the heads in the order in which their vertices are completed."""
    inputs = [link for link in plan.links if chains.is_chained_input(plan, link)]
    entries = {node.id for node in plan.nodes if node.kind is not Kind.OPERATOR} - {link.source for link in inputs}
    done: tuple[int, ...] = ()
    for entry in sorted(entries | {link.target for link in inputs}):
        done = complete(plan, entry, entry, done)
    return done


def complete(plan: chains.Plan, head: int, node_id: int, done: tuple[int, ...]) -> tuple[int, ...]:
    """Follow first the chained edges of an operator, then the others; its vertex is complete after its head."""
    if head in done:
        return done
    for child in chains.compute_children(plan, node_id):
        done = complete(plan, head, child, done)
    for link in compute_network_links(plan, node_id):
        done = complete(plan, link.target, link.target, done)
    return (*done, head) if node_id == head else done


# --- the outputs of a vertex ----------------------------------------------------------------------------------


def compute_network_links(plan: chains.Plan, node_id: int) -> tuple[chains.Link, ...]:
    """CHAIN-15: an edge that was forward for the sake of chaining alone is not, once it is not chained."""
    links = (link for link in plan.out_of(node_id) if not chains.is_chained(plan, link))
    return tuple(settle(link) for link in links if not chains.is_chained_input(plan, link))


def settle(link: chains.Link) -> chains.Link:
    if link.partitioner is Partitioner.FORWARD_FOR_CONSECUTIVE_HASH:
        return attrs.evolve(link, partitioner=Partitioner.HASH)
    return attrs.evolve(link, partitioner=Partitioner.RESCALE) if link.open_to_rescale else link


def compute_outputs(plan: chains.Plan, mode: Mode, head: int) -> tuple[NetworkOutput, ...]:
    return compute_outputs_below(plan, mode, head, head)


def compute_outputs_below(plan: chains.Plan, mode: Mode, head: int, node_id: int) -> tuple[NetworkOutput, ...]:
    """CHAIN-22: the outputs of the operators chained to this one, then its own."""
    outputs: tuple[NetworkOutput, ...] = ()
    for child in chains.compute_children(plan, node_id):
        outputs += compute_outputs_below(plan, mode, head, child)
    shared: dict[object, list[chains.Link]] = {}
    for place, link in enumerate(compute_network_links(plan, node_id)):
        shared.setdefault(compute_sharing(link, plan.node(link.target), mode) or place, []).append(link)
    return outputs + tuple(make_output(head, mode, links) for links in shared.values())


def make_output(head: int, mode: Mode, links: list[chains.Link]) -> NetworkOutput:
    """CHAIN-25: one output for all of these edges."""
    first = links[0]
    result = compute_result(first, mode)
    if result is Result.HYBRID_SELECTIVE and len(links) > 1:
        result = Result.HYBRID_FULL
    consumers = tuple(link.target for link in links)
    pattern = compute_pattern(first.partitioner)
    return NetworkOutput(head, first.source, first.partitioner, pattern, result, consumers, first.tag)


# --- laws -----------------------------------------------------------------------------------------------------


def explicit_partitioners() -> Iterator[tuple[Partitioner, Exchange]]:
    kinds = [kind for kind in Partitioner if kind is not Partitioner.FORWARD_FOR_CONSECUTIVE_HASH]
    yield from product(kinds, Exchange)


@law("CHAIN-24", samples=explicit_partitioners)
def edge_before_job(partitioner: Partitioner, exchange: Exchange) -> bool:
    """The mode of the job decides the result of an edge exactly where its exchange is undefined.

    A pointwise edge is pipelined in more modes than others, and a forward edge in one more still.
    """
    link = chains.Link(1, 2, partitioner, exchange)
    results = {mode: compute_result(link, mode) for mode in Mode}
    if exchange is not Exchange.UNDEFINED:
        return len(set(results.values())) == 1
    pipelined = {mode for mode, result in results.items() if result is Result.PIPELINED_BOUNDED}
    usual = {Mode.ALL_EDGES_PIPELINED}
    if compute_pattern(partitioner) is Pattern.POINTWISE:
        usual.add(Mode.POINTWISE_EDGES_PIPELINED)
    if partitioner is Partitioner.FORWARD:
        usual.add(Mode.FORWARD_EDGES_PIPELINED)
    return pipelined == usual
