"""One audit of a folder of synthetic logs by one contender, in this process: what it found, what it cost, as JSON.

python -m tests.benchmarks.audits.contenders kernel FOLDER [--warm FOLDER]
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks.processes import Watch, cpu_of_tree

MOST = 100_000


def of_outcomes(outcomes):
    for outcome in outcomes:
        assert not outcome.problem, outcome.problem
        for name, tally in outcome.tallies.items():
            for one in tally.findings:
                yield outcome.run, name, list(one.channel), str(one.direction), one.position


def with_scan(folder, _session):
    """All columns are read, batch by batch, and nothing is looked at."""
    import pyarrow.parquet

    for path in sorted(folder.glob("*.parquet")):
        with pyarrow.parquet.ParquetFile(path) as file:
            for _batch in file.iter_batches(2**18, use_threads=False):
                pass
    return ()


def with_kernel(folder, _session):
    """The bare kernel: one process, file after file, no excerpts."""
    from tidegate.conformance.audit.local import audit_here
    from tidegate.conformance.audit.planning import plan
    from tidegate.properties.kernels.run import Wanted

    return of_outcomes(audit_here(plan([str(folder)]), Wanted(most=MOST), workers=1))


def with_command(folder, _session):
    """What a user runs, from the start of the process to its end."""
    command = [Path(sys.executable).with_name("tidegate"), "audit", "--local", folder, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr[-3000:]
    for one in json.loads(done.stdout)["violations"]:
        yield one["run"], one["invariant"], one["channel"], one["direction"], one["position"]


def with_files(folder, session):
    from tidegate.conformance.audit.on_spark import audit_by_files
    from tidegate.conformance.audit.planning import plan
    from tidegate.properties.kernels.run import Wanted

    return of_outcomes(audit_by_files(session, plan([str(folder)]), Wanted(most=MOST), 0))


def with_shuffle(folder, session):
    from tidegate.conformance.audit.planning import plan
    from tidegate.conformance.audit.shuffle import audit_by_channel
    from tidegate.properties.kernels.run import Wanted

    return of_outcomes(audit_by_channel(session, plan([str(folder)]), Wanted(most=MOST), 0))


def with_duckdb(folder, _session):
    import duckdb
    import pyarrow as pa

    from tests.benchmarks.audits.duckdb_queries import PREPARATIONS, QUERIES
    from tidegate.conformance.synthetic.job import KEYS, owners

    connection = duckdb.connect()
    connection.execute("SET threads = 2; SET memory_limit = '8GB'")
    connection.register("owners", pa.table({"key": list(KEYS), "owner": owners()}))
    connection.read_parquet(f"{folder}/*.parquet").create_view("ev")
    for statement in PREPARATIONS:
        connection.execute(statement)
    for name, query in QUERIES.items():
        for run, edge, producer, consumer, direction, position in connection.execute(query).fetchall():
            yield run, name, [edge, producer, consumer], direction, position


def with_polars(folder, _session):
    from tests.benchmarks.audits.polars_queries import audit

    return audit(folder)


CONTENDERS = {
    "scan": with_scan,
    "command": with_command,
    "kernel": with_kernel,
    "files": with_files,
    "shuffle": with_shuffle,
    "duckdb": with_duckdb,
    "polars": with_polars,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("contender", choices=CONTENDERS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--warm", type=Path, help="audit this one first, and do not count it")
    args = parser.parse_args()
    session = None
    if args.contender in ("files", "shuffle"):
        from tidegate.conformance.engines.spark.session import make_session

        session = make_session("local[2]", "tidegate benchmark")
    contender = CONTENDERS[args.contender]
    if args.warm:
        list(contender(args.warm, session))
    with Watch() as watch:
        cpu, started = cpu_of_tree(), time.perf_counter()
        found = sorted(map(list, contender(args.folder, session)))
        wall, cpu = time.perf_counter() - started, cpu_of_tree() - cpu - watch.cpu
    memory = {"total": watch.total, "worker": watch.worker, "java": watch.java}
    print(json.dumps({"cpu": cpu, "wall": wall, "memory": memory, "found": found}))
    if session is not None:
        session.stop()


if __name__ == "__main__":
    main()
