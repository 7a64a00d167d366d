"""The channels of a gate: unknown, local and remote ones, and how they get to their producers.

A consumer may start before it is known where its producers run. Until then a channel is a placeholder; it is replaced
by a local or a remote channel when its producer is found, and asks for its partition then, if the gate has asked
already. From there on items arrive, numbered on the wire, or something goes wrong, once and for all.

Choices. `SingleInputGate.requestPartitions` and `updateInputChannel`, `UnknownInputChannel`, `LocalInputChannel`,
`RemoteInputChannel`. The gate's own queue is left out (it is in `gate`): here channels notify, and are read one by one.
What several channels do in one step is listed by their index; the real order is that of a hash map. Timers are events.
A task event that a known channel could not pass on is refused, as is an update that would leave one behind. An update
whose look is final fails the channel; in Flink it fails the task at once.

On the wire. Where several channels do something in one step, observations come by ascending channel.
"""

from tidegate.reference.input.input_channels import requests, step, values
from tidegate.reference.model import Component

COMPONENT = Component.of(__name__, values, step, requests, title="The channels of a gate")
