"""Random queries: on one input, a query has one result, under any settings.

A query is drawn in parts: what it reads, and what it does. No row is late, and no two have the same time:
the final rows of the result do not depend on the settings or on the order in which channels are read. A
change or a retraction of a row comes from the same subtask as the row, after it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any, Self

import attrs

from tidegate.conformance.engines.base import Abilities, JobRequest
from tidegate.conformance.judging.jobs.drawing import draw_setting, draw_settings
from tidegate.conformance.judging.jobs.draws import Draws, choose

Json = dict[str, Any]
#: An item of a script: a record (key, value, id, time), a change of one, a watermark, a pause in milliseconds, idle.
Item = tuple[Any, ...]
Script = tuple[Item, ...]

LENGTHS = (3, 10, 40)
KEYS = ("a", "b", "c", "d")
#: Changing tables: their key column, and whether an update has its old row ("all") or only the new one ("upsert").
CHANGING: dict[str, Json] = {"c": {"key": "k", "changes": "upsert"}, "d": {"key": "id", "changes": "all"}}
#: The ids of rows that change; no other rows have them.
IDS = tuple(range(100_001, 100_013))
#: The probability that a source is idle before it ends.
IDLE = 0.3
#: The probability that a row of a table has no value.
NO_VALUE = 0.1
#: Seconds of event time, and the milliseconds that separate the times of rows.
SECOND = 1000
#: After every window, in milliseconds.
END_OF_TIME = 10_000 * SECOND


@attrs.frozen
class QueryCase:
    """`shape` is the kind of query; `tables` have a script for each subtask of their sources.

    `key`: columns that are unique in the result, if there are any.
    """

    name: str
    shape: str
    query: str
    tables: dict[str, tuple[Script, ...]]
    settings: Json = attrs.Factory(dict)
    faults: tuple[Json, ...] = ()
    key: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return sum(len(script) for scripts in self.tables.values() for script in scripts)

    def as_json(self) -> Any:
        changing = {name: CHANGING[name] for name in self.tables if name in CHANGING}
        return {"query": self.query, "tables": self.tables, "changing": changing, "key": self.key}

    def as_request(self, settings: Json) -> JobRequest:
        return JobRequest(self.name, self.as_json(), {}, settings, [], "")

    def tell(self) -> str:
        lines = [self.query]
        for name, scripts in self.tables.items():
            for number, script in enumerate(scripts):
                told = " · ".join(" ".join(map(str, item)) for item in script)
                lines.append(f"  {name} {number}: {told or 'nothing'} · end")
        return "\n".join(lines)


# --- a case -----------------------------------------------------------------------------------------------------


def draw_query(seed: int, index: int, abilities: Abilities) -> QueryCase:
    """The same seed, index and abilities give the same query, tables and settings."""
    draws = Draws(f"query/{seed}/{index}")
    shape = draws.pick("shape", SHAPES)
    query = SHAPES[shape](draws.stream(shape))
    key = query.key if isinstance(query, Keyed) else ()
    times = Times(draws.stream("times"))
    used = [name for name in ("a", "b", *CHANGING) if re.search(rf"\b{name}\b", query)]
    tables = {name: draw_table(draws.stream(f"table {name}"), times, abilities, name) for name in used}
    return QueryCase(f"query-{seed}-{index}", shape, str(query), tables, draw_other_settings(draws, abilities), key=key)


def draw_other_settings(draws: Draws, abilities: Abilities) -> Json:
    """Never all defaults: no query is compared with itself. One setting, picked at random, always differs."""
    settings = draw_settings(draws, abilities.settings)
    others = {name: [value for value in values if value != values[0]] for name, values in abilities.settings.items()}
    able = [name for name, values in others.items() if values]
    picked = {draws.pick("other", able)} if able else ()
    return settings | {name: draw_setting(draws, name, (None, *others[name])) for name in picked}


class Times:
    """Unique times: each row has a millisecond of its own within its second."""

    def __init__(self, random: Random) -> None:
        self.own = list(range(1, SECOND))
        random.shuffle(self.own)
        self.used = 0

    def next(self, second: int) -> tuple[int, int]:
        """A number, and a time within the second."""
        self.used += 1
        return self.used, second * SECOND + self.own[self.used % len(self.own)]


def draw_table(random: Random, times: Times, abilities: Abilities, name: str) -> tuple[Script, ...]:
    """A script per subtask. Each key of a changing table belongs to one of them."""
    most, width = random.choice(LENGTHS), random.randint(1, abilities.parallelism)
    if name not in CHANGING:
        return tuple(draw_script(random, times, most, Rows(random)) for _ in range(width))
    by_key = CHANGING[name]["key"] == "k"
    keys: tuple[Any, ...] = KEYS if by_key else IDS
    changes = Versions if by_key else Changes
    return tuple(draw_script(random, times, most, changes(random, keys[at::width])) for at in range(width))


def draw_value(random: Random) -> int | None:
    return None if random.random() < NO_VALUE else random.randint(0, 9)


class Rows:
    """New rows, of any key."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def next(self, now: int, watermark: int, times: Times) -> list[Item]:
        number, at = times.next(max(now - self.random.randint(0, 3), watermark + 1))
        return [("record", self.random.choice(KEYS), draw_value(self.random), number, at)]


