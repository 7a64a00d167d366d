"""What an unaligned checkpoint saves of a channel: everything that its barrier overtook.

A barrier that overtakes is handed out before the data that waits in its channel. That data, sent before the barrier
and not processed yet, becomes part of the checkpoint: what waits when the checkpoint starts, and what comes in
afterwards until the barrier does.

Choices. RemoteInputChannel and ChannelStatePersister, one channel at a time. The barrier handler sees no data, so these
are plain functions beside it.
"""

from collections.abc import Iterator
from itertools import product

import attrs

from tidegate.reference.claims import law
from tidegate.reference.mailbox import step as mailbox
from tidegate.reference.mailbox.values import SEMANTICS, Config, Kind, Loop, MailRun, Put, State, Thread
from tidegate.reference.model import reach


@attrs.frozen
class Channel:
    """`waiting` is the data not polled yet, by number; `barriers` are those that overtook it and were not polled yet.

    `last` is the latest barrier that came in, and `cut` how much data came before it. `saving` is the checkpoint that
    still waits for its barrier on this channel.
    """

    arrived: int = 0
    waiting: tuple[int, ...] = ()
    polled: tuple[int, ...] = ()
    barriers: tuple[int, ...] = ()
    last: int = 0
    cut: int = 0
    saving: int | None = None
    saved: tuple[int, ...] = ()


class SubsumedError(Exception):
    """The checkpoint is older than a barrier that was read already."""


def on_data(channel: Channel) -> Channel:
    """BARR-14: data that comes in while the checkpoint waits for this channel's barrier is saved."""
    number = channel.arrived
    saved = (*channel.saved, number) if channel.saving is not None else channel.saved
    return attrs.evolve(channel, arrived=number + 1, waiting=(*channel.waiting, number), saved=saved)


def on_barrier(channel: Channel, checkpoint: int) -> Channel:
    """BARR-15: it goes ahead of the data, behind other barriers."""
    saving = None if channel.saving is not None and checkpoint >= channel.saving else channel.saving
    barriers = (*channel.barriers, checkpoint)
    return attrs.evolve(channel, barriers=barriers, last=checkpoint, cut=channel.arrived, saving=saving)


def on_poll(channel: Channel) -> Channel:
    if channel.barriers:
        return attrs.evolve(channel, barriers=channel.barriers[1:])
    if not channel.waiting:
        return channel
    first, *rest = channel.waiting
    return attrs.evolve(channel, waiting=tuple(rest), polled=(*channel.polled, first))


def on_start(channel: Channel, checkpoint: int) -> Channel:
    """BARR-14: what waits is saved, up to the barrier if it is here. BARR-16: an older checkpoint is too late."""
    if checkpoint < channel.last:
        raise SubsumedError
    if checkpoint == channel.last:
        return attrs.evolve(channel, saved=tuple(number for number in channel.waiting if number < channel.cut))
    return attrs.evolve(channel, saved=channel.waiting, saving=checkpoint)


# --- laws -----------------------------------------------------------------------------------------------------


def moves_of_a_channel() -> Iterator[tuple[str, ...]]:
    for length in range(7):
        yield from product(("data", "poll", "barrier", "start"), repeat=length)


@law("BARR-14", "BARR-13", samples=moves_of_a_channel)
def saves_what_was_overtaken(*moves: str) -> bool:
    """What was processed before an unaligned checkpoint and what it saves are together all that was sent before the
    barrier, each element once.
    """
    channel = Channel()
    sent_before: int | None = None
    done: tuple[int, ...] | None = None
    for move in (*moves, "barrier", "poll"):
        if move == "data":
            channel = on_data(channel)
        elif move == "barrier" and sent_before is None:
            sent_before, channel = channel.arrived, on_barrier(channel, 1)
        elif move == "start" or (move == "poll" and channel.barriers):
            # Whoever reads the barrier starts the checkpoint, unless another channel's barrier did.
            if done is None:
                done, channel = channel.polled, on_start(channel, 1)
            channel = channel if move == "start" else on_poll(channel)
        elif move == "poll":
            channel = on_poll(channel)
    assert done is not None
    assert sent_before is not None
    return sorted(done + channel.saved) == list(range(sent_before))


