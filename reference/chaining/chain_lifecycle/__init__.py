"""The life cycle of a chain: in which order its operators are created, opened, asked for a checkpoint and ended.

A chain is a tree of operators that call one another. Whoever may still be called must be ready, so that everything
that makes an operator ready goes from the tail to the head; whoever may still emit must find the others working, so
that everything that lets an operator emit a last time goes from the head to the tail, each operator completely before
the next one learns that its input has ended.

A chain whose operators had all finished before the job was restored has no such life any more: it hands on that event
time is over, and takes part in checkpoints (the extension `finished`).

Choices. `flink-2.3` is the order since 1.14 (RegularOperatorChain, StreamOperatorWrapper): operators finish, and are
closed later. Before that to close meant to emit what is left, and to dispose meant what is now to close (StreamTask):
`flink-1.10` since FLINK-14230, where a chained operator learns that its input has ended, and `flink-1.5`, where
nobody does. Chained sources are numbered behind the operators; the two old orders have none.

On the wire. The head is operator 0; chained sources are numbered behind the operators. Observations are the calls
that the operators get, in their order.
"""

from tidegate.reference.chaining.chain_lifecycle import claims, step, values
from tidegate.reference.model import Component

COMPONENT = Component.of(__name__, values, step, claims, title="The life cycle of a chain")
