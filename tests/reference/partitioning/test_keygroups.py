"""Keys, hash codes and key groups, against known answers of the JVM and of Flink 2.3.0."""

from random import Random

import pytest

from tests.reference.walking import claim
from tidegate.reference.elements import MAX, MIN
from tidegate.reference.model import InvalidInputError
from tidegate.reference.partitioning import java_random, keygroups, keys
from tidegate.reference.partitioning import loads as loads_module
from tidegate.reference.partitioning.keys import IntKey, LongKey, StringKey


@pytest.mark.rule("PART-8")
@pytest.mark.parametrize(
    ("key", "code"),
    [
        (StringKey(""), 0),
        (StringKey("a"), 97),
        (StringKey("hello"), 99162322),
        (StringKey("polygenelubricants"), -(2**31)),
        (StringKey("\U0001f600"), 1772899),
        (StringKey("Aa"), 2112),
        (StringKey("BB"), 2112),
        (StringKey("\uffff"), 65535),
        (IntKey(-(2**31)), -(2**31)),
        (IntKey(-7), -7),
        (LongKey(7), 7),
        (LongKey(-7), 6),
        (LongKey(2**31), -(2**31)),
        (LongKey(2**53 + 1), 2**21 + 1),
        (LongKey(MIN), -(2**31)),
        (LongKey(MAX), -(2**31)),
    ],
)
def test_part_8_hash_code_of_a_key(key, code):
    assert keys.compute_hash_code(key) == code


@pytest.mark.rule("PART-8")
def test_part_8_string_hash_is_a_polynomial_over_utf_16_units():
    random = Random(8)
    for _ in range(200):
        text = "".join(random.choices("aZ\x00é中\uffff\U00010000\U0001f600", k=random.randint(0, 30)))
        encoded = text.encode("utf-16-le")
        units = [int.from_bytes(encoded[i : i + 2], "little") for i in range(0, len(encoded), 2)]
        exact = sum(unit * 31**power for power, unit in enumerate(reversed(units)))
        assert (keys.compute_string_hash(text) - exact) % 2**32 == 0
        assert -(2**31) <= keys.compute_string_hash(text) < 2**31


@pytest.mark.rule("PART-8")
def test_part_8_booleans_and_doubles():
    assert [keys.compute_boolean_hash(value) for value in (True, False)] == [1231, 1237]
    assert keys.compute_double_hash(0.0) != keys.compute_double_hash(-0.0)
    assert keys.compute_double_hash(float("nan")) == keys.compute_double_hash(float("-nan")) == 2146959360
    assert keys.compute_double_hash(-1.5) == -1074266112


@pytest.mark.parametrize(
    ("make", "value"),
    [(IntKey, 2**31), (IntKey, -(2**31) - 1), (LongKey, 2**63), (LongKey, -(2**63) - 1)]
    + [(StringKey, text) for text in ("\ud83d", "a\udc00", "\ude00\ud83d", "\udfffb")],
)
def test_values_outside_their_type_are_no_keys(make, value):
    with pytest.raises(InvalidInputError):
        make(value)


@pytest.mark.rule("PART-7")
@pytest.mark.parametrize(
    ("code", "scrambled"),
    [
        *((0, 593689054), (1, 68075478), (-1, 1982413648), (42, 1134849565), (2**31 - 1, 1653689534)),
        # What comes out as the most negative number, as 0, as the largest, as the most negative but one.
        *((-2089875627, 0), (-1035494534, 0), (994512208, 2**31 - 1), (1814469223, 2**31 - 1)),
    ],
)
def test_part_7_murmur(code, scrambled):
    assert keygroups.compute_murmur(code) == scrambled


def murmur3(data: bytes) -> int:
    """The public Murmur3, 32 bits, seed 0, as it is defined for whole blocks of four bytes."""
    state = 0
    for at in range(0, len(data), 4):
        block = int.from_bytes(data[at : at + 4], "little") * 0xCC9E2D51 & 0xFFFFFFFF
        block = (block << 15 | block >> 17) & 0xFFFFFFFF
        state ^= block * 0x1B873593 & 0xFFFFFFFF
        state = (state << 13 | state >> 19) & 0xFFFFFFFF
        state = state * 5 + 0xE6546B64 & 0xFFFFFFFF
    state ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        state = (state ^ state >> shift) * factor & 0xFFFFFFFF
    return state


@pytest.mark.rule("PART-7")
def test_part_7_is_the_absolute_value_of_murmur3():
    # A published test vector of Murmur3 first: four zero bytes.
    assert murmur3(bytes(4)) == 0x2362F9DE
    random = Random(7)
    for code in [random.randint(-(2**31), 2**31 - 1) for _ in range(500)]:
        raw = int.from_bytes(murmur3(code.to_bytes(4, "little", signed=True)).to_bytes(4, "big"), "big", signed=True)
        assert keygroups.compute_murmur(code) == abs(raw)


@pytest.mark.rule("PART-9")
@pytest.mark.parametrize(("parallelism", "most"), [(1, 1), (3, 128), (128, 128), (130, 128), (5, 7), (300, 32768)])
def test_part_9_ranges_cover_all_groups_once(parallelism, most):
    ranges = [keygroups.compute_owned_range(subtask, parallelism, most) for subtask in range(parallelism)]
    assert [group for owned in ranges for group in owned] == list(range(most))
    for subtask, owned in enumerate(ranges):
        assert {keygroups.compute_owner(group, parallelism, most) for group in owned} <= {subtask}