class Versions:
    """Rows that replace or delete the last row of their key, in the order of time."""

    def __init__(self, random: Random, keys: tuple[str, ...]) -> None:
        self.random, self.keys = random, keys
        self.there: dict[str, Item] = {}
        self.latest = -1

    def next(self, now: int, watermark: int, times: Times) -> list[Item]:
        self.latest = max(now, watermark + 1, self.latest + 1)
        number, at = times.next(self.latest)
        if not self.keys:
            return []
        key = self.random.choice(self.keys)
        if key in self.there and self.random.random() < 0.2:
            return [("-D", *self.there.pop(key)[1:-1], at)]
        kind = "+U" if key in self.there else "+I"
        self.there[key] = (kind, key, draw_value(self.random), number, at)
        return [self.there[key]]


class Changes:
    """Rows that stay until they are replaced or deleted, with all changes."""

    def __init__(self, random: Random, ids: tuple[int, ...]) -> None:
        self.random, self.ids = random, ids
        self.there: dict[int, Item] = {}

    def next(self, now: int, watermark: int, times: Times) -> list[Item]:
        at = times.next(max(now, watermark + 1))[1]
        if not self.ids:
            return []
        number = self.random.choice(self.ids)
        before = self.there.pop(number, None)
        if before and self.random.random() < 0.3:
            return [("-D", *before)]
        self.there[number] = row = (self.random.choice(KEYS), draw_value(self.random), number, at)
        return [("-U", *before), ("+U", *row)] if before else [("+I", *row)]


def draw_script(random: Random, times: Times, most: int, rows: Rows | Versions | Changes) -> Script:
    """No record is behind a watermark of its own script, so no record is late.

    A source turns idle only after its last watermark has passed all times that anything waits for: otherwise
    it would depend on chance whether the output of operators downstream is late.
    """
    items: list[Item] = []
    now, watermark = 0, -1
    for _ in range(random.randint(0, most)):
        chance = random.random()
        if chance < 0.7:
            now += random.randint(0, 2)
            items += rows.next(now, watermark, times)
        elif chance < 0.9:
            # The second is complete.
            watermark = max(watermark + 1, now - random.randint(0, 3))
            now = max(now, watermark)
            items.append(("watermark", watermark * SECOND + SECOND - 1))
        else:
            items.append(("pause", random.choice((1, 10, 60))))
    if random.random() < IDLE:
        rest = ("pause", random.choice((1, 20, 60)))
        items += [("watermark", END_OF_TIME), ("idle",), rest, ("watermark", END_OF_TIME + 1)]
    return tuple(items)


# --- queries ----------------------------------------------------------------------------------------------------


