"""What holds on every transition of the writer."""

from tidegate.reference.claims import always, sometimes
from tidegate.reference.model import Outcome, Rejected
from tidegate.reference.spanning.builders import Builder
from tidegate.reference.spanning.records import encode_record
from tidegate.reference.spanning.writer import values
from tidegate.reference.spanning.writer.values import Event, Kind, Observation, State

Result = Outcome[State, Observation]


def is_shared(state: State, event: Event) -> bool:
    return isinstance(event, values.Broadcast) and state.config.kind is Kind.BROADCAST


def is_refused(outcome: Result) -> bool:
    return any(isinstance(seen, values.IoError | Rejected) for seen in outcome.observations)


def compute_written(event: Event, outcome: Result, channel: int) -> bytes:
    """What the event adds to the stream of bytes of the channel."""
    if is_refused(outcome) or not isinstance(event, values.Record | values.Broadcast):
        return b""
    return encode_record(event.payload) if isinstance(event, values.Broadcast) or event.channel == channel else b""


@always("SPAN-13", "SPAN-12")
def every_channel_gets_its_bytes(before: State, event: Event, outcome: Result) -> bool:
    """A channel sees the bytes of its records in the order of the emits, none lost and none twice."""
    for channel, pending in enumerate(before.pending):
        seen = b"".join(
            one.data for one in outcome.observations if isinstance(one, values.Buffer) and one.channel == channel
        )
        if seen + outcome.state.pending[channel] != pending + compute_written(event, outcome, channel):
            return False
    return True


def get_open_builders(state: State) -> list[Builder]:
    return [builder for builder in (*state.builders, state.shared) if builder is not None]


@always("SPAN-13")
def one_kind_of_buffer_is_open(_before: State, _event: Event, outcome: Result) -> bool:
    """No channel has a buffer of its own open while the shared one is."""
    return outcome.state.shared is None or not any(outcome.state.builders)


@always("SPAN-8", "SPAN-9")
def open_buffers_have_room(_before: State, _event: Event, outcome: Result) -> bool:
    """An open buffer holds something and has room, within the size of a buffer."""
    size = outcome.state.config.buffer_size
    return all(0 < builder.filled < builder.capacity <= size for builder in get_open_builders(outcome.state))


@always("SPAN-12")
def a_broadcast_takes_one_buffer(before: State, event: Event, outcome: Result) -> bool:
    """What a broadcast writer sends to all channels lies in one buffer of the pool; otherwise each has its own."""
    readers = before.config.channels if is_shared(before, event) else 1
    added = [seen for seen in outcome.observations if isinstance(seen, values.Add)]
    return len(added) == readers * outcome.observations.count(values.Request())


@always("SPAN-5")
def continuations_are_queued_with_their_bytes(before: State, event: Event, outcome: Result) -> bool:
    """A buffer that begins with a record is queued empty, one that continues a record with what it holds of it."""
    for channel, own in enumerate(before.builders):
        added = [seen for seen in outcome.observations if isinstance(seen, values.Add) and seen.channel == channel]
        open_before = before.shared if is_shared(before, event) else own
        empty = [seen.committed == 0 for seen in added]
        if empty != [open_before is None and n == 0 for n in range(len(added))]:
            return False
        if any(seen.committed != seen.partial for seen in added):
            return False
    return True


@always("SPAN-14")
def nothing_spans_an_event(before: State, event: Event, outcome: Result) -> bool:
    """An event comes behind all bytes written before it, in every channel, and leaves no buffer open."""
    sent = tuple(seen for seen in outcome.observations if isinstance(seen, values.EventSent))
    if is_refused(outcome) or not isinstance(event, values.ControlEvent):
        return not sent
    everywhere = tuple(map(values.EventSent, range(before.config.channels)))
    return sent == everywhere == outcome.observations[-len(sent) :] and not get_open_builders(outcome.state)


def count_held(state: State) -> int:
    shared = state.shared.filled * state.config.channels if state.shared else 0
    return shared + sum(builder.filled for builder in state.builders if builder)


@always("SPAN-15")
def counters_tell_what_was_finished(before: State, event: Event, outcome: Result) -> bool:
    """The bytes counted are those of finished buffers, a shared one once for each channel."""
    counted = sum(seen.bytes for seen in outcome.observations if isinstance(seen, values.Count))
    written = sum(len(compute_written(event, outcome, channel)) for channel in range(before.config.channels))
    return counted == count_held(before) + written - count_held(outcome.state)


@always("SPAN-6")
def flush_shows_all_and_closes_nothing(before: State, event: Event, outcome: Result) -> bool:
    """A flush shows every byte written so far and leaves the buffers open."""
    if not isinstance(event, values.Flush):
        return True
    return not any(outcome.state.pending) and get_open_builders(outcome.state) == get_open_builders(before)


@always("SPAN-10")
def flushes_as_the_timeout_says(before: State, event: Event, outcome: Result) -> bool:
    """With timeout 0 a channel has seen what was just written to it; with one above it all is seen when it is over."""
    timeout = before.config.timeout
    if isinstance(event, values.Elapse):
        due = 0 < timeout <= before.elapsed + event.milliseconds and before.unaware is None
        return not any(outcome.state.pending) if due else outcome.state.pending == before.pending
    written = [channel for channel in range(before.config.channels) if compute_written(event, outcome, channel)]
    return timeout != 0 or not any(outcome.state.pending[channel] for channel in written)


@sometimes("SPAN-12")
def all_channels_share_a_buffer(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A buffer is open that several channels read."""
    return before.config.channels > 1 and outcome.state.shared is not None


@sometimes("SPAN-10")
def time_shows_what_was_written(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The time-out shows bytes of a buffer that is still open."""
    return isinstance(event, values.Elapse) and any(isinstance(seen, values.Buffer) for seen in outcome.observations)


@always("SPAN-34")
def queued_is_what_was_not_seen(before: State, event: Event, outcome: Result) -> bool:
    """What is queued grows by what is written and falls by what is seen; who asks is told, and changes nothing."""
    if isinstance(event, values.Measure) and not before.finished:
        told = (values.Queued(tuple(len(one) for one in before.pending)),)
        return outcome.state == before and outcome.observations == told
    shown = [
        sum(len(seen.data) for seen in outcome.observations if isinstance(seen, values.Buffer) and seen.channel == at)
        for at in range(before.config.channels)
    ]
    written = [len(compute_written(event, outcome, at)) for at in range(before.config.channels)]
    pairs = zip(before.pending, outcome.state.pending, strict=True)
    return [len(new) - len(old) for old, new in pairs] == [w - s for w, s in zip(written, shown, strict=True)]
