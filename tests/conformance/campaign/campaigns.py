"""A campaign as a process, and what a run of the same cases in one process says, with nothing of campaigns in it."""

import json
import os
import subprocess
import sys
from functools import cache

from tests.paths import PYTHONPATH, ROOT
from tidegate.conformance.judging.session import Session
from tidegate.conformance.judging.suite import Budget, declared_components, plan, wanted_of
from tidegate.conformance.kinds import resolve
from tidegate.conformance.reports.summary import as_json

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
    """The same cases through the runner that `tidegate run` uses."""
    with resolve(engine) as one:
        description = one.start()
        names = declared_components(description, components)
        session = Session(one, engine)
        budget = Budget(cases, seed, ("generated",))
        session.run(planned for name in names for planned in plan(description, name, budget))
        found = as_json(session.finish(wanted_of(description, names)))
    found.pop("seconds")
    return json.loads(json.dumps(found))