class Keyed(str):
    """A query, and columns that are unique in its result."""

    __slots__ = ("key",)
    key: tuple[str, ...]

    def __new__(cls, text: str, *key: str) -> Self:
        made = super().__new__(cls, text)
        made.key = key
        return made


BOTH = "(SELECT k, v, id, ts FROM a UNION ALL SELECT k, v, id, ts FROM b)"
COUNTS = (
    "COUNT(*)",
    "SUM(v)",
    "MIN(v)",
    "MAX(v)",
    "COUNT(DISTINCT v)",
    "SUM(DISTINCT v)",
    "AVG(v)",
    "COUNT(v) FILTER (WHERE v > 4)",
    "MAX(v) FILTER (WHERE v < 5)",
    "COUNT(DISTINCT v) FILTER (WHERE v > 2)",
    "MIN(k)",
)
COMPARED = ("=", "<", ">=", "<>")
JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")


def draw_relation(random: Random) -> str:
    """Rows with unique times."""
    kept = f"(SELECT k, v, id, ts FROM a WHERE v > {random.randint(0, 6)})"
    return choose(random, {"a": 2, "b": 1, BOTH: 1, kept: 1})


def draw_timed(random: Random) -> str:
    """Rows with time attributes, more often than not the output of another operator with its own time."""
    if random.random() < 0.4:
        return draw_relation(random)
    return random.choice((draw_near, draw_versioned, draw_sums, draw_firsts, draw_ends))(random)


def draw_near(random: Random) -> str:
    side = choose(random, {"x": 2, "y": 1})
    kind = {"x": ("JOIN", "LEFT JOIN"), "y": ("JOIN", "RIGHT JOIN")}[side]
    near = f"y.ts BETWEEN x.ts - {seconds(random.randint(0, 5))} AND x.ts + {seconds(random.randint(0, 5))}"
    joined = f"FROM a x {random.choice(kind)} b y ON x.k = y.k AND {near}"
    return f"(SELECT {side}.k k, {side}.v v, {side}.id id, {side}.ts ts {joined})"


def draw_versioned(random: Random) -> str:
    kind = random.choice(("JOIN", "LEFT JOIN"))
    return f"(SELECT x.k k, y.v v, x.id id, x.ts ts FROM a x {kind} c FOR SYSTEM_TIME AS OF x.ts AS y ON x.k = y.k)"


def draw_sums(random: Random) -> str:
    frame = random.choice(("ROWS BETWEEN 2 PRECEDING", f"RANGE BETWEEN {seconds(random.choice((1, 6)))} PRECEDING"))
    return f"(SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts {frame} AND CURRENT ROW) v, id, ts FROM a)"


def draw_firsts(random: Random) -> str:
    order = "ROW_NUMBER() OVER (PARTITION BY k, v ORDER BY ts)"
    return f"(SELECT k, v, id, ts FROM (SELECT *, {order} n FROM {random.choice(('a', 'b'))}) WHERE n = 1)"


def draw_ends(random: Random) -> str:
    windows = f"TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), {seconds(random.choice((1, 2)))}))"
    by = "GROUP BY k, window_start, window_end, window_time"
    return f"(SELECT k, SUM(v) v, MIN(id) id, window_time ts FROM {windows} {by})"


def draw_changing(random: Random) -> str:
    """Rows that may be replaced or deleted; their time does not matter."""
    kept = f"(SELECT k, v, id FROM {random.choice(('c', 'd'))} WHERE v > {random.randint(0, 6)})"
    both = "(SELECT k, v, id FROM d UNION ALL SELECT k, v, id FROM a)"
    counted = "(SELECT k, CAST(COUNT(*) AS INT) v, MAX(id) id FROM d GROUP BY k)"
    joined = "(SELECT x.k k, y.v v, x.id id FROM d x LEFT JOIN c y ON x.k = y.k)"
    return choose(random, {"c": 1, "d": 2, kept: 1, both: 1, counted: 1, joined: 1, draw_relation(random): 1})


def draw_aggregates(random: Random) -> str:
    chosen = random.sample(COUNTS, random.randint(1, 3))
    return ", ".join(f"{one} x{at}" for at, one in enumerate(chosen))


