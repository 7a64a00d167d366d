"""Which consumers a producer is connected to, and which of them a record goes to."""

_WORD = 0xFFFFFFFF
#: The bounds of the default number of key groups of a keyed edge.
_FEWEST_GROUPS, _MOST_GROUPS = 2**7, 2**15


def compute_consumers(pattern: str, producers: int, consumers: int) -> list[list[int]]:
    """For each producer its consumers, in the order of its subpartitions."""
    if pattern == "all_to_all":
        return [list(range(consumers)) for _ in range(producers)]
    if producers >= consumers:
        owner = {
            p: c for c in range(consumers) for p in range(c * producers // consumers, (c + 1) * producers // consumers)
        }
        return [[owner[producer]] for producer in range(producers)]
    runs = []
    for producer in range(producers):
        first = -(-producer * consumers // producers)
        fed = range(first, -(-(producer + 1) * consumers // producers))
        runs.append(sorted(fed, key=lambda consumer: consumer % len(fed)))
    return runs


def compute_key_groups(consumers: int) -> int:
    """One and a half times the consumers, rounded up to a power of two, within the bounds."""
    wanted = consumers + consumers // 2
    return min(max(1 << (wanted - 1).bit_length(), _FEWEST_GROUPS), _MOST_GROUPS)


def choose_consumer(key: str, consumers: int, key_groups: int) -> int:
    """The index of the owner of a key: Java's hash code, murmur, key group, range of key groups."""
    code = 0
    raw = key.encode("utf-16-be")
    for high, low in zip(raw[::2], raw[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & _WORD
    return mix(code) % key_groups * consumers // key_groups


def mix(code: int) -> int:
    """The murmur hash of one int, as a non-negative number."""
    code = code * 0xCC9E2D51 & _WORD
    code = (code << 15 | code >> 17) & _WORD
    code = code * 0x1B873593 & _WORD
    code = (code << 13 | code >> 19) & _WORD
    code = (code * 5 + 0xE6546B64 & _WORD) ^ 4
    code = (code ^ code >> 16) * 0x85EBCA6B & _WORD
    code = (code ^ code >> 13) * 0xC2B2AE35 & _WORD
    code ^= code >> 16
    signed = code - 2**32 if code >= 2**31 else code
    return abs(signed) if signed != -(2**31) else 0
