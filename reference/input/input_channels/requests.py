"""How long to go on asking for a partition that is not there yet.

Consumers may be deployed before their producers. A local channel asks again after a delay that doubles; a remote
channel has its request parked at the producer, who answers after a while, and asks again until it has waited enough.

Choices. `InputChannel.increaseBackoff` and that of `RemoteInputChannel`.
"""

from collections.abc import Iterator
from itertools import product

from tidegate.reference.claims import law


def next_local_delay(current: int, initial: int, maximum: int) -> int | None:
    """GATE-22: the initial delay, then twice the last one, up to the maximum; none after that. An initial 0 is none."""
    if initial == 0:
        return None
    if current == 0:
        return initial
    return min(2 * current, maximum) if current < maximum else None


def next_remote_wait(current: int, timeout: int, maximum: int) -> int | None:
    """GATE-22: what was waited altogether, if one more request may follow."""
    waited = current + timeout
    return waited if timeout > 0 and waited < 2 * maximum else None


# --- laws -----------------------------------------------------------------------------------------------------


def local_delays(initial: int, maximum: int) -> tuple[int, ...]:
    delays: list[int] = []
    delay = next_local_delay(0, initial, maximum)
    while delay is not None:
        delays.append(delay)
        delay = next_local_delay(delay, initial, maximum)
    return tuple(delays)


def delays() -> Iterator[tuple[int, int]]:
    yield from ((initial, maximum) for initial, maximum in product(range(5), range(40)) if initial <= maximum)
    yield 100, 10_000


@law("GATE-22", samples=delays)
def delays_double(initial: int, maximum: int) -> bool:
    """A local channel asks again after delays that double, up to the maximum, and once with that.

    As many delays as powers of two fit below the maximum, and then the maximum itself, once.
    """
    below = [initial * 2**power for power in range(20) if 0 < initial * 2**power < maximum]
    return local_delays(initial, maximum) == ((*below, maximum) if initial else ())


def timeouts() -> Iterator[tuple[int, int]]:
    yield from product((0, 1, 3, 10), (0, 1, 5, 15, 20))


@law("GATE-22", samples=timeouts)
def remote_waits_are_summed(timeout: int, maximum: int) -> bool:
    """A remote channel asks again as long as it has waited less than twice the maximum."""
    count, waited = 0, 0
    while (waiting := next_remote_wait(waited, timeout, maximum)) is not None:
        count, waited = count + 1, waiting
    allowed = [n for n in range(1, 200) if timeout and n * timeout < 2 * maximum]
    return count == len(allowed)
