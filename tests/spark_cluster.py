"""A standalone Spark cluster on this machine, for tests: a master and workers, each a process of the pip package.

    with start_cluster(scratch, workers=2) as cluster:
        …  # cluster.master is its URL; programs that use it are given cluster.environment
        cluster.kill_worker(0)

All of them are gone when the block ends, however it ends.
"""

import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import attrs

from tests.processes import wait_until

HOST = "127.0.0.1"


@attrs.frozen
class Cluster:
    master: str
    workers: list[subprocess.Popen]
    environment: dict[str, str]

    def kill_worker(self, index):
        """A worker dies, and its executor with it, without a word."""
        kill(self.workers[index])


@contextmanager
def start_cluster(scratch, workers=2):
    """A master, and workers with one core each, once all of them have met."""
    scratch.mkdir(parents=True, exist_ok=True)
    environment = make_environment(scratch, workers)
    url = f"spark://{HOST}:{free_port()}"
    processes = []
    try:
        port = url.rpartition(":")[2]
        processes.append(launch(scratch / "master", environment, "master.Master", "--port", port))
        await_line(scratch / "master.log", "I have been elected leader", processes[0])
        for index in range(workers):
            place = scratch / f"worker-{index}"
            size = ("--cores", "1", "--memory", "1g")
            processes.append(launch(place, environment, "worker.Worker", *size, "--work-dir", place, url))
        for index, process in enumerate(processes[1:]):
            await_line(scratch / f"worker-{index}.log", "Successfully registered with master", process)
        yield Cluster(url, processes[1:], environment)
    finally:
        for process in reversed(processes):
            kill(process)


def make_environment(scratch, workers):
    """Small processes; a program that uses the cluster waits for all of its executors."""
    settings = {
        "spark.cores.max": workers,
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "90s",
        "spark.executor.memory": "512m",
        "spark.driver.memory": "1g",
    }
    conf = scratch / "conf"
    conf.mkdir(exist_ok=True)
    (conf / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    return os.environ | {
        "SPARK_CONF_DIR": str(conf),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "512m",
        "PYSPARK_PYTHON": sys.executable,
    }


def launch(place, environment, role, *options):
    home = Path(find_spec("pyspark").origin).parent
    command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{role}", "--host", HOST, "--webui-port", "0"]
    with place.with_suffix(".log").open("w") as log:
        return subprocess.Popen(
            [str(word) for word in (*command, *options)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment | {"SPARK_HOME": str(home)},
            start_new_session=True,
        )


def await_line(log, text, process):
    try:
        wait_until(lambda: text in log.read_text(), process)
    except AssertionError as error:
        raise AssertionError(f"{error}: {text!r} in {log.read_text()[-2000:]}") from error


def kill(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]
