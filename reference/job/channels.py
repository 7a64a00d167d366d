"""How an element crosses from one task to the next: at once, or as bytes in buffers against credit.

Without a wire an element that is written arrives in the consumer's gate at once. With a wire it goes through the
serializer into buffers, buffers go through the sender as credit allows, and behind the wire the receiver finds room
for them before they arrive in the gate. Either way nothing follows a barrier until the consumer has aligned.

Choices. Events (barriers and endings) travel as themselves, in no buffer. A connection has one channel and always
takes messages.
"""

import struct

import attrs

from tidegate.reference.credit import credit_receiver as receiver
from tidegate.reference.credit import credit_sender as sender
from tidegate.reference.credit.readers import Backlog, BufferSent, MessageKind
from tidegate.reference.elements import Direction, LogKind, Long
from tidegate.reference.gate import gate
from tidegate.reference.job.checkpoints import is_unaligned, overtake, save_arrival
from tidegate.reference.job.programs import Barrier, Element, EndOfData, EndOfPartition, Record
from tidegate.reference.job.states import Overrun, Payload, Remote, Turn
from tidegate.reference.model import Rejected
from tidegate.reference.spanning import serializer, stream_elements
from tidegate.reference.spanning.deserializer import step as deserializer
from tidegate.reference.subpartition.values import Finish, Flush, Resume

# --- elements as bytes ----------------------------------------------------------------------------------------


def encode(element: Element) -> bytes:
    """The payload of a stream element; the value of a record is its id, its value and its key."""
    if isinstance(element, Record):
        value = struct.pack(">qq", element.id, element.value) + element.key.encode()
        return stream_elements.encode_element(stream_elements.Record(value, element.timestamp))
    assert not isinstance(element, Barrier | EndOfData | EndOfPartition)
    return stream_elements.encode_element(element)


def decode(payload: bytes) -> Element:
    element = stream_elements.decode_element(payload)
    if isinstance(element, stream_elements.Record):
        assert element.timestamp is not None
        number, value = struct.unpack(">qq", element.value[:16])
        return Record(element.value[16:].decode(), Long(value), element.timestamp, Long(number))
    assert isinstance(element, Element)
    return element


# --- the producer's end ---------------------------------------------------------------------------------------


def write(turn: Turn, number: int, element: Element) -> Turn:
    """An element is handed to a channel."""
    turn = turn.log_element(number, Direction.OUT, element)
    channel = turn.channel(number)
    if isinstance(element, Barrier) and is_unaligned(turn.state):
        return overtake(turn, number, element)
    if channel.remote is None:
        return pass_on(turn.with_channel(number, unsent=(*channel.unsent, element)), number)
    match element:
        case Barrier():
            return add_event(turn, number, serializer.ControlEvent(), sender.Barrier(), element)
        case EndOfData():
            return add_event(turn, number, serializer.ControlEvent(), sender.PlainEvent(), element)
        case EndOfPartition():
            return add_event(turn, number, serializer.Finish(), Finish(), element)
        case _:
            return serialize(turn, number, channel.remote, serializer.WriteRecord(encode(element)))


def pass_on(turn: Turn, number: int) -> Turn:
    """Without a wire: whatever no barrier holds back arrives."""
    channel = turn.channel(number)
    while channel.unsent and not channel.blocked:
        element, *rest = channel.unsent
        turn = turn.with_channel(number, unsent=tuple(rest), blocked=isinstance(element, Barrier))
        turn = arrive(turn, number, element)
        channel = turn.channel(number)
    return turn


def serialize(turn: Turn, number: int, remote: Remote, event: serializer.Event) -> Turn:
    """Buffers that are finished go to the sender."""
    (outcome,) = serializer.step(remote.serializer, event)
    turn = turn.with_remote(number, remote, serializer=outcome.state).because(*outcome.rules)
    for seen in outcome.observations:
        if isinstance(seen, serializer.Buffer):
            turn = to_sender(turn, number, sender.Data(), seen.data)
    return turn


def add_event(
    turn: Turn,
    number: int,
    ending: serializer.Event,
    event: sender.Event,
    element: Barrier | EndOfData | EndOfPartition,
) -> Turn:
    """An event goes behind everything written so far, in no buffer of its own."""
    return to_sender(serialize(turn, number, get_remote(turn, number), ending), number, event, element)


def flush(turn: Turn, number: int) -> Turn:
    """The flusher comes round."""
    turn = serialize(turn, number, get_remote(turn, number), serializer.Flush())
    return to_sender(turn, number, Flush())


def to_sender(turn: Turn, number: int, event: sender.Event, payload: Payload | None = None) -> Turn:
    """The sender takes the event, and what it sends is on the wire, each message with its payload."""
    remote = get_remote(turn, number)
    (outcome,) = sender.step(remote.sender, event)
    unsent = turn.channel(number).unsent if payload is None else (*turn.channel(number).unsent, payload)
    turn = turn.with_remote(number, remote, sender=outcome.state).because(*outcome.rules)
    down = remote.down
    for message in outcome.observations:
        if isinstance(message, Backlog):
            down = (*down, (message, None))
        elif isinstance(message, BufferSent):
            sent, *rest = unsent
            unsent, down = tuple(rest), (*down, (message, sent))
            if isinstance(sent, bytes):
                turn = turn.log_amount(number, Direction.OUT, LogKind.BUFFER, len(sent))
    return turn.with_channel(number, unsent=unsent, remote=attrs.evolve(get_remote(turn, number), down=down))


