"""Operator chaining: from a graph of operators to the vertices that become tasks, and their names.

A chain saves serialisation, buffers and a thread; the price is that its operators share one task. So an edge is
chained when nothing needs the network and nobody objects: the two operators run side by side, one to one, in the
same slots, and neither has asked to be apart.

The conditions and what follows from them are in `chaining.chains`. Every operator here has one input, so that all edges
that enter an operator are a union; several inputs are for the component `job_graph`.

Choices. StreamingJobGraphGenerator of Flink 2.3. A forward edge between operators of unequal parallelism, which
Flink refuses to build (CHAIN-15), is simply not chained (CHAIN-7).

On the wire. Ids are unique, a graph is acyclic, every operator is reached from a source, no edge enters a source,
sources are not yielding; anything else is a `bad_request` error. Edges carry no input number: all edges into an
operator enter its one input, and several are a union of streams. So a `head_with_sources` operator with several
incoming edges has no chained source (CHAIN-12). Operators with several inputs are in `job_graph`.
"""

from tidegate.reference.chaining.chaining import claims, step
from tidegate.reference.model import Component

COMPONENT = Component.of(__name__, step, claims, title="Operator chaining")