def seconds(number: int) -> str:
    return f"INTERVAL '{number}' SECOND"


def draw_windows(random: Random, relation: str, by: str = "ts") -> str:
    """A window function, over a table or a query."""
    read = f"TABLE {relation}" if relation in ("a", "b") else relation
    size = random.choice((2, 5, 10))
    kind = choose(random, {"TUMBLE": 2, "HOP": 1, "CUMULATE": 1, "SESSION": 1})
    if kind == "TUMBLE":
        shifted = choose(random, {"": 2, f", {seconds(1)}": 1})
        return f"TABLE(TUMBLE({read}, DESCRIPTOR({by}), {seconds(size)}{shifted}))"
    if kind == "SESSION":
        key = " PARTITION BY k" if relation in ("a", "b") else ""
        return f"TABLE(SESSION({read}{key}, DESCRIPTOR({by}), {seconds(random.choice((1, 2, 4)))}))"
    return f"TABLE({kind}({read}, DESCRIPTOR({by}), {seconds(size)}, {seconds(size * random.randint(2, 3))}))"


def draw_window_aggregate(random: Random) -> str:
    windows = draw_windows(random, draw_timed(random))
    wanted = draw_aggregates(random)
    if random.random() < 0.25 and "SESSION" not in windows:
        sets = "GROUPING SETS ((window_start, window_end, k), (window_start, window_end))"
        return f"SELECT k, window_start, window_end, {wanted} FROM {windows} GROUP BY {sets}"
    return f"SELECT k, window_start, window_end, {wanted} FROM {windows} GROUP BY k, window_start, window_end"


def draw_cascade(random: Random) -> str:
    """Windows over the output of windows, by the time of the first."""
    key = random.choice(("k, ", ""))
    size, second = random.choice((1, 2)), random.choice((4, 10))
    first = f"TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), {seconds(size)}))"
    shifted = choose(random, {"": 2, f", {seconds(size)}": 1})
    inner = (
        f"(SELECT {key}window_time rt, COUNT(*) n, SUM(v) v FROM {first} "
        f"GROUP BY k, window_start, window_end, window_time)"
    )
    outer = f"TABLE(TUMBLE({inner}, DESCRIPTOR(rt), {seconds(second)}{shifted}))"
    return f"SELECT {key}window_start, SUM(n) n, MAX(v) v FROM {outer} GROUP BY {key}window_start, window_end"


def draw_group_window(random: Random) -> str:
    kind, size = random.choice(("TUMBLE", "HOP", "SESSION")), random.choice((2, 5, 10))
    sizes = f"{seconds(size)}, {seconds(size * 2)}" if kind == "HOP" else seconds(size)
    start = f"{kind}_START(ts, {sizes})"
    return f"SELECT k, {start}, {draw_aggregates(random)} FROM {draw_timed(random)} GROUP BY k, {kind}(ts, {sizes})"


def draw_interval_join(random: Random) -> str:
    before, after = random.randint(0, 5), random.randint(0, 5)
    near = f"y.ts BETWEEN x.ts - {seconds(before)} AND x.ts + {seconds(after)}"
    left, right = random.choice((("a", "b"), (draw_timed(random), random.choice(("a", "b")))))
    return f"SELECT x.id, y.id FROM {left} x {random.choice(JOINS)} {right} y ON x.k = y.k AND {near}"


def draw_temporal_join(random: Random) -> str:
    kind, left = random.choice(("JOIN", "LEFT JOIN")), draw_timed(random)
    return f"SELECT x.id, y.id, y.v FROM {left} x {kind} c FOR SYSTEM_TIME AS OF x.ts AS y ON x.k = y.k"


