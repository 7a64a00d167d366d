"""The network input: out of the gate, through the deserializers, to the operator.

The task calls the input again and again. Each call hands on one element, or says why there is none; so the task stays
free to look after its mailbox in between. There is one deserializer a channel, since a record may be cut anywhere and
the buffers of other channels come in between. Records and latency markers go to the operator as they are; watermarks
and statuses go through the valve.

Choices. `StreamOneInputProcessor` over `StreamTaskNetworkInput`; the machines inside are `gate`, `reading` and `valve`.
Whether a call may go on (no mail waits and the output has room) is told with the call. What arrives is a stream of
elements as in `stream_elements`, with the framing of `spanning`; other bytes are no input at all. `flink-1.5` is the
loop before there was a mailbox: it has no end of data, and where it would wait this model says that there is nothing.

On the wire. The bytes of a channel are records, each a length of 4 bytes, big-endian, and a payload that is a
stream element; they may be cut anywhere into buffers. The protocol page has the layout. Bytes that are no stream
element, and watermarks of a subpartition (tag 6), are a `bad_request` error of the whole case.
"""

from tidegate.reference.input import backlogs
from tidegate.reference.input.network_input import step, values
from tidegate.reference.model import Component

COMPONENT = Component.of(__name__, values, step, backlogs, title="The network input")
