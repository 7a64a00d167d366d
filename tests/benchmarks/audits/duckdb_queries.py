"""The invariants of the synthetic job in SQL, tuned by hand for DuckDB.

It knows more than the kernels do: the edges, the parallelism and the owners of all keys are written into the queries.
Rows of a channel that have equal fingerprints on both sides are not compared one by one; small tables are made first
and joined with the large one. Nothing depends on the order of the file.
"""
# ruff: noqa: S608 - the queries are put together from constants

ELEMENT = "kind NOT IN ('buffer', 'credit')"
SIDE = "run, edge, producer, consumer, dir"
CHANNEL = "run, edge, producer, consumer"
MAX = 2**63 - 1
BEFORE = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
SO_FAR = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"

WATERMARK = f"""
SELECT {SIDE}, position FROM (
  SELECT {SIDE}, position, timestamp, lag(timestamp) OVER (PARTITION BY {SIDE} ORDER BY position) AS last
  FROM ev WHERE kind = 'watermark') WHERE timestamp <= last"""

STATUS = f"""
SELECT {SIDE}, position FROM (
  SELECT {SIDE}, position, kind, value, coalesce(last_value(CASE WHEN kind = 'status' THEN value END IGNORE NULLS)
    OVER (PARTITION BY {SIDE} ORDER BY position {BEFORE}), 1) AS active
  FROM ev WHERE kind IN ('status', 'watermark'))
WHERE (kind = 'status' AND value = active) OR (kind = 'watermark' AND active = 0)"""

END = f"""
WITH ends AS (
  SELECT {SIDE}, min(position) FILTER (kind = 'end_of_data') AS data,
    min(position) FILTER (kind = 'end_of_partition') AS part FROM ev
  WHERE kind IN ('end_of_data', 'end_of_partition') GROUP BY ALL),
lasts AS (SELECT {SIDE}, max(position) AS position FROM ev WHERE {ELEMENT} GROUP BY ALL),
highest AS (SELECT {CHANNEL}, arg_max(timestamp, position) AS last FROM ev
  WHERE kind = 'watermark' AND dir = 'out' AND edge IN (0, 3) GROUP BY ALL),
asleep AS (SELECT {CHANNEL}, arg_max(value, position) AS active FROM ev
  WHERE kind = 'status' AND dir = 'out' AND edge IN (0, 3) GROUP BY ALL)
SELECT {SIDE}, position FROM ev JOIN ends USING ({SIDE})
  WHERE {ELEMENT} AND position > data AND (position > part OR kind NOT IN ('barrier', 'end_of_partition'))
UNION ALL SELECT {SIDE}, part FROM ends WHERE part IS NOT NULL AND (data IS NULL OR part < data)
UNION ALL SELECT {CHANNEL}, 'out', data FROM ends JOIN highest USING ({CHANNEL}) LEFT JOIN asleep USING ({CHANNEL})
  WHERE dir = 'out' AND data IS NOT NULL AND coalesce(active, 1) = 1 AND last <> {MAX}
UNION ALL SELECT {SIDE}, position FROM lasts LEFT JOIN ends USING ({SIDE})
  WHERE dir = 'out' AND (part IS NULL OR part <> position)"""

#: What both sides of a channel have, by fingerprint; only channels that differ are looked at row by row.
DIRTY = f"""
CREATE OR REPLACE TEMP TABLE dirty AS SELECT {CHANNEL} FROM (
  SELECT {SIDE}, count(*) AS often, bit_xor(hash(xor(hash(coalesce(id, timestamp, value)), hash(position)))) AS print
  FROM ev WHERE {ELEMENT} GROUP BY ALL)
GROUP BY ALL HAVING count(*) <> 2 OR min(often) <> max(often) OR min(print) <> max(print)"""