def draw_window_join(random: Random) -> str:
    size = random.choice((2, 5, 10))
    kind, sizes = random.choice((("TUMBLE", seconds(size)), ("HOP", f"{seconds(size)}, {seconds(2 * size)}")))
    left, right = (f"(SELECT * FROM TABLE({kind}(TABLE {name}, DESCRIPTOR(ts), {sizes})))" for name in ("a", "b"))
    both = "x.window_start = y.window_start AND x.window_end = y.window_end"
    if random.random() < 0.3:
        is_there = random.choice(("EXISTS", "NOT EXISTS"))
        return f"SELECT x.id FROM {left} x WHERE {is_there} (SELECT * FROM {right} y WHERE x.k = y.k AND {both})"
    return f"SELECT x.id, y.id FROM {left} x {random.choice(JOINS)} {right} y ON x.k = y.k AND {both}"


def draw_join(random: Random) -> str:
    """Without time: every row meets every row, and results may be retracted."""
    if random.random() < 0.3:
        is_there = random.choice(("EXISTS", "NOT EXISTS"))
        return f"SELECT x.id FROM a x WHERE {is_there} (SELECT * FROM b y WHERE x.k = y.k AND x.v = y.v)"
    third = random.choice(("", " LEFT JOIN (SELECT k, COUNT(*) n FROM b GROUP BY k) z ON x.k = z.k"))
    more = ", z.n" if third else ""
    return f"SELECT x.id, y.id{more} FROM a x {random.choice(JOINS)} b y ON x.k = y.k AND x.v = y.v{third}"


def draw_over(random: Random) -> str:
    far = random.choice(("UNBOUNDED PRECEDING", f"{seconds(random.choice((1, 6)))} PRECEDING"))
    rows = random.choice(("UNBOUNDED PRECEDING", "3 PRECEDING"))
    frame = random.choice((f"RANGE BETWEEN {far} AND CURRENT ROW", f"ROWS BETWEEN {rows} AND CURRENT ROW"))
    wanted = random.choice(("SUM(v)", "COUNT(*)", "MAX(v)", "MIN(v)", "LAG(v)", "LAG(id, 2)", "COUNT(DISTINCT v)"))
    within = "PARTITION BY k ORDER BY ts" + ("" if wanted.startswith("LAG") else f" {frame}")
    return f"SELECT id, {wanted} OVER ({within}) FROM {draw_timed(random)}"


def draw_sort(random: Random) -> str:
    wanted, then = random.choice(("id", "id, v", "k, id")), random.choice(("", ", v"))
    read = random.choice((draw_relation, draw_timed))(random)
    return f"SELECT {wanted} FROM {read} ORDER BY ts{then}"


def draw_first(random: Random) -> str:
    """The first or last rows of each key, by time or by value."""
    by, most = random.choice((("ts", 1), ("ts DESC", 1), ("v DESC, id", 2), ("v, id", 1)))
    windows = draw_windows(random, draw_timed(random))
    read, within = random.choice(((draw_relation(random), ""), (windows, "window_start, window_end, ")))
    ranked = f"SELECT k, id, v, ROW_NUMBER() OVER (PARTITION BY {within}k ORDER BY {by}) n FROM {read}"
    return f"SELECT k, id, v FROM ({ranked}) WHERE n <= {most}"


def draw_group(random: Random) -> str:
    """Results that are updated with every row, and aggregates of such results.

    Without input there is no result: until the first row, a stream emits nothing.
    """
    by = choose(random, {"k": 2, "ROLLUP (k, MOD(v, 3))": 1, "CUBE (k, MOD(v, 3))": 1})
    having = choose(random, {"": 2, f" HAVING COUNT(*) > {random.randint(1, 3)}": 1})
    inner = f"SELECT k, {draw_aggregates(random)} FROM {draw_changing(random)} GROUP BY {by}{having}"
    counted = f"SELECT x0, COUNT(*) FROM ({inner}) GROUP BY x0"
    return random.choice(
        (
            Keyed(inner, "k") if by == "k" else inner,
            counted,
            f"SELECT COUNT(*), MAX(x0) FROM ({inner}) HAVING COUNT(*) > 0",
        )
    )


