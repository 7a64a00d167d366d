"""The job graph: from a program's operators and edges to vertices, their network outputs and who reads them.

This is chaining with all that surrounds it. A program leaves things out and says others in passing; here they are
filled in (`edges`), the same decision as in `chaining` divides the operators into vertices, and every edge that is not
chained becomes a network output, or a further reader of one.

Vertices are emitted in the order in which they are completed (CHAIN-18), each followed by its outputs.

Choices. StreamGraph and StreamingJobGraphGenerator of Flink 2.3. The input numbers of an operator count from 0.

On the wire. A graph is acyclic, ids are unique, every operator is reached from a source, no edge enters a source,
sources are not yielding; anything else is a `bad_request` error. Vertices come in the order in which they are
completed (CHAIN-18), each followed by its outputs.
"""

from tidegate.reference.chaining.job_graph import claims, edges, outputs, step
from tidegate.reference.model import Component

COMPONENT = Component.of(__name__, step, claims, edges, outputs, title="The job graph")