def small_numbers() -> Iterator[tuple[int, int, int]]:
    yield from product(range(4), range(4), range(3))


@law("BARR-15", samples=small_numbers)
def barrier_overtakes(before: int, polls: int, behind: int) -> bool:
    """An unaligned barrier is handed out before the data that waits, and changes nothing in the order of the data.

    Data, some of it polled, then a barrier, then more data: the next poll gives the barrier, then all in order.
    """
    channel = Channel()
    for _data in range(before):
        channel = on_data(channel)
    for _poll in range(polls):
        channel = on_poll(channel)
    channel = on_barrier(channel, 1)
    for _data in range(behind):
        channel = on_data(channel)
    after = on_poll(channel)
    overtaken = after.polled == channel.polled and not after.barriers
    for _poll in range(before + behind):
        after = on_poll(after)
    return overtaken and after.polled == tuple(range(before + behind))


def checkpoints_and_barriers() -> Iterator[tuple[int, tuple[int, ...]]]:
    for barriers in ((), (1,), (2,), (3,), (1, 2), (2, 3), (1, 3), (1, 2, 3)):
        yield from ((checkpoint, barriers) for checkpoint in (1, 2, 3))


@law("BARR-16", "BARR-14", samples=checkpoints_and_barriers)
def older_checkpoint_is_too_late(checkpoint: int, barriers: tuple[int, ...]) -> bool:
    """A checkpoint that starts behind a newer barrier fails; an older barrier does not cut a newer checkpoint.

    One data before each barrier and one behind all; nothing is polled.
    """
    channel = Channel()
    for barrier in barriers:
        channel = on_barrier(on_data(channel), barrier)
    channel = on_data(channel)
    try:
        saved = on_start(channel, checkpoint).saved
    except SubsumedError:
        return any(barrier > checkpoint for barrier in barriers)
    # A barrier of an older checkpoint is no cut.
    due = len(barriers) if checkpoint in barriers else len(barriers) + 1
    return saved == tuple(range(due)) and not any(barrier > checkpoint for barrier in barriers)


def play_until_trigger(semantics: str, elements: tuple[str, ...], mails: int) -> tuple[int, int]:
    """How much data is processed, and how many other mails are run, before the mail that triggers the checkpoint.

    One call of the input reads until a barrier ends it. The trigger is a mail, urgent where mails can be urgent; while
    the input was reading, others have put mails as well.
    """
    state = State(Config(semantics))
    kind = Kind.URGENT if semantics == SEMANTICS[0] else Kind.NORMAL
    data = others = 0
    while True:
        (outcome,) = mailbox.step(state, Loop())
        state = outcome.state
        for seen in outcome.observations:
            if seen == MailRun(0):
                return data, others
            others += isinstance(seen, MailRun)
        puts = [Put(number, 0, Kind.NORMAL, Thread.OTHER) for number in range(1, mails + 1)]
        while elements:
            element, *rest = elements
            elements = tuple(rest)
            if element == "barrier":
                puts.append(Put(0, 0, kind, Thread.MAILBOX))
                break
            data += 1
        state = reach(mailbox.step, state, puts)


def inputs_and_mails() -> Iterator[tuple[str, int, int, int]]:
    yield from product(SEMANTICS, range(3), range(2), range(4))


@law("BARR-18", samples=inputs_and_mails)
def no_data_between_barrier_and_trigger(semantics: str, before: int, behind: int, mails: int) -> bool:
    """The task takes its part of a checkpoint before it reads on behind the barrier; where mails can be urgent, also
    before all mails that wait.
    """
    data, others = play_until_trigger(semantics, ("data",) * before + ("barrier",) + ("data",) * behind, mails)
    return data == before and others == (0 if semantics == SEMANTICS[0] else mails)