def deliver_credit(turn: Turn, number: int) -> Turn:
    """The consumer's next message reaches the sender."""
    remote = get_remote(turn, number)
    message, *rest = remote.up
    turn = turn.with_remote(number, remote, up=tuple(rest))
    if isinstance(message, receiver.ResumeMessage):
        return to_sender(turn, number, Resume())
    turn = turn.log_amount(number, Direction.IN, LogKind.CREDIT, message.amount)
    return to_sender(turn, number, sender.Credit(message.amount))


# --- the consumer's end ---------------------------------------------------------------------------------------


def deliver(turn: Turn, number: int) -> Turn:
    """The sender's next message reaches the consumer."""
    remote = get_remote(turn, number)
    place = turn.layout.routes[number].place
    (message, payload), *rest = remote.down
    turn = turn.with_remote(number, remote, down=tuple(rest))
    if isinstance(message, Backlog):
        return to_receiver(turn, number, receiver.Backlog(place, message.backlog))
    assert payload is not None
    if message.kind is MessageKind.DATA:
        assert isinstance(payload, bytes)
        turn = turn.log_amount(number, Direction.IN, LogKind.BUFFER, len(payload))
        turn = to_receiver(turn, number, receiver.Data(place, message.backlog))
    elif isinstance(payload, Barrier):
        turn = to_receiver(turn, number, receiver.Barrier(place))
    else:
        turn = to_receiver(turn, number, receiver.PlainEvent(place, message.backlog))
    return arrive(turn, number, payload)


def to_receiver(turn: Turn, number: int, event: receiver.Event) -> Turn:
    """The receiver takes the event, and what it sends is on the wire."""
    target = turn.layout.routes[number].target
    state = turn.subtask(target).receiver
    assert state is not None
    (outcome,) = receiver.step(state, event)
    turn = turn.with_subtask(target, receiver=outcome.state).because(*outcome.rules)
    if Rejected() in outcome.observations:
        turn = turn.observe(Overrun(number))
    for message in outcome.observations:
        if isinstance(message, receiver.Credit | receiver.ResumeMessage):
            remote = get_remote(turn, number)
            turn = turn.with_remote(number, remote, up=(*remote.up, message))
            if isinstance(message, receiver.Credit):
                turn = turn.log_amount(number, Direction.OUT, LogKind.CREDIT, message.amount)
    return turn


def announce(turn: Turn, number: int) -> Turn:
    """The network thread of the consumer gets to build a credit message."""
    return to_receiver(turn, number, receiver.Announce(turn.layout.routes[number].place))


def arrive(turn: Turn, number: int, payload: Payload) -> Turn:
    """Something is in the gate, to be polled."""
    route = turn.layout.routes[number]
    state = turn.subtask(route.target).gate
    assert state is not None
    item = gate.Item.DATA
    if isinstance(payload, EndOfData):
        item = gate.Item.END_OF_DATA
    if isinstance(payload, EndOfPartition):
        item = gate.Item.END_OF_PARTITION
    (outcome,) = gate.step(state, gate.Arrive(route.place, item))
    turn = save_arrival(turn, number, payload)
    turn = turn.with_channel(number, waiting=(*turn.channel(number).waiting, payload))
    return turn.with_subtask(route.target, gate=outcome.state).because(*outcome.rules)


def take(turn: Turn, number: int) -> tuple[Turn, tuple[Element, ...]]:
    """What was polled leaves its channel: the elements that it holds or completes."""
    channel = turn.channel(number)
    payload, *rest = channel.waiting
    # What was overtaken is asked for only while the barrier is read.
    overtaken = channel.overtaken if isinstance(payload, Barrier) else 0
    turn = turn.with_channel(number, waiting=tuple(rest), overtaken=overtaken)
    if not isinstance(payload, bytes):
        return turn, (payload,)
    remote = get_remote(turn, number)
    (outcome,) = deserializer.step(remote.reader, deserializer.Buffer(payload))
    turn = turn.with_remote(number, remote, reader=outcome.state).because(*outcome.rules)
    return turn, tuple(decode(seen.payload) for seen in outcome.observations if isinstance(seen, deserializer.Record))


def recycle(turn: Turn, number: int) -> Turn:
    """The consumer is done with the buffer that it polled."""
    return to_receiver(turn, number, receiver.Recycle(turn.layout.routes[number].place))


def resume(turn: Turn, number: int) -> Turn:
    """The consumer has aligned, and wants what lies behind the barrier."""
    if turn.channel(number).remote is None:
        return pass_on(turn.with_channel(number, blocked=False), number)
    return to_receiver(turn, number, receiver.Resume(turn.layout.routes[number].place))


def get_remote(turn: Turn, number: int) -> Remote:
    remote = turn.channel(number).remote
    assert remote is not None
    return remote
