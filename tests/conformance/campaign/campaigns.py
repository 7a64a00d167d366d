"""A campaign as a process, and what a run of the same cases in one process says, with nothing of campaigns in it."""

import json
import os
import subprocess
import sys
from collections import deque
from functools import cache

from tests.paths import PYTHONPATH, ROOT
from tidegate.conformance.judging.run import conclude
from tidegate.conformance.judging.suite import Budget, declared_components, wanted_of
from tidegate.conformance.judging.trial import Runner, Trial
from tidegate.conformance.kinds import resolve

WRONG = "python:tidegate.conformance.engines.museum.engines:ValveAlwaysFlushes"
ENGINES = "python:tests.conformance.campaign.engines"


def command(*args):
    return [sys.executable, "-m", "tidegate.conformance.cli.main", "campaign", *map(str, args)]


def tidegate(*args, cwd=ROOT, **environment):
    return subprocess.run(
        command(*args),
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": PYTHONPATH, **environment},
        timeout=300,
        check=False,
    )


def summary_of(folder):
    """What a campaign said in the end, without what may differ: the time, and how it came about."""
    found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    about = found.pop("campaign")
    found.pop("seconds")
    return found, about


@cache
def in_one_process(engine, components, cases, seed):
    """The same cases through the trial that `tidegate run` uses."""
    with resolve(engine) as one:
        description = one.start()
        names = declared_components(description, components)
        trial = Trial(Runner(one))
        for name in names:
            deque(trial.try_component(name, Budget(cases, seed, ("generated",))), maxlen=0)
        found = conclude(one, engine, trial.tally, wanted_of(description, names)).json()
    found.pop("seconds")
    return json.loads(json.dumps(found))
