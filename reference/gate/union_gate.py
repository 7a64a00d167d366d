"""The union gate: several gates read as if they were one.

A union of streams has one gate for each of them. The union treats its members as a gate treats its channels: those
that have something wait in a queue, one item of the head is handed out, and the head goes to the end if it has more.
A member that has no more is listened to again, so that its next item is not missed. Channels are numbered through, in
the order of the members.

Choices. `UnionInputGate` over the machines of `gate`; ends of data say here whether they come with drain. Other than
a gate, a union that was emptied stays available until a poll in vain.

On the wire. Members that have something are served in turn, one item each. A union that was emptied stays available
until a poll in vain.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, law, sometimes
from tidegate.reference.elements import Index, Length, Nothing, Parts, Position, at_least
from tidegate.reference.gate import gate
from tidegate.reference.gate.end_of_data import EndOfData, compute_end_of_data
from tidegate.reference.gate.gate import Available, Finished, Poll
from tidegate.reference.model import Component, Outcome, Rejected, rejected
from tidegate.reference.tuples import replace

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """How many channels each member has."""

    members: Annotated[tuple[Parts, ...], "How many channels each member has."] = attrs.field(
        validator=attrs.validators.deep_iterable(at_least(1), Length(2))
    )


# --- state ----------------------------------------------------------------------------------------------------


class Item(StrEnum):
    DATA = "data"
    END_OF_DATA = "end_of_data"
    STOP = "stop"  # end of data without drain
    END_OF_PARTITION = "end_of_partition"


@attrs.frozen
class Member:
    """A gate; the channels that were stopped; and of each end of data polled, whether it came with drain."""

    gate: gate.State
    stopped: tuple[int, ...] = ()
    drains: tuple[bool, ...] = ()


@attrs.frozen
class State:
    """`queue` are the members that have something, in the order in which they will be served."""

    config: Config
    members: tuple[Member, ...]
    queue: tuple[int, ...] = ()
    available: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Arrive:
    """An item arrives on a channel of a member, the channel numbered as the member does."""

    type: ClassVar[str] = "arrive"
    member: Annotated[Index, "The number of the member, from 0. One out of range is rejected."]
    channel: Annotated[Index, "The channel, as its member counts it, from 0. One out of range is rejected."]
    item: Annotated[Item, "`stop` is an end of data without drain."]


Event = Arrive | Poll

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Polled:
    """An item is handed out, its channel numbered as the union does."""

    type: ClassVar[str] = "item"
    channel: Annotated[Position, "The channel, as the union counts: those of the first member come first."]
    item: Annotated[Item, "What it is."]
    more: Annotated[bool, "Whether some member has another item."]


@attrs.frozen
class DataEnded:
    """All data of all members has ended: drained, or stopped."""

    type: ClassVar[str] = "data_ended"
    drained: Annotated[bool, "Whether no member was stopped."]


Observation = Available | Polled | DataEnded | Nothing | Finished

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Nothing has arrived at any member."""
    return (State(config, tuple(Member(gate.start(gate.Config(channels))[0]) for channels in config.members)),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    return (on_poll(state),) if isinstance(event, Poll) else on_arrive(state, event)


def on_arrive(state: State, event: Arrive) -> tuple[Outcome[State, Observation], ...]:
    if not 0 <= event.member < len(state.members):
        return rejected(state, "GATE-26")
    member = state.members[event.member]
    kind = gate.Item.END_OF_DATA if event.item is Item.STOP else gate.Item(event.item.value)
    (arrived,) = gate.step(member.gate, gate.Arrive(event.channel, kind))
    if Rejected() in arrived.observations:
        return rejected(state, *arrived.rules)
    stopped = (event.channel,) if event.item is Item.STOP else ()
    member = Member(arrived.state, member.stopped + stopped, member.drains)
    members = replace(state.members, event.member, member)
    if Available() not in arrived.observations:
        return (Outcome(attrs.evolve(state, members=members), (), ("GATE-26", *arrived.rules)),)
    signal = () if state.available else (Available(),)
    queued = State(state.config, members, (*state.queue, event.member), available=True)
    return (Outcome(queued, signal, ("GATE-27", "GATE-26", *arrived.rules)),)


def on_poll(state: State) -> Outcome[State, Observation]:
    if is_finished(state):
        return Outcome(state, (Nothing(),), ("GATE-27",))
    if not state.queue:
        return Outcome(attrs.evolve(state, available=False), (Nothing(),), ("GATE-27", "GATE-26"))
    index, *others = state.queue
    polled = gate.on_poll(state.members[index].gate)
    taken = gate.polled_item(polled)
    assert taken is not None
    member, item = take(attrs.evolve(state.members[index], gate=polled.state), taken)
    members = replace(state.members, index, member)
    queue = (*others, index) if taken.more else tuple(others)
    after = State(state.config, members, queue, available=True)
    seen: list[Observation] = [Polled(compute_channel(state.config, index, taken.channel), item, bool(queue))]
    ended = compute_union_end(tuple(map(end_of_member, members)))
    if taken.item is gate.Item.END_OF_DATA and ended is not EndOfData.NOT_YET:
        seen.append(DataEnded(ended is EndOfData.DRAINED))
    if is_finished(after):
        seen.append(Finished())
    last = len(seen) > 1 or not taken.more
    return Outcome(after, tuple(seen), ("GATE-27", "GATE-26") if last else ("GATE-26", "GATE-27"))


def take(member: Member, taken: gate.Polled) -> tuple[Member, Item]:
    """The member with the end of data noted, if it is one; and what the item is."""
    if taken.item is not gate.Item.END_OF_DATA:
        return member, Item(taken.item.value)
    drain = taken.channel not in member.stopped
    noted = attrs.evolve(member, drains=(*member.drains, drain))
    return noted, Item.END_OF_DATA if drain else Item.STOP


def compute_channel(config: Config, member: int, channel: int) -> int:
    """GATE-26: the channels of the members before it come first."""
    return sum(config.members[:member]) + channel


def end_of_member(member: Member) -> EndOfData:
    return compute_end_of_data(len(member.gate.channels), member.drains)


def compute_union_end(ends: tuple[EndOfData, ...]) -> EndOfData:
    """GATE-27: not before the last member; and drained only if every member is."""
    if EndOfData.NOT_YET in ends:
        return EndOfData.NOT_YET
    return EndOfData.STOPPED if EndOfData.STOPPED in ends else EndOfData.DRAINED


def is_finished(state: State) -> bool:
    return all(gate.is_finished(member.gate) for member in state.members)


# --- claims ---------------------------------------------------------------------------------------------------


@always("GATE-26", "GATE-27")
def serves_the_head(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """One item of the member at the head is handed out, and says truly whether any member has more."""
    for seen in outcome.observations:
        if isinstance(seen, Polled):
            first = compute_channel(before.config, before.queue[0], 0)
            own = first <= seen.channel < first + before.config.members[before.queue[0]]
            moved_up = outcome.state.queue[: len(before.queue) - 1] == before.queue[1:]
            more = any(member.gate.queue for member in outcome.state.members)
            return own and moved_up and seen.more == more
    return True


@always("GATE-27")
def signals_each_rise(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Becoming available is signalled, and the union is available while any member has something.

    And an unavailable union has nothing to hand out.
    """
    after = outcome.state
    says_so = (Available() in outcome.observations) == (after.available and not before.available)
    return says_so and (after.available or not (after.queue or is_finished(after)))


@always("GATE-27")
def finishes_with_the_last_member(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The union is finished with its last member, and says so once."""
    return (Finished() in outcome.observations) == (is_finished(outcome.state) and not is_finished(before))


@invariant("GATE-27", "GATE-26")
def no_member_is_missed(state: State) -> bool:
    """A member waits in the queue, once, exactly if it has something."""
    return sorted(state.queue) == [i for i, one in enumerate(state.members) if one.gate.queue]


@sometimes("GATE-26")
def another_member_is_next(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An item of one member is handed out while another member waits."""
    return len(before.queue) > 1 and any(isinstance(seen, Polled) for seen in outcome.observations)


@sometimes("GATE-27")
def all_members_are_drained(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The data of every member ends with drain."""
    return DataEnded(drained=True) in outcome.observations


# --- laws -----------------------------------------------------------------------------------------------------


def small_unions() -> Iterator[tuple[tuple[int, ...]]]:
    yield from ((members,) for count in (2, 3) for members in product(range(1, 4), repeat=count))


@law("GATE-26", samples=small_unions)
def numbered_through(members: tuple[int, ...]) -> bool:
    """Channels are numbered through."""
    config = Config(members)
    numbers = [compute_channel(config, member, one) for member, many in enumerate(members) for one in range(many)]
    return numbers == list(range(sum(members)))


def ends_of_two_members() -> Iterator[tuple[tuple[tuple[bool, ...], ...]]]:
    some = tuple(drains for count in range(3) for drains in product((False, True), repeat=count))
    yield from ((pair,) for pair in product(some, repeat=2))


@law("GATE-27", samples=ends_of_two_members)
def ends_as_one_gate(drains: tuple[tuple[bool, ...], ...]) -> bool:
    """The data of a union ends when and as that of one gate with all the channels would.

    Two members of two channels end like one gate of four.
    """
    ends = tuple(compute_end_of_data(2, member) for member in drains)
    return compute_union_end(ends) == compute_end_of_data(4, drains[0] + drains[1])


COMPONENT = Component.of(__name__, title="The union of gates")
