"""From a key to its channel, PART-6 … PART-8, as column expressions.

Spark's own `hash()` is a different function. With ANSI mode off an INT of Spark is an `int` of Java: it wraps around.
"""

#: A character beyond the basic plane is one character to Spark, and two UTF-16 units to Java.
STRING_CODE = """aggregate(transform(split(text, ''), c -> ascii(c)), 0, (code, point) -> {units})"""

PIECES = {
    "units": """IF(point < 65536, 31 * code + point,
        31 * (31 * code + 55296 + shiftright(point - 65536, 10)) + 56320 + ((point - 65536) & 1023))""",
    "long_code": "int(number ^ shiftrightunsigned(number, 32))",
    "scrambled": "5 * h2 - 430675100",
    "unsigned": "IF(h6 = -2147483648, 0, abs(h6))",
    "group": "bigint(scrambled) % max_parallelism",
    "channel": "int(key_group * channels div max_parallelism)",
}

#: Each line adds columns to the rows before it. They are separate because the next one uses every column twice.
_COLUMNS = (
    f"""CASE key_type WHEN 'string' THEN {STRING_CODE} WHEN 'int' THEN int(number) WHEN 'long' THEN {{long_code}} END
        AS code""",
    "code * -862048943 AS h0",
    "(shiftleft(h0, 15) | shiftrightunsigned(h0, 17)) * 461845907 AS h1",
    "shiftleft(h1, 13) | shiftrightunsigned(h1, 19) AS h2",
    "({scrambled}) ^ 4 AS h3",
    "(h3 ^ shiftrightunsigned(h3, 16)) * -2048144789 AS h4",
    "(h4 ^ shiftrightunsigned(h4, 13)) * -1028477387 AS h5",
    "h5 ^ shiftrightunsigned(h5, 16) AS h6",
    "{unsigned} AS scrambled",
    "{group} AS key_group",
    "{channel} AS channel",
)


def with_channel(rows: str) -> str:
    """The rows with the `channel` of their key: of `key_type`, `text`, `number`, `channels`, `max_parallelism`."""
    for columns in _COLUMNS:
        rows = f"SELECT *, {columns} FROM ({rows})"
    return rows
