"""Hash codes as column expressions, against those of the JVM that Spark runs on."""

import pytest

from tidegate.conformance.engines.spark import keys
from tidegate.conformance.engines.spark.engine import SETTINGS

TEXTS = ["", "a", "key", "Grüße", "数据", "😀", "a😀b", "\U0010ffff\uffff", "\0", "\0\0", " x ", "e\u0301", "x" * 1000]
NUMBERS = [0, 1, -1, 2**31 - 1, -(2**31), 2**31, 2**32, 2**63 - 1, -(2**63), 1234567890123]


@pytest.fixture(scope="module")
def sql(spark):
    session = spark.newSession()
    for key, value in SETTINGS.items():
        session.conf.set(key, value)
    return session


def codes(sql, rows):
    table = sql.createDataFrame(
        rows, "id INT, key_type STRING, text STRING, number BIGINT, channels INT, max_parallelism INT"
    )
    table.createOrReplaceTempView("keys")
    text = keys.with_channel("SELECT * FROM keys").format_map(keys.PIECES)
    return [(row.code, row.key_group, row.channel) for row in sql.sql(text).orderBy("id").collect()]


@pytest.mark.rule("PART-8")
def test_hash_codes_of_strings_and_longs_are_those_of_java(sql):
    java = sql._jvm.java
    rows = [(index, "string", text, None, 4, 128) for index, text in enumerate(TEXTS)]
    rows += [(100 + index, "long", None, number, 4, 128) for index, number in enumerate(NUMBERS)]
    expected = [java.util.Objects.hashCode(text) for text in TEXTS]
    expected += [java.util.Objects.hashCode(java.lang.Long.valueOf(str(number))) for number in NUMBERS]
    found = codes(sql, rows)
    assert [code for code, _group, _channel in found[: len(TEXTS)]] == expected[: len(TEXTS)]
    # py4j hands a boxed number over as a Python one, so longs are checked by their definition.
    for number, (code, _group, _channel) in zip(NUMBERS, found[len(TEXTS) :], strict=True):
        folded = (number ^ (number % 2**64) >> 32) % 2**32
        assert code % 2**32 == folded


@pytest.mark.rule("PART-7", "PART-6")
def test_groups_and_channels_stay_in_range(sql):
    rows = [(index, "int", None, index * 7919 - 2**31, 3, 7) for index in range(500)]
    for _code, group, channel in codes(sql, rows):
        assert 0 <= group < 7
        assert channel == group * 3 // 7
