"""The Spark engine's valve and hash partitioner, warm on two cores, against plain Python loops in the same run."""

import statistics
import time

from tidegate.conformance.engines.museum.engines import Engine as Museum
from tidegate.conformance.engines.museum.partitioner import choose_channel
from tidegate.conformance.engines.spark import keys
from tidegate.conformance.engines.spark.engine import SETTINGS, Spark
from tidegate.conformance.engines.spark.session import make_session
from tidegate.conformance.judging.trial import Encoder
from tidegate.properties.drawing.cases import draw_case

EVENTS = 20
TRACES = 5000
KEYS = 400_000
ROUNDS = 3


def seconds_of(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def compare(spark, plain):
    """Warm both, then take turns: the medians of the seconds of each."""
    spark()
    pairs = [(seconds_of(spark), seconds_of(plain)) for _ in range(ROUNDS)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def make_traces():
    cases, index, encoder = [], 0, Encoder()
    while len(cases) < TRACES:
        case = encoder.request(draw_case("valve", "bench", index)).as_case()
        index += 1
        if len(case["events"]) >= EVENTS and case["config"]["channels"] <= 4:
            cases.append({**case, "events": case["events"][:EVENTS]})
    return cases


def measure_valve(session):
    cases = make_traces()
    spark, plain = Spark(session=session), Museum()
    assert spark.replay(cases[:500]) == plain.replay(cases[:500])
    return compare(lambda: spark.replay(cases), lambda: plain.replay(cases))


def measure_partitioner(session):
    sql = session.newSession()
    for key, value in SETTINGS.items():
        sql.conf.set(key, value)
    table = sql.sql(
        """SELECT 'string' AS key_type, 'key-' || id || '-ü😀' AS text, 0L AS number, 16 AS channels,
        128 AS max_parallelism FROM range(:keys)""",
        {"keys": KEYS},
    ).cache()
    table.createOrReplaceTempView("keys")
    channels = sql.sql(keys.with_channel("SELECT * FROM keys").format_map(keys.PIECES)).select("text", "channel")
    texts = [row.text for row in table.select("text").collect()]

    def plain():
        return [choose_channel({"type": "string", "value": text}, 16, 128) for text in texts]

    assert [row.channel for row in channels.limit(1000).collect()] == [
        choose_channel({"type": "string", "value": row.text}, 16, 128) for row in channels.limit(1000).collect()
    ]
    return compare(lambda: channels.write.format("noop").mode("overwrite").save(), plain)


def measure():
    session = make_session("local[2]", "tidegate benchmarks")
    try:
        spark, plain = measure_valve(session)
        count = EVENTS * TRACES
        rates = f"{count / spark:,.0f} events/s, {plain / spark:.2f} of a plain Python loop ({count / plain:,.0f})"
        yield "valve as a fold in Spark SQL, cases in and answers out", rates, "≥ 10,000 events/s"
        spark, plain = measure_partitioner(session)
        rates = f"{KEYS / spark:,.0f} rows/s, {plain / spark:.2f} of a plain Python loop ({KEYS / plain:,.0f})"
        yield "hash partitioner as column expressions, string keys", rates, "≥ 80,000 rows/s"
    finally:
        session.stop()
