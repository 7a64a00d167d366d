"""An audit on a real cluster, one worker of which is killed in the middle."""

import subprocess
import sys

import pytest

from tests.conformance.audit.comparing import WANTED, checked, found, planted
from tests.conformance.audit.conftest import write_logs
from tests.processes import PATIENCE
from tests.spark_cluster import start_cluster
from tidegate.conformance.audit.local import audit_here
from tidegate.conformance.audit.outcomes import from_json
from tidegate.conformance.audit.planning import plan
from tidegate.conformance.synthetic.planning import spread

RUNS = 6
#: Tells each outcome as it comes, and waits after the first: so whoever reads knows that the audit is in its middle.
PROGRAM = """
import sys
from tidegate.conformance.audit.on_spark import audit_by_files
from tidegate.conformance.audit.outcomes import to_json
from tidegate.conformance.audit.planning import plan
from tidegate.conformance.engines.spark.session import make_session
from tidegate.properties.kernels.run import Wanted
session = make_session(sys.argv[1], "tidegate audit")
for number, outcome in enumerate(audit_by_files(session, plan([sys.argv[2]]), Wanted(most=1000))):
    print(to_json(outcome), flush=True)
    if number == 0:
        sys.stdin.readline()
session.stop()
"""


@pytest.mark.long  # `make test` kills the worker of a campaign: tests/conformance/campaign/test_spark.py
def test_a_worker_that_is_killed_loses_nothing(tmp_path):
    logs = write_logs(tmp_path / "logs", 120_000, RUNS, spread(26))
    with (
        start_cluster(tmp_path / "cluster", workers=2) as cluster,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, cluster.master, str(logs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=cluster.environment,
        ) as driver,
    ):
        first = driver.stdout.readline()
        assert first
        cluster.kill_worker(0)
        rest, _ = driver.communicate("go on\n", timeout=PATIENCE)
        assert driver.returncode == 0
    outcomes = [from_json(line) for line in (first, *rest.splitlines())]
    assert len(outcomes) == RUNS
    assert found(outcomes) == planted(logs)
    assert checked(outcomes) == checked(list(audit_here(plan([str(logs)]), WANTED)))