def draw_joins(random: Random) -> str:
    """Two or three changing relations."""
    first, second, third = (draw_changing(random) for _ in range(3))
    both = f"SELECT x.id a0, y.id a1 FROM {first} x {random.choice(JOINS)} {second} y ON x.k = y.k"
    is_in = f"SELECT id, v FROM {first} WHERE k {random.choice(('IN', 'NOT IN'))} (SELECT k FROM {second} WHERE v > 4)"
    conditions = ("(x.v = z.v OR y.v < z.v)", "x.v <= z.v", "z.v IS NOT DISTINCT FROM y.v")
    also = choose(random, {"": 2, **{f" AND {condition}": 1 for condition in conditions}})
    kinds = [random.choice(JOINS[:2]) for _ in range(2)]
    three = f"FROM {first} x {kinds[0]} {second} y ON x.k = y.k {kinds[1]} {third} z ON x.k = z.k{also}"
    more = f"SELECT x.id, y.id, z.v {three}"
    greater = f"SELECT id, v FROM {first} WHERE v > (SELECT AVG(v) FROM {second})"
    counted = f"SELECT a0, COUNT(*) FROM ({both}) GROUP BY a0"
    return choose(random, {both: 2, Keyed(is_in, "id"): 1, more: 1, Keyed(greater, "id"): 1, counted: 1})


def draw_subquery(random: Random) -> str:
    """Rows filtered by a subquery about each of them."""
    first, second = draw_changing(random), draw_changing(random)
    least, compared = random.randint(1, 3), random.choice(COMPARED)
    is_there = random.choice(("EXISTS", "NOT EXISTS"))
    wanted = random.choice(("MAX(y.v)", "MIN(y.v)", "COUNT(*)", "COUNT(DISTINCT y.v)"))
    many = f"{is_there} (SELECT y.k FROM {second} y WHERE y.k = x.k GROUP BY y.k HAVING {wanted} > {least})"
    same = f"x.v {random.choice(('IN', 'NOT IN'))} (SELECT y.v FROM {second} y WHERE y.k = x.k)"
    best = f"x.v {compared} (SELECT {wanted} FROM {second} y WHERE y.k = x.k)"
    other = f"{is_there} (SELECT * FROM {second} y WHERE y.k = x.k AND y.v {compared} x.v)"
    either = f"{is_there} (SELECT * FROM {second} y WHERE y.k = x.k) {random.choice(('AND', 'OR'))} x.v > {least}"
    if random.random() < 0.2:
        return Keyed(f"SELECT x.id, (SELECT {wanted} FROM {second} y WHERE y.k = x.k) n FROM {first} x", "id")
    return Keyed(f"SELECT x.id, x.v FROM {first} x WHERE {random.choice((many, same, best, other, either))}", "id")


def draw_condition(random: Random, names: tuple[str, ...], depth: int = 2) -> str:
    """A condition on the values of rows, some of which are NULL."""
    if depth and random.random() < 0.6:
        first, second = (draw_condition(random, names, depth - 1) for _ in range(2))
        both = f"({first} {random.choice(('AND', 'OR'))} {second})"
        return choose(random, {both: 2, f"NOT {both}": 1, f"{both} IS {random.choice(('', 'NOT '))}TRUE": 1})
    name, number = f"{random.choice(names)}v", random.randint(0, 9)
    listed = ", ".join(str(random.randint(0, 9)) for _ in range(random.randint(2, 4)))
    return random.choice(
        (
            f"{name} {random.choice(COMPARED)} {number}",
            f"{name} {random.choice(('IN', 'NOT IN'))} ({listed})",
            f"{name} {random.choice(('', 'NOT '))}BETWEEN {number} AND {number + random.randint(0, 4)}",
            f"{name} IS {random.choice(('', 'NOT '))}NULL",
            f"{name} IS {random.choice(('', 'NOT '))}DISTINCT FROM {number}",
            f"COALESCE({name}, {number}) {random.choice(COMPARED)} {random.randint(0, 9)}",
            f"CASE WHEN {name} > {number} THEN {name} ELSE -1 END {random.choice(COMPARED)} {random.randint(0, 9)}",
        )
    )


