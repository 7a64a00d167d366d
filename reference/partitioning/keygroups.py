"""Key groups: which of the consumers a key belongs to, whatever their number.

A key is reduced to its Java hash code, the hash code is scrambled, and the result is folded into a fixed number of
*key groups*, the maximum parallelism. Consumers own contiguous ranges of groups. State is stored by group, so that a
job can be continued with another parallelism by dealing out the groups anew: no key ever changes its group.

Choices. The arithmetic is Java's, with 32-bit wrap-around, as in KeyGroupRangeAssignment and MathUtils.murmurHash of
every Flink since 1.1. The constants are those of the public Murmur3.
"""

from collections.abc import Iterator

from tidegate.reference.claims import law
from tidegate.reference.model import InvalidInputError
from tidegate.reference.partitioning.keys import to_int32

LEAST_DEFAULT = 2**7
MOST_KEY_GROUPS = 2**15

# --- key groups -----------------------------------------------------------------------------------------------


def compute_murmur(code: int) -> int:
    """PART-7: Murmur3 of one 32-bit block with seed 0, made non-negative."""
    mixed = (code * 0xCC9E2D51) % 2**32
    mixed = rotate_left(mixed, 15)
    mixed = (mixed * 0x1B873593) % 2**32
    mixed = rotate_left(mixed, 13)
    mixed = (mixed * 5 + 0xE6546B64) % 2**32
    mixed ^= 4  # the length of the block in bytes
    mixed ^= mixed >> 16
    mixed = (mixed * 0x85EBCA6B) % 2**32
    mixed ^= mixed >> 13
    mixed = (mixed * 0xC2B2AE35) % 2**32
    mixed ^= mixed >> 16
    signed = to_int32(mixed)
    # The most negative value has no absolute value in 32 bits.
    return 0 if signed == -(2**31) else abs(signed)


def rotate_left(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) % 2**32


def compute_key_group(code: int, max_parallelism: int) -> int:
    """PART-6, first step: from the hash code to the key group."""
    return compute_murmur(code) % max_parallelism


def compute_owner(key_group: int, parallelism: int, max_parallelism: int) -> int:
    """PART-6, second step: from the key group to the subtask that owns it."""
    return key_group * parallelism // max_parallelism


def compute_owned_range(subtask: int, parallelism: int, max_parallelism: int) -> range:
    """PART-9: the key groups that a subtask owns."""
    first = (subtask * max_parallelism + parallelism - 1) // parallelism
    last = ((subtask + 1) * max_parallelism - 1) // parallelism
    return range(first, last + 1)


def compute_default_max_parallelism(parallelism: int) -> int:
    """PART-10: half as much again, rounded up to a power of two, within bounds."""
    if not 1 <= parallelism <= MOST_KEY_GROUPS:
        raise InvalidInputError(f"parallelism must be in 1..{MOST_KEY_GROUPS}, not {parallelism}")
    grown = parallelism + parallelism // 2
    power_of_two = 1 << (grown - 1).bit_length()
    return min(max(power_of_two, LEAST_DEFAULT), MOST_KEY_GROUPS)


def compute_effective_max_parallelism(configured: int, of_target: int) -> int:
    """PART-11: what the writer's target says counts, where it says anything."""
    return of_target if of_target > 0 else configured


# --- laws -----------------------------------------------------------------------------------------------------


def known_murmurs() -> Iterator[tuple[int, int]]:
    """As MathUtils.murmurHash answers; the last two come out as the most negative value and as 0 before the sign."""
    yield from ((0, 593689054), (1, 68075478), (-1, 1982413648), (2, 1085422463), (42, 1134849565), (97, 1455541201))
    yield from ((2**31 - 1, 1653689534), (-(2**31), 1718298732), (-2089875627, 0), (-1035494534, 0))


@law("PART-7", samples=known_murmurs)
def murmur(code: int, scrambled: int) -> bool:
    """Hash codes are scrambled by Murmur3, without sign."""
    return compute_murmur(code) == scrambled


def small_parallelisms() -> Iterator[tuple[int, int]]:
    """Also more subtasks than key groups: then some own nothing."""
    yield from ((parallelism, most) for most in (1, 2, 3, 7, 16, 127, 128, 129) for parallelism in range(1, most + 3))


@law("PART-9", "PART-6", samples=small_parallelisms)
def owned_ranges_are_preimages(parallelism: int, max_parallelism: int) -> bool:
    """The range of a subtask holds exactly the key groups that are sent to it."""
    owners = [compute_owner(group, parallelism, max_parallelism) for group in range(max_parallelism)]
    return all(
        [group for group, owner in enumerate(owners) if owner == subtask]
        == list(compute_owned_range(subtask, parallelism, max_parallelism))
        for subtask in range(parallelism)
    )


def observed_default_max_parallelisms() -> Iterator[tuple[int, int]]:
    yield from ((1, 128), (85, 128), (86, 256), (170, 256), (171, 256), (200, 512), (1000, 2048))
    yield from ((21845, 32768), (21846, 32768), (32768, 32768))


@law("PART-10", samples=observed_default_max_parallelisms)
def known_default_max_parallelisms(parallelism: int, most: int) -> bool:
    """The default maximum parallelism of some parallelisms."""
    return compute_default_max_parallelism(parallelism) == most


def parallelisms_around_powers_of_two() -> Iterator[tuple[int]]:
    powers = [2**exponent for exponent in range(3, 15)]
    yield from ((power + off,) for power in powers for off in (-1, 0, 1))
    yield from ((power * 2 // 3 + off,) for power in powers for off in (-1, 0, 1))


@law("PART-10", samples=parallelisms_around_powers_of_two)
def default_leaves_room_to_grow(parallelism: int) -> bool:
    """The default maximum parallelism is a power of two at least half above the parallelism, or the upper bound."""
    most = compute_default_max_parallelism(parallelism)
    return most.bit_count() == 1 and (most >= parallelism + parallelism // 2 or most == MOST_KEY_GROUPS)


def configured_and_target_groups() -> Iterator[tuple[int, int, int]]:
    yield from ((configured, of_target, 4) for configured in (4, 7, 128) for of_target in (-1, 0, 4, 7, 128))


@law("PART-11", samples=configured_and_target_groups)
def channel_is_where_the_state_is(configured: int, of_target: int, parallelism: int) -> bool:
    """A key is sent to the subtask that owns its key group as the target counts groups."""
    most = compute_effective_max_parallelism(configured, of_target)
    counted_by_target = of_target if of_target > 0 else configured
    return all(
        group in compute_owned_range(compute_owner(group, parallelism, most), parallelism, counted_by_target)
        for group in range(most)
    )
