"""The invariants of the synthetic job in Polars, tuned by hand the same way as the SQL for DuckDB."""

import polars as pl

from tidegate.conformance.synthetic.job import KEYS, owners

CHANNEL = ["run", "edge", "producer", "consumer"]
SIDE = [*CHANNEL, "dir"]
SUBTASK = ["run", "task", "subtask"]
FOUND = [*SIDE, "position"]
MIN, MAX = -(2**63), 2**63 - 1
kind, way = pl.col("kind"), pl.col("dir")


def is_element():
    return ~kind.is_in(["buffer", "credit"])


def find_watermarks(ev):
    rows = ev.filter(kind == "watermark").sort([*SIDE, "position"])
    return rows.filter(pl.col("timestamp") <= pl.col("timestamp").shift(1).over(SIDE))


def find_statuses(ev):
    rows = ev.filter(kind.is_in(["status", "watermark"])).sort([*SIDE, "position"])
    last = pl.when(kind == "status").then(pl.col("value")).forward_fill().shift(1).over(SIDE).fill_null(1)
    rows = rows.with_columns(active=last)
    repeated = (kind == "status") & (pl.col("value") == pl.col("active"))
    return rows.filter(repeated | ((kind == "watermark") & (pl.col("active") == 0)))


def find_ends(ev):
    ended = ev.filter(kind.is_in(["end_of_data", "end_of_partition"]))
    position = pl.col("position")
    ends = ended.group_by(SIDE).agg(
        data=position.filter(kind == "end_of_data").min(), part=position.filter(kind == "end_of_partition").min()
    )
    behind = (
        ev.filter(is_element())
        .join(ends, on=SIDE)
        .filter(
            (position > pl.col("data")) & ((position > pl.col("part")) | ~kind.is_in(["barrier", "end_of_partition"]))
        )
    )
    early = ends.filter(pl.col("part") < pl.col("data")).with_columns(position=pl.col("part"))
    of_sources = ev.filter((way == "out") & pl.col("edge").is_in([0, 3])).sort([*SIDE, "position"])
    highest = of_sources.filter(kind == "watermark").group_by(SIDE).agg(last=pl.col("timestamp").last())
    asleep = of_sources.filter(kind == "status").group_by(SIDE).agg(active=pl.col("value").last())
    low = ends.join(highest, on=SIDE).join(asleep, on=SIDE, how="left").with_columns(position=pl.col("data"))
    low = low.filter((pl.col("active").fill_null(1) == 1) & (pl.col("last") != MAX) & pl.col("data").is_not_null())
    lasts = ev.filter(is_element() & (way == "out")).group_by(SIDE).agg(position=position.max())
    open_ended = lasts.join(ends, on=SIDE, how="left").filter(pl.col("part").is_null() | (pl.col("part") != position))
    return pl.concat([one.select(FOUND) for one in (behind, early, low, open_ended)])


def find_pairs(ev):
    """Of channels whose sides differ by fingerprint: elements with their position on either side."""
    name = pl.when(kind == "record").then(pl.col("id")).otherwise(pl.col("timestamp"))
    amount = pl.when(kind == "record").then(None).otherwise(pl.col("value"))
    rows = ev.filter(is_element()).select(*SIDE, "position", "kind", name=name, amount=amount)
    prints = rows.group_by(SIDE).agg(
        often=pl.len(), fingerprint=pl.struct("position", "name", "amount").hash().bitwise_xor()
    )
    same = prints.group_by(CHANNEL).agg(pl.len(), pl.col("often").n_unique(), pl.col("fingerprint").n_unique())
    dirty = same.filter((pl.col("len") != 2) | (pl.col("often") != 1) | (pl.col("fingerprint") != 1)).select(CHANNEL)
    identity = [*CHANNEL, "kind", "name", "amount"]
    rows = rows.join(dirty, on=CHANNEL, how="semi").sort([*SIDE, "position"])
    rows = rows.with_columns(turn=pl.int_range(pl.len()).over([*identity, "dir"]))
    sent = rows.filter(way == "out").rename({"position": "sent"}).drop("dir")
    received = rows.filter(way == "in").rename({"position": "received"}).drop("dir")
    return sent.join(received, on=[*identity, "turn"], how="full", coalesce=True, nulls_equal=True).collect().lazy()


def find_losses(pairs):
    lost = pl.col("sent").is_null() | pl.col("received").is_null()
    side = pl.when(pl.col("received").is_null()).then(pl.lit("out")).otherwise(pl.lit("in"))
    return pairs.filter(lost).with_columns(dir=side, position=pl.coalesce("sent", "received"))


def find_disorder(pairs):
    identity = [*CHANNEL, "kind", "name", "amount"]
    lost = pairs.filter(pl.col("sent").is_null() | pl.col("received").is_null())
    kept = pairs.join(lost, on=identity, how="anti", nulls_equal=True).sort([*CHANNEL, "received"])
    least = pl.col("sent").cum_min(reverse=True).shift(-1).over(CHANNEL)
    found = kept.filter(pl.col("sent") > least).group_by(CHANNEL).agg(position=pl.col("received").min())
    return found.with_columns(dir=pl.lit("in"))


