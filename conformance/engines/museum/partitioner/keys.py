"""From a key to its channel: hash code, murmur, key group, PART-6 … PART-8."""

import unicodedata

from tidegate.conformance.engines import wire

_WORD = 0xFFFFFFFF


def get_units(text: str, bug: str) -> list[int]:
    """The UTF-16 units of a string, or what an engine in another language takes for them."""
    if bug == "partitioner-code-points":
        return [ord(character) for character in text]
    if bug == "partitioner-utf8-bytes":
        return list(text.encode())
    if bug == "partitioner-normalises-strings":
        text = unicodedata.normalize("NFC", text)
    elif bug == "partitioner-trims-strings":
        text = text.strip()
    try:
        raw = text.encode("utf-16-be")
    except UnicodeEncodeError as error:
        raise wire.BadRequestError("a string key has an unpaired surrogate") from error
    units = [high << 8 | low for high, low in zip(raw[::2], raw[1::2], strict=True)]
    if bug == "partitioner-string-hash-of-256":
        return units[:256]
    if bug == "partitioner-string-hash-samples" and len(units) >= 16:
        return units[:: len(units) // 8]
    return units


def hash_code(key: wire.Json, bug: str) -> int:
    kind = wire.get_choice(key, "type", ("string", "int", "long"))
    if kind == "string":
        code = 0
        for unit in get_units(wire.get_string(key, "value"), bug):
            code = (31 * code + unit) & _WORD
        return code
    if kind == "int":
        number = wire.get_integer(key, "value")
        if not -(2**31) <= number < 2**31:
            raise wire.BadRequestError(f"an int key has 32 bits: {number}")
        if bug == "partitioner-int-hashed-as-long":
            return (number ^ number >> 32) & _WORD
        return number & _WORD
    number = wire.get_long(key, "value")
    if bug == "partitioner-long-truncated" or (bug == "partitioner-small-long-as-int" and -(2**31) <= number < 2**31):
        return number & _WORD
    return (number ^ number >> 32) & _WORD


def murmur(code: int, bug: str) -> int:
    code = code * 0xCC9E2D51 & _WORD
    code = (code << 15 | code >> 17) & _WORD
    code = code * 0x1B873593 & _WORD
    code = (code << 13 | code >> 19) & _WORD
    code = code * 0xE6546B64 & _WORD if bug == "partitioner-murmur-multiplies" else code * 5 + 0xE6546B64 & _WORD
    if bug != "partitioner-murmur-length-forgotten":
        code ^= 4
    code ^= code >> 16
    code = code * 0x85EBCA6B & _WORD
    code ^= code >> 13
    code = code * 0xC2B2AE35 & _WORD
    code ^= code >> 16
    if bug == "partitioner-murmur-unsigned":
        return code
    signed = wire.to_int32(code)
    if bug == "partitioner-murmur-sign-cleared":
        return signed & 0x7FFFFFFF
    if signed == -(2**31):
        return 2**31 if bug == "partitioner-lowest-hash-overflows" else 0
    return abs(signed)


def choose_channel(key: wire.Json, channels: int, max_parallelism: int, bug: str) -> int:
    code = hash_code(key, bug)
    if bug == "partitioner-key-group-without-murmur":
        group = abs(wire.to_int32(code)) % max_parallelism
    elif bug == "partitioner-hash-without-key-groups":
        return murmur(code, bug) % channels
    elif bug == "partitioner-negative-remainder":
        mixed = wire.to_int32(murmur(code, "partitioner-murmur-unsigned"))
        if mixed < 0:
            return -(-mixed % max_parallelism * channels // max_parallelism)
        group = mixed % max_parallelism
    else:
        group = murmur(code, bug) % max_parallelism
    if bug == "partitioner-ranges-rounded-up":
        return group // -(-max_parallelism // channels)
    if bug == "partitioner-channels-capped":
        channels = min(channels, max_parallelism)
    elif bug == "partitioner-ranges-off-by-one":
        return min((group + 1) * channels // max_parallelism, channels - 1)
    return group * channels // max_parallelism
