"""What an operator and an edge become on their way from a program to a plan: strategy, partitioner, exchange, tag.

A program only says what it wants to say. An operator that nobody configured gets a default strategy, an edge that
nobody described the cheapest partitioner that is right. Wishes about an edge are hung on *virtual nodes* between its
producer and its consumer, which are resolved when the edge is made.

Choices. StreamGraph of Flink 2.3, and the operators of 1.5 where their defaults differed.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.chaining.chaining.claims import SOURCE, make_line, make_operator
from tidegate.reference.chaining.chains import FORWARDS, Exchange, Kind, Node, Partitioner, Strategy, compute_heads
from tidegate.reference.claims import law

# --- the strategy of an operator ------------------------------------------------------------------------------


class Request(StrEnum):
    """What a program may say about the chaining of an operator."""

    NOTHING = "nothing"
    START_NEW_CHAIN = "start_new_chain"
    DISABLE_CHAINING = "disable_chaining"


def compute_strategy(
    kind: Kind, request: Request = Request.NOTHING, *, wraps_function: bool = True, release: str = "2.3"
) -> Strategy:
    """CHAIN-14."""
    if request is Request.DISABLE_CHAINING:
        return Strategy.NEVER
    is_bare = release == "1.5" and not wraps_function
    if request is Request.START_NEW_CHAIN or kind is Kind.LEGACY_SOURCE or is_bare:
        return Strategy.HEAD
    return Strategy.ALWAYS


# --- virtual nodes --------------------------------------------------------------------------------------------


@attrs.frozen
class PartitionNode:
    """From here on the edge is partitioned in another way."""

    type: ClassVar[str] = "partition"
    partitioner: Annotated[Partitioner, "How records are spread."]
    exchange: Annotated[Exchange, "How data is handed over: while it is produced, when it is complete, or both."]


@attrs.frozen
class SideOutputNode:
    """From here on only the records of a tag count."""

    type: ClassVar[str] = "side_output"
    tag: Annotated[str, "The tag."]


VirtualNode = PartitionNode | SideOutputNode


@attrs.frozen
class Route:
    """What the virtual nodes on the way amount to."""

    partitioner: Partitioner | None = None
    exchange: Exchange = Exchange.UNDEFINED
    tag: str | None = None


def compute_route(via: tuple[VirtualNode, ...]) -> Route:
    """CHAIN-16: walk from the consumer, at the end of `via`, to the producer."""
    route = Route()
    for node in reversed(via):
        if isinstance(node, SideOutputNode):
            route = attrs.evolve(route, tag=node.tag if route.tag is None else route.tag)
        else:
            # The first partitioner met stays, the exchange is replaced each time.
            route = attrs.evolve(route, partitioner=route.partitioner or node.partitioner, exchange=node.exchange)
    return route


def is_impossible(requested: Partitioner | None, up: Node, down: Node) -> bool:
    """CHAIN-15: one to one, between operators that are not."""
    return requested is Partitioner.FORWARD and up.parallelism != down.parallelism


def compute_partitioner(requested: Partitioner | None, up: Node, down: Node) -> Partitioner:
    """CHAIN-15."""
    is_equal = up.parallelism == down.parallelism
    if requested is None:
        return Partitioner.FORWARD if is_equal else Partitioner.REBALANCE
    if requested is Partitioner.FORWARD_FOR_CONSECUTIVE_HASH and not is_equal:
        return Partitioner.HASH
    return requested


# --- laws -----------------------------------------------------------------------------------------------------


LINES = (
    ("2.3", Request.NOTHING, "function", (1,)),
    ("2.3", Request.NOTHING, "bare", (1,)),
    ("2.3", Request.START_NEW_CHAIN, "function", (1, 3)),
    ("2.3", Request.DISABLE_CHAINING, "function", (1, 3, 4)),
    ("1.5", Request.NOTHING, "function", (1,)),
    ("1.5", Request.NOTHING, "bare", (1, 3)),
)


@law("CHAIN-14", samples=lambda: LINES)
def chaining_is_the_default(release: str, request: Request, operator: str, heads: tuple[int, ...]) -> bool:
    """In a line, an operator that nobody configured does not begin a vertex, unless it is a bare one in 1.5.

    A source and three operators in a line, of which the third node is as described: where vertices begin.
    """
    described = compute_strategy(Kind.OPERATOR, request, wraps_function=operator == "function", release=release)
    plain = compute_strategy(Kind.OPERATOR, release=release)
    source = attrs.evolve(SOURCE, strategy=compute_strategy(Kind.SOURCE, release=release))
    operators = [make_operator(number, strategy=described if number == 3 else plain) for number in (2, 3, 4)]
    return compute_heads(make_line(source, *operators)) == heads


@law("CHAIN-15", samples=lambda: product((None, *Partitioner), (1, 2, 3), (1, 2, 3)))
def what_was_asked_is_kept(requested: Partitioner | None, up: int, down: int) -> bool:
    """A partitioner that was asked for is used or refused, and a forward one only joins equal parallelism."""
    nodes = attrs.evolve(SOURCE, parallelism=up), make_operator(2, parallelism=down)
    made = compute_partitioner(requested, *nodes)
    if is_impossible(requested, *nodes):
        return requested is made is Partitioner.FORWARD
    is_kept = requested in (None, made, Partitioner.FORWARD_FOR_CONSECUTIVE_HASH)
    return is_kept and (made not in FORWARDS or up == down)


def virtual_paths() -> Iterator[tuple[tuple[VirtualNode, ...], VirtualNode]]:
    nodes: tuple[VirtualNode, ...] = (
        PartitionNode(Partitioner.REBALANCE, Exchange.BATCH),
        PartitionNode(Partitioner.HASH, Exchange.PIPELINED),
        SideOutputNode("late"),
        SideOutputNode("odd"),
    )
    for length in range(4):
        yield from product(product(nodes, repeat=length), nodes)


@law("CHAIN-16", samples=virtual_paths)
def virtual_nodes_count_from_both_ends(via: tuple[VirtualNode, ...], node: VirtualNode) -> bool:
    """A virtual node at the consumer's end sets partitioner or tag, one at the producer's end the exchange.

    A virtual node more, at the consumer's end and at the producer's.
    """
    route, consumer, producer = compute_route(via), compute_route((*via, node)), compute_route((node, *via))
    if isinstance(node, SideOutputNode):
        others = {(one.partitioner, one.exchange) for one in (route, consumer, producer)}
        return len(others) == 1 and consumer.tag == node.tag and producer.tag == (route.tag or node.tag)
    is_nearest = consumer.partitioner is node.partitioner and producer.exchange is node.exchange
    return is_nearest and producer.partitioner in (route.partitioner, node.partitioner) and route.tag == producer.tag