def find_routes(ev):
    records = ev.filter(kind == "record")
    homes = pl.LazyFrame({"key": list(KEYS), "owner": owners().astype("int32")})
    keyed = records.filter(pl.col("edge") == 1).join(homes, on="key").filter(pl.col("consumer") != pl.col("owner"))
    forwarded = records.filter((pl.col("edge") == 2) & (way == "out") & (pl.col("consumer") != pl.col("producer")))
    dealt = records.filter((pl.col("edge") == 0) & (way == "out")).sort(["run", "producer", "step"])
    due = (pl.col("consumer").shift(1).over(["run", "producer"]) + 1) % 4
    dealt = dealt.filter(pl.col("consumer") != due)
    told = records.filter((pl.col("edge") == 3) & (way == "out")).sort("step")
    told = told.group_by(["run", "edge", "producer", "dir", "id"]).agg(
        pl.len(), pl.col("consumer").first(), pl.col("position").first()
    )
    told = told.filter(pl.col("len") != 2)
    return pl.concat([one.select(FOUND) for one in (keyed, forwarded, dealt, told)])


def find_unpaid(ev):
    rows = ev.filter(((kind == "buffer") & (way == "out")) | ((kind == "credit") & (way == "in")))
    change = pl.when(kind == "credit").then(pl.col("value")).otherwise(-1)
    rows = rows.sort([*CHANNEL, "step"]).with_columns(left=2 + change.cum_sum().over(CHANNEL))
    unpaid = rows.filter((kind == "buffer") & (pl.col("left") < 0))
    given = ev.filter((kind == "credit") & (way == "out")).select(*CHANNEL, "position", given="value")
    taken = ev.filter((kind == "credit") & (way == "in")).join(given, on=[*CHANNEL, "position"], how="left")
    strange = taken.filter(pl.col("given").ne_missing(pl.col("value")))
    return pl.concat([unpaid.select(FOUND), strange.select(FOUND)])


def find_late(ev):
    stamp = pl.when(kind == "watermark").then(pl.col("timestamp"))
    ticks = ev.filter((kind == "watermark") | ((kind == "status") & (way == "in"))).sort([*SUBTASK, "step"])
    ticks = ticks.with_columns(idle=(kind == "status").cum_max().over(SUBTASK), stamp=stamp)
    channels = [
        pl.when((way == "in") & ~pl.col("idle") & (pl.col("producer") == one)).then(pl.col("stamp")) for one in range(4)
    ]
    reached = [one.cum_max().forward_fill().over(SUBTASK).alias(f"p{number}") for number, one in enumerate(channels)]
    told = pl.when(way == "out").then(pl.col("stamp")).cum_max().forward_fill().over(SUBTASK).fill_null(MIN)
    ticks = ticks.with_columns(*reached, announced=told)
    names = [f"p{number}" for number in range(4)]
    least = pl.min_horizontal(*(pl.col(name).fill_null(MIN) for name in names))
    least = pl.when(pl.col("task") == "sink").then(pl.coalesce(*names, pl.lit(MIN))).otherwise(least)
    clock = ticks.with_columns(time=pl.max_horizontal("announced", least).cum_max().over(SUBTASK))
    clock = clock.select(*SUBTASK, "step", "time").sort("step")
    received = ev.filter((kind == "record") & (way == "in")).sort("step")
    late = received.join_asof(clock, on="step", by=SUBTASK).filter(pl.col("timestamp") <= pl.col("time"))
    late = late.select(*CHANNEL, "id", "position")
    sent = ev.filter((kind == "record") & (way == "out")).select(*CHANNEL, "id", "timestamp", at="position")
    sent = sent.join(late, on=[*CHANNEL, "id"]).sort("at")
    told = ev.filter((way == "out") & kind.is_in(["watermark", "status"])).sort([*CHANNEL, "position"])
    told = told.select(
        *CHANNEL,
        at="position",
        last=pl.col("timestamp").cum_max().forward_fill().over(CHANNEL),
        idle=(kind == "status").cum_max().over(CHANNEL),
    ).sort("at")
    found = sent.join_asof(told, on="at", by=CHANNEL)
    in_time = ~pl.col("idle").fill_null(value=False) & (pl.col("timestamp") > pl.col("last").fill_null(MIN))
    return found.filter(in_time).with_columns(dir=pl.lit("in"))


def find_leaks(ev):
    barriers = ev.filter(kind == "barrier")
    met = barriers.filter(way == "in").with_columns(whole=pl.col("step").max().over([*SUBTASK, "value"]))
    place = [*SUBTASK, *CHANNEL[1:]]
    waits = met.select(*place, step=pl.int_ranges(pl.col("step") + 1, "whole")).explode("step").drop_nulls("step")
    wholes = met.select(*SUBTASK, "value", "whole").unique()
    owed = barriers.filter((way == "out") & (pl.col("task") != "source")).join(wholes, on=[*SUBTASK, "value"])
    early = owed.filter(pl.col("step") < pl.col("whole"))
    dues = owed.select(*place, step=pl.int_ranges(pl.col("whole") + 1, "step")).explode("step").drop_nulls("step")
    elements = ev.filter(is_element())
    read = elements.filter(way == "in").join(waits, on=[*place, "step"], how="semi")
    written = elements.filter(way == "out").join(dues, on=[*place, "step"], how="semi")
    return pl.concat([one.select(FOUND) for one in (read, written, early)])


def audit(folder):
    ev = pl.scan_parquet(f"{folder}/*.parquet")
    pairs = find_pairs(ev)
    found = {
        "LOG-WATERMARK": find_watermarks(ev),
        "LOG-ORDER": find_disorder(pairs),
        "LOG-LOSS": find_losses(pairs),
        "LOG-ROUTE": find_routes(ev),
        "LOG-CREDIT": find_unpaid(ev),
        "LOG-LATE": find_late(ev),
        "LOG-STATUS": find_statuses(ev),
        "LOG-END": find_ends(ev),
        "LOG-BARRIER": find_leaks(ev),
    }
    for name, rows in found.items():
        for run, edge, producer, consumer, side, position in rows.select(FOUND).collect().iter_rows():
            yield run, name, [edge, producer, consumer], side, position
