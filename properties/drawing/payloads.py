"""Payloads of records and their lengths: up to the last byte of a buffer, one more, one less."""

from random import Random

from tidegate.reference.spanning.records import HEADER_BYTES

ALPHABETS = (b"\x00", b"\x00\x01", b"\x00\x7f\x80\xff", bytes(range(1, 100)), bytes(range(256)))


def draw_bytes(random: Random, alphabet: bytes, length: int) -> bytes:
    """Single random bytes if they are few; otherwise a pattern that no buffer size divides."""
    if length <= 64:
        return bytes(random.choices(alphabet, k=length))
    pattern = bytes(random.choices(alphabet, k=67))
    return (pattern * (length // len(pattern) + 1))[:length]


def draw_length_for(random: Random, room: int, size: int) -> int:
    """The length of a payload for a buffer with that much room, if later buffers have `size`."""
    style = random.random()
    if style < 0.12:
        return 0
    if style < 0.32:
        return random.randint(1, 12)
    if style < 0.5:
        return random.randint(0, min(3 * size + HEADER_BYTES, 300))
    whole = size * random.choice((0, 0, 0, 1, 1, 2)) if size <= 1000 else 0
    if style < 0.8:
        # The last byte fills the buffer, or is one too few, or one too many.
        return max(0, room + whole - HEADER_BYTES + random.choice((-1, 0, 0, 0, 1)))
    # The next header will be cut after one, two or three bytes, or just not.
    return max(0, room + whole - HEADER_BYTES - random.randint(1, HEADER_BYTES))


def draw_long_length(random: Random, size: int) -> int:
    """Beyond the first array of a reader; at times beyond its memory, unless that needs too many buffers."""
    if size >= 1000 and random.random() < 0.1:
        return random.choice((102_399, 102_400, 102_401))
    return random.choice((1020, 1024, 1025, 2047, 2049, 3000))