@pytest.mark.rule("PART-10")
@pytest.mark.parametrize(
    ("parallelism", "most"),
    [(1, 128), (85, 128), (86, 256), (170, 256), (171, 256), (200, 512), (21845, 32768), (32768, 32768)],
)
def test_part_10_default_max_parallelism(parallelism, most):
    assert keygroups.compute_default_max_parallelism(parallelism) == most


@pytest.mark.rule("PART-10")
@pytest.mark.parametrize("parallelism", [-1, 0, 32769])
def test_part_10_there_is_no_such_parallelism(parallelism):
    with pytest.raises(InvalidInputError):
        keygroups.compute_default_max_parallelism(parallelism)


@pytest.mark.rule("PART-11")
@pytest.mark.parametrize(("configured", "of_target", "effective"), [(128, 4, 4), (128, 0, 128), (128, -1, 128)])
def test_part_11_the_target_decides(configured, of_target, effective):
    assert keygroups.compute_effective_max_parallelism(configured, of_target) == effective


@pytest.mark.rule("PART-4")
def test_part_4_rejects_draws_from_an_incomplete_multiple():
    channels = 2**30 + 1
    state = java_random.scramble(42)
    unchecked = []
    for _ in range(8):
        state = java_random.advance(state)
        unchecked.append((state >> 17) % channels)
    kept = java_random.compute_draws(42, channels, 4)
    assert set(kept) < set(unchecked)
    assert kept == (117392763, 102948884, 662969970, 595021505)


@pytest.mark.rule("PART-20")
@pytest.mark.parametrize(
    ("loads", "last", "traversed", "channel"),
    [
        ([(2, 5), (0, 9), (0, 0)], -1, 3, 1),  # the first idle one, though more is queued there
        ([(2, 5), (1, 9), (1, 8)], -1, 3, 2),
        ([(2, 5), (1, 8), (1, 8)], -1, 3, 1),
        ([(2, 5), (1, 8), (1, 8)], 1, 3, 2),  # in turn from the last one
        ([(2, 5), (1, 8), (0, 0)], -1, 2, 1),  # not looked at
        ([(2, 5), (1, 8), (1, 8)], 2, 1, 0),
        ([(2, 5)], 0, 4, 0),
    ],
)
def test_part_20_idlest_channel(loads, last, traversed, channel):
    assert (
        loads_module.compute_idlest_channel(tuple(loads_module.Load(*load) for load in loads), last, traversed)
        == channel
    )


@pytest.mark.parametrize("value", [-(2**31), 2**31 - 1])
def test_the_least_and_the_greatest_int_are_keys(value):
    assert IntKey(value).value == value


@pytest.mark.parametrize(
    ("value", "bits", "rotated"), [(2**31, 1, 1), (2**32 - 1, 13, 2**32 - 1), (0x8000_0001, 15, 0xC000)]
)
def test_what_is_rotated_out_comes_in_again(value, bits, rotated):
    assert keygroups.rotate_left(value, bits) == rotated


@pytest.mark.parametrize("unit", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_an_unpaired_surrogate_is_no_key(unit):
    with pytest.raises(InvalidInputError):
        StringKey(f"a{chr(unit)}b")


@pytest.mark.parametrize("unit", [0xD7FF, 0xE000])
def test_what_stands_around_the_surrogates_is_a_key(unit):
    assert StringKey(chr(unit)).value == chr(unit)


@pytest.mark.rule("PART-11")
def test_part_11_a_target_with_a_single_key_group_decides():
    assert keygroups.compute_effective_max_parallelism(128, 1) == 1


# --- laws, told of what is wrong --------------------------------------------------------------------------------


def test_the_range_of_each_subtask_must_be_right(monkeypatch):
    right = keygroups.compute_owned_range
    holds = claim("partitioner", "owned-ranges-are-preimages")
    assert holds(3, 7)
    monkeypatch.setattr(
        keygroups, "compute_owned_range", lambda subtask, *more: range(0) if subtask == 1 else right(subtask, *more)
    )
    assert not holds(3, 7)


@pytest.mark.parametrize(
    ("most", "parallelism", "is_right"),
    [(16, 11, True), (16, 12, False), (12, 3, False), (18, 12, False), (32, 12, True), (2**15, 12, True)],
)
def test_a_default_is_a_power_of_two_and_half_as_much_again(monkeypatch, most, parallelism, is_right):
    monkeypatch.setattr(keygroups, "compute_default_max_parallelism", lambda _parallelism: most)
    assert claim("partitioner", "default-leaves-room-to-grow")(parallelism) == is_right


def test_a_target_with_a_single_key_group_counts_by_itself(monkeypatch):
    holds = claim("partitioner", "channel-is-where-the-state-is")
    assert holds(7, 1, 4)
    monkeypatch.setattr(keygroups, "compute_effective_max_parallelism", lambda configured, _of_target: configured)
    assert not holds(7, 1, 4)