def draw_conditions(random: Random) -> str:
    """Rows, groups and joins with many conditions."""
    first, second = draw_changing(random), draw_changing(random)
    one, both = draw_condition(random, ("",)), draw_condition(random, ("x.", "y."))
    kept = Keyed(f"SELECT id, v FROM {first} WHERE {one}", "id")
    joined = (
        f"FROM {first} x {random.choice(JOINS)} {second} y ON x.k = y.k AND {draw_condition(random, ('x.', 'y.'), 1)}"
    )
    pairs = f"SELECT x.id, y.id, y.v {joined} WHERE {both}"
    grouped = f"SELECT k, COUNT(*), SUM(v) FILTER (WHERE {one}) n FROM {second} GROUP BY k HAVING MAX(v) > 3"
    return choose(random, {kept: 1, pairs: 2, grouped: 1})


def draw_over_changes(random: Random) -> str:
    """Aggregates over the preceding rows, in an order other than time."""
    wanted = random.choice(("SUM(v)", "COUNT(*)", "COUNT(v)", "SUM(DISTINCT v)", "MAX(id)"))
    by, frame = random.choice((("id", "ROWS"), ("id", "RANGE"), ("v", "RANGE"), ("k", "RANGE")))
    within = f"PARTITION BY k ORDER BY {by} {frame} BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    return Keyed(f"SELECT id, {wanted} OVER ({within}) n FROM {draw_changing(random)}", "id")


def draw_ranks(random: Random) -> str:
    """The best rows of a changing table, with or without their ranks."""
    read, least = draw_changing(random), choose(random, {1: 2, 2: 1})
    most = least + random.randint(0, 2)
    place, per = random.choice(("", ", n")), random.choice(("PARTITION BY k ", ""))
    by = random.choice(("v DESC, id", "v, id", "v DESC, k, id"))
    ranked = f"SELECT k, id, v, ROW_NUMBER() OVER ({per}ORDER BY {by}) n FROM {read}"
    kept = f"n <= {most}" if least == 1 else f"n >= {least} AND n <= {most}"
    return Keyed(f"SELECT k, id, v{place} FROM ({ranked}) WHERE {kept}", "id")


def draw_distinct(random: Random) -> str:
    wanted, read = random.choice(("k", "v", "k, v")), draw_changing(random)
    query = f"SELECT DISTINCT {wanted} FROM {read}"
    return Keyed(query, "k") if wanted == "k" else query


def draw_sets(random: Random) -> str:
    kind = random.choice(("UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"))
    return f"SELECT k, v FROM {draw_changing(random)} {kind} SELECT k, v FROM {draw_changing(random)}"


def draw_top(random: Random) -> str:
    read, by = draw_changing(random), random.choice(("v DESC, id", "v, id"))
    most, skipped = random.randint(1, 5), choose(random, {"": 2, " OFFSET 1": 1, " OFFSET 2": 1})
    return Keyed(f"SELECT id, v FROM {read} ORDER BY {by} LIMIT {most}{skipped}", "id")


def draw_pattern(random: Random) -> str:
    size, least = random.choice((3, 9)), random.randint(2, 7)
    often = choose(random, {"*": 2, "+": 1, "?": 1, "{1,2}": 1, "*?": 1, "{2}": 1})
    skip = random.choice(("PAST LAST ROW", "TO NEXT ROW"))
    rising = choose(random, {"": 2, " AND (LAST(B.v, 1) IS NULL OR B.v >= LAST(B.v, 1))": 1})
    within = choose(random, {f" WITHIN {seconds(size)}": 2, "": 1})
    return (
        f"SELECT * FROM {random.choice(('a', 'b'))} MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts "
        "MEASURES A.id AS first_id, LAST(B.id) AS last_id, SUM(B.v) AS sum_b, C.id AS end_id "
        f"ONE ROW PER MATCH AFTER MATCH SKIP {skip} "
        f"PATTERN (A B{often} C){within} DEFINE B AS B.v < {least}{rising}, C AS C.v >= {least})"
    )


