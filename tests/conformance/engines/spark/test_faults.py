"""A driver whose JVM is killed, and a sink that does not know its micro-batches, on jobs in the corners of idleness."""

import shutil
import subprocess
import sys
import uuid

import pytest

from tidegate.conformance.documents.spark_page.jobs import CORNERS, encode_jobs, find_wrongs_of
from tidegate.conformance.engines.spark.streaming.campaign import slice_scripts
from tidegate.conformance.engines.spark.streaming.logs import read_outcomes
from tidegate.conformance.engines.spark.streaming.query import Folder, Options, run_query
from tidegate.conformance.engines.spark.streaming.scripts import write_scripts

pytestmark = pytest.mark.long

JOBS = {f"corner-{number}": config for number, config in enumerate(CORNERS.values())}
#: For a driver that hangs instead of dying.
LIMIT = 900


def keep_a_copy(folder, number):
    """A sink that appends: each time that a micro-batch is done, what came of it is added to what is there."""
    shutil.copytree(folder.batches / str(number), folder.path / "appended" / f"{number}-{uuid.uuid4()}")


@pytest.fixture(scope="module")
def folder(spark, tmp_path_factory):
    made = Folder(tmp_path_factory.mktemp("killed") / "query")
    jobs = encode_jobs(JOBS)
    made.create(jobs)
    slices = slice_scripts(jobs, seed=3)
    write_scripts(made.scripts, [slices[0] + slices[1], slices[2] + slices[3], slices[4] + slices[5]])
    command = [sys.executable, "-m", "tests.conformance.engines.spark.killed_driver", str(made.path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode != 0, done.stderr
    assert sorted(place.name for place in made.batches.iterdir()) == ["0", "1"], done.stderr
    run_query(spark, made, Options(incarnation=1, hook=lambda number: keep_a_copy(made, number)))
    return made


def test_after_the_jvm_was_killed_every_run_is_one_of_the_specification(folder):
    outcomes = read_outcomes(folder)
    wrongs = {name: find_wrongs_of(JOBS[run], outcomes[run]) for name, run in zip(CORNERS, JOBS, strict=True)}
    assert not {name: found for name, found in wrongs.items() if found}


def test_a_sink_that_appends_is_found_out(folder):
    """Micro-batch 1 was written before the JVM was killed, and again behind it."""
    copies = [place.name.partition("-")[0] for place in (folder.path / "appended").iterdir()]
    assert sorted(copies) == ["0", "1", "1", "2"]
    outcomes = read_outcomes(folder, folder.path / "appended")
    assert any(find_wrongs_of(config, outcomes[run]) for run, config in JOBS.items())
