"""The outputs of an operator: what each of them takes of what the operator emits, in which order, and as whose object.

An operator has outputs to other tasks and outputs to operators that are chained to it. A single one is used directly;
otherwise everything goes to all of them, the network first. An output with a tag takes the side records of that tag
and no others; time concerns every output. What a chained operator is given it may keep and change: without object
reuse it gets a copy of its own, with object reuse all share one value and only the records around it differ.

Choices. `flink-2.3` is the present (ChainingOutput, RecordWriterOutput, BroadcastingOutputCollector and their copying
variants). `flink-1.5` are the outputs up to 1.11: one status for the whole chain, gauges that move while idle, and
selectors (DirectedOutput), which call the chosen outputs in any order.

On the wire. Outputs are numbered as in the config, from 0. Those to the network are served first. The output of a
latency marker is free, and with `selectors` the order of the outputs of a record is, too: whatever the rules allow
is accepted.
"""

from tidegate.reference.model import Component
from tidegate.reference.outputs import claims, step, values

COMPONENT = Component.of(__name__, values, step, claims, title="The outputs of an operator")