#: The shapes of queries.
SHAPES: dict[str, Callable[[Random], str]] = {
    "window aggregate": draw_window_aggregate,
    "cascade of windows": draw_cascade,
    "group window": draw_group_window,
    "interval join": draw_interval_join,
    "temporal join": draw_temporal_join,
    "window join": draw_window_join,
    "join": draw_join,
    "joins of changes": draw_joins,
    "subquery": draw_subquery,
    "conditions": draw_conditions,
    "over": draw_over,
    "over changes": draw_over_changes,
    "sort": draw_sort,
    "first rows": draw_first,
    "ranks": draw_ranks,
    "distinct": draw_distinct,
    "group": draw_group,
    "sets": draw_sets,
    "top": draw_top,
    "pattern": draw_pattern,
}


# --- results ----------------------------------------------------------------------------------------------------

#: Kinds of changes that delete a row.
TAKEN_BACK = ("-U", "-D")


def sum_up(changes: Iterable[list[str]]) -> Counter[tuple[str, ...]]:
    """The rows that remain after all changes."""
    rows: Counter[tuple[str, ...]] = Counter()
    for kind, *cells in changes:
        rows[tuple(cells)] += -1 if kind in TAKEN_BACK else 1
    return Counter({row: count for row, count in rows.items() if count})


def tell_difference(
    usual: Counter[tuple[str, ...]],
    other: Counter[tuple[str, ...]],
    first: str = "the usual settings",
    second: str = "these",
) -> str:
    """The difference in words; empty if there is none."""
    if usual == other:
        return ""
    missing = [row for row in usual if usual[row] > other[row]]
    surplus = [row for row in other if other[row] > usual[row]]
    parts = [
        f"{len(rows)} rows {how}, such as ({', '.join(rows[0])})"
        for rows, how in ((missing, "are missing"), (surplus, "are too many"))
        if rows
    ]
    return f"{first} give {usual.total()} rows, {second} give {other.total()}: {'; '.join(parts)}"


# --- made small -------------------------------------------------------------------------------------------------


def mend(name: str, script: Script) -> Script:
    """Repair a script after items were removed: idleness follows the last watermark, and changes follow their rows."""
    if ("watermark", END_OF_TIME) not in script:
        script = tuple(item for item in script if item != ("idle",))
    return mend_changes(name, script) if name in CHANGING else script


def mend_changes(name: str, script: Script) -> Script:
    at = 1 if CHANGING[name]["key"] == "k" else 3
    is_told = CHANGING[name]["changes"] == "all"
    there: dict[Any, Item] = {}
    items: list[Item] = []
    for item in script:
        kind, known = item[0], there.get(item[at] if len(item) > at else None)
        if kind not in ("+I", "+U", *TAKEN_BACK):
            items.append(item)
        elif kind in TAKEN_BACK:
            if known and (known[1:] == item[1:] or not is_told):
                del there[item[at]]
                items.append(("-D", *item[1:]))
        elif not known or not is_told:
            replaced = bool(items) and is_told and items[-1][0] == "-D" and items[-1][at] == item[at] and kind == "+U"
            items[-1:] = [("-U", *items[-1][1:])] if replaced else items[-1:]
            there[item[at]] = (("+U" if known or replaced else "+I"), *item[1:])
            items.append(there[item[at]])
    return tuple(items)


def smaller_tables(case: QueryCase, shorter: Callable[[Any], Iterator[Any]]) -> Iterator[QueryCase]:
    """With fewer subtasks of a source, then with shorter scripts."""
    for name, scripts in case.tables.items():
        for at in range(len(scripts)):
            if len(scripts) > 1:
                yield attrs.evolve(case, tables={**case.tables, name: scripts[:at] + scripts[at + 1 :]})
        for at, script in enumerate(scripts):
            for kept in shorter(script):
                fewer = (*scripts[:at], mend(name, kept), *scripts[at + 1 :])
                yield attrs.evolve(case, tables={**case.tables, name: fewer})
