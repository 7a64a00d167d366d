"""A campaign as a process, and what a run of the same cases in one process says, with nothing of campaigns in it."""

import json
from collections import deque
from functools import cache
from unittest import mock

from tests.processes import run_tidegate, tidegate_command
from tidegate.conformance.judging import trial
from tidegate.conformance.judging.run import conclude
from tidegate.conformance.judging.suite import Budget, declared_components, wanted_of
from tidegate.conformance.kinds import resolve

WRONG = "python:tidegate.conformance.engines.museum.engines:ValveAlwaysFlushes"
ENGINES = "python:tests.conformance.campaign.engines"


def command(*args):
    return tidegate_command("campaign", *args)


def tidegate(*args, **options):
    return run_tidegate("campaign", *args, **options)


def summary_of(folder):
    """What a campaign said in the end, without what may differ: the time, and how it came about."""
    found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    about = found.pop("campaign")
    return comparable(found), about


def comparable(found):
    """A summary without the time, and of its causes the likeliest: a campaign compares only failures that it keeps."""
    causes = [
        {**{key: value for key, value in cause.items() if key != "failures"}, "rules": cause["rules"][:1]}
        for cause in found["causes"]
    ]
    remarks = [remark for remark in found["remarks"] if not remark.startswith("Likely cause")]
    return {key: value for key, value in found.items() if key != "seconds"} | {"causes": causes, "remarks": remarks}


@cache
def in_one_process(engine, components, cases, seed):
    """The same cases through the trial that `tidegate run` uses, which here keeps all failures, as a campaign does."""
    kept = {"KEPT_FINDINGS": cases, "KEPT_BYTES": trial.ALL_KEPT_BYTES}
    with mock.patch.multiple(trial, **kept), resolve(engine) as one:
        description = one.start()
        names = declared_components(description, components)
        held = trial.Trial(trial.Runner(one))
        for name in names:
            deque(held.try_component(name, Budget(cases, seed, ("generated",))), maxlen=0)
        found = conclude(one, engine, held.tally, wanted_of(description, names)).json()
    return comparable(json.loads(json.dumps(found)))
