"""The barrier handler: which channels wait, and when a task takes its part of a checkpoint.

Barriers travel with the data and cut every channel at the same moment of the job. A task that has several channels
sees them at different times. It may let the quick channels wait (aligned), count without waiting and process some
elements twice after a restart (at least once), let the barriers overtake and save what they overtook (unaligned), or
try the first and fall back to the last (alternating).

Choices. SingleCheckpointBarrierHandler and CheckpointBarrierTracker of Flink 2.3. A channel that is blocked delivers
nothing, and a channel that has ended neither: both are refused. Channels resumed in one step are a set, shown in
ascending order; so are barriers made to overtake. Time passes only by the event that says so, and a timer that is due
fires then, even if no time passes. Barriers are marked `unaligned` only where the handler is unaligned or alternating.
"""

from tidegate.reference.barriers import buffering, channel_state, claims, step, values
from tidegate.reference.model import Component

COMPONENT = Component.of(__name__, values, step, claims, buffering, channel_state, title="The barrier handler")