PAIRS = f"""
CREATE OR REPLACE TEMP TABLE pairs AS
WITH numbered AS (
  SELECT {SIDE}, position, kind, CASE WHEN kind = 'record' THEN id ELSE timestamp END AS name,
    CASE WHEN kind = 'record' THEN NULL ELSE value END AS amount,
    row_number() OVER (PARTITION BY {SIDE}, kind, name, amount ORDER BY position) AS turn
  FROM ev JOIN dirty USING ({CHANNEL}) WHERE {ELEMENT})
SELECT coalesce(s.run, r.run) AS run, coalesce(s.edge, r.edge) AS edge, coalesce(s.producer, r.producer) AS producer,
  coalesce(s.consumer, r.consumer) AS consumer, coalesce(s.kind, r.kind) AS kind, coalesce(s.name, r.name) AS name,
  coalesce(s.amount, r.amount) AS amount, s.position AS sent, r.position AS received
FROM (SELECT * FROM numbered WHERE dir = 'out') s FULL OUTER JOIN (SELECT * FROM numbered WHERE dir = 'in') r
  ON s.run = r.run AND s.edge = r.edge AND s.producer = r.producer AND s.consumer = r.consumer AND s.kind = r.kind
  AND s.name IS NOT DISTINCT FROM r.name AND s.amount IS NOT DISTINCT FROM r.amount AND s.turn = r.turn"""

LOSS = f"""
SELECT {CHANNEL}, CASE WHEN received IS NULL THEN 'out' ELSE 'in' END AS dir, coalesce(sent, received) AS position
FROM pairs WHERE sent IS NULL OR received IS NULL"""

ORDER = f"""
SELECT {CHANNEL}, 'in' AS dir, min(received) AS position FROM (
  SELECT {CHANNEL}, sent, received, min(sent) OVER (PARTITION BY {CHANNEL} ORDER BY received
    ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS least
  FROM pairs p WHERE sent IS NOT NULL AND received IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM pairs q WHERE (q.sent IS NULL OR q.received IS NULL) AND q.run = p.run AND q.edge = p.edge
    AND q.producer = p.producer AND q.consumer = p.consumer AND q.kind = p.kind
    AND q.name IS NOT DISTINCT FROM p.name AND q.amount IS NOT DISTINCT FROM p.amount))
WHERE sent > least GROUP BY ALL"""

ROUTE = f"""
SELECT {SIDE}, position FROM ev JOIN owners USING (key) WHERE kind = 'record' AND edge = 1 AND consumer <> owner
UNION ALL SELECT {SIDE}, position FROM ev
  WHERE kind = 'record' AND edge = 2 AND dir = 'out' AND consumer <> producer
UNION ALL SELECT {SIDE}, position FROM (
  SELECT {SIDE}, position, lag(consumer) OVER (PARTITION BY run, producer ORDER BY step) AS last
  FROM ev WHERE kind = 'record' AND edge = 0 AND dir = 'out') WHERE consumer <> (last + 1) % 4
UNION ALL SELECT run, edge, producer, arg_min(consumer, step), dir, arg_min(position, step) FROM ev
  WHERE kind = 'record' AND edge = 3 AND dir = 'out' GROUP BY run, edge, producer, dir, id HAVING count(*) <> 2"""

CREDIT = f"""
SELECT {SIDE}, position FROM (
  SELECT {SIDE}, position, kind, 2 + sum(CASE WHEN kind = 'credit' THEN value ELSE -1 END)
    OVER (PARTITION BY {CHANNEL} ORDER BY step {SO_FAR}) AS left_over
  FROM ev WHERE (kind = 'buffer' AND dir = 'out') OR (kind = 'credit' AND dir = 'in'))
WHERE kind = 'buffer' AND left_over < 0
UNION ALL SELECT {CHANNEL}, 'in', r.position FROM (SELECT * FROM ev WHERE kind = 'credit' AND dir = 'in') r
  LEFT JOIN (SELECT {CHANNEL}, position, value AS given FROM ev WHERE kind = 'credit' AND dir = 'out') s
  USING ({CHANNEL}, position) WHERE given IS DISTINCT FROM r.value"""

REACHED = "max(CASE WHEN dir = 'in' AND idle = 0 AND producer = {p} THEN stamp END) OVER w AS p{p}"

