"""However a harness ends, nobody outlives it: no engine, no child of an engine, no worker."""

import signal
import sys
import uuid
from pathlib import Path

import pytest

from tests.conformance.engines.conftest import HOSTILE, MARK, survivors_in_the_end
from tests.processes import PATIENCE, launch, tidegate_command, wait_until

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tidegate.conformance.pytest_plugin"]
HARNESSES = {
    "run": (tidegate_command("run", "--timeout", 600, "--jobs", 1), "--engine", 1),
    "run in workers": (tidegate_command("run", "--timeout", 600, "--jobs", 2), "--engine", 2),
    "campaign": (tidegate_command("campaign", "--timeout", 600, "--local", "--cases=9", "--out=out"), "--engine", 1),
    "jobs": (tidegate_command("jobs", "--timeout", 600, "--jobs", 1), "--engine", 1),
    "pytest": ([*PYTEST, "--tidegate-timeout", "600"], "--tidegate-engine", 1),
    "pytest in workers": (
        [*PYTEST, "-p", "xdist", "-n2", "--dist", "loadscope", "--tidegate-timeout", "600"], "--tidegate-engine", 2,
    ),
}  # fmt: skip
ATTACKS = [
    *(("run", number) for number in (signal.SIGKILL, signal.SIGINT, signal.SIGQUIT)),
    *(("run in workers", number) for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)),
    *(("campaign", number) for number in (signal.SIGKILL, signal.SIGTERM)),
    ("jobs", signal.SIGKILL),
    *(("pytest", number) for number in (signal.SIGKILL, signal.SIGTERM)),
    *(("pytest in workers", number) for number in (signal.SIGKILL, signal.SIGTERM)),
]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize(("name", "number"), ATTACKS, ids=lambda one: getattr(one, "name", one))
def test_nobody_outlives_the_harness(name, number, tmp_path):
    command, option, engines = HARNESSES[name]
    scratch = tmp_path / "pids"
    scratch.mkdir()
    mark = uuid.uuid4().hex
    engine = f"exec:env -i {sys.executable} {HOSTILE} clings_to_life {scratch}"
    environment = {MARK: mark, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with launch([*command, option, engine], cwd=tmp_path, env=environment, stdout=None, stderr=None) as harness:

        def pids():
            return [path.name.split() for path in scratch.iterdir()]

        wait_until(lambda: len(pids()) == 4 * engines == 4 * len({engine for engine, _pid in pids()}), harness)
        harness.send_signal(number)
        harness.wait(PATIENCE)
    assert survivors_in_the_end(mark) == []
    for _engine, pid in pids():
        assert not is_alive(pid)