#: Event time of every subtask after every tick; then the records that came too late for it; then their senders.
LATE = f"""
WITH ticks AS (
  SELECT run, task, subtask, step, dir, producer, kind, CASE WHEN kind = 'watermark' THEN timestamp END AS stamp,
    max(CASE WHEN kind = 'status' THEN 1 ELSE 0 END)
      OVER (PARTITION BY run, task, subtask ORDER BY step {SO_FAR}) AS idle
  FROM ev WHERE kind = 'watermark' OR (kind = 'status' AND dir = 'in')),
reached AS (
  SELECT run, task, subtask, step, max(CASE WHEN dir = 'out' THEN stamp END) OVER w AS announced, idle,
    {", ".join(REACHED.format(p=p) for p in range(4))}
  FROM ticks WINDOW w AS (PARTITION BY run, task, subtask ORDER BY step {SO_FAR})),
clock AS (
  SELECT run, task, subtask, step, max(greatest(coalesce(announced, {-(2**63)}), CASE
    WHEN task = 'sink' THEN coalesce(p0, p1, p2, p3, {-(2**63)})
    WHEN p0 IS NULL OR p1 IS NULL OR p2 IS NULL OR p3 IS NULL THEN {-(2**63)} ELSE least(p0, p1, p2, p3) END))
    OVER (PARTITION BY run, task, subtask ORDER BY step {SO_FAR}) AS time
  FROM reached),
late AS MATERIALIZED (
  SELECT r.run, r.edge, r.producer, r.consumer, r.id, r.position FROM
    (SELECT run, task, subtask, step, edge, producer, consumer, id, position, timestamp FROM ev
     WHERE kind = 'record' AND dir = 'in') r
  ASOF JOIN clock c ON r.run = c.run AND r.task = c.task AND r.subtask = c.subtask AND r.step >= c.step
  WHERE r.timestamp <= c.time),
senders AS (
  SELECT e.run, e.edge, e.producer, e.consumer, e.position AS sent, e.timestamp, late.position
  FROM ev e JOIN late USING ({CHANNEL}, id) WHERE e.kind = 'record' AND e.dir = 'out'),
announced AS (
  SELECT {CHANNEL}, position AS at, max(timestamp) OVER w AS time,
    max(CASE WHEN kind = 'status' THEN 1 ELSE 0 END) OVER w AS idle
  FROM ev WHERE kind IN ('watermark', 'status') AND dir = 'out'
  WINDOW w AS (PARTITION BY {CHANNEL} ORDER BY position {SO_FAR}))
SELECT s.run, s.edge, s.producer, s.consumer, 'in' AS dir, s.position FROM senders s
ASOF LEFT JOIN announced a ON s.run = a.run AND s.edge = a.edge AND s.producer = a.producer
  AND s.consumer = a.consumer AND s.sent >= a.at
WHERE a.at IS NULL OR (a.idle = 0 AND s.timestamp > a.time)"""

#: The steps between the barrier of a channel and the last one, and between that and the barrier handed on: few.
BARRIER = f"""
WITH met AS (
  SELECT run, task, subtask, edge, producer, consumer, value, step,
    max(step) OVER (PARTITION BY run, task, subtask, value) AS whole FROM ev WHERE kind = 'barrier' AND dir = 'in'),
waits AS (SELECT run, task, subtask, edge, producer, consumer, unnest(range(step + 1, whole)) AS step FROM met),
owed AS (
  SELECT o.run, o.task, o.subtask, o.edge, o.producer, o.consumer, o.step AS paid, whole, o.position FROM
    (SELECT * FROM ev WHERE kind = 'barrier' AND dir = 'out' AND task <> 'source') o
  JOIN (SELECT DISTINCT run, task, subtask, value, whole FROM met) USING (run, task, subtask, value)),
dues AS (SELECT run, task, subtask, edge, producer, consumer, unnest(range(whole + 1, paid)) AS step FROM owed)
SELECT {SIDE}, position FROM ev JOIN waits USING (run, task, subtask, edge, producer, consumer, step)
  WHERE dir = 'in' AND {ELEMENT}
UNION ALL SELECT {SIDE}, position FROM ev JOIN dues USING (run, task, subtask, edge, producer, consumer, step)
  WHERE dir = 'out' AND {ELEMENT}
UNION ALL SELECT {CHANNEL}, 'out', position FROM owed WHERE paid < whole"""

PREPARATIONS = (DIRTY, PAIRS)
QUERIES = {
    "LOG-WATERMARK": WATERMARK,
    "LOG-ORDER": ORDER,
    "LOG-LOSS": LOSS,
    "LOG-ROUTE": ROUTE,
    "LOG-CREDIT": CREDIT,
    "LOG-LATE": LATE,
    "LOG-STATUS": STATUS,
    "LOG-END": END,
    "LOG-BARRIER": BARRIER,
}
