"""Campaigns: cases/s on two cores of Spark, over those of one process that runs the same cases without it."""

import statistics
import tempfile
import time
from collections import deque
from pathlib import Path

from tidegate.conformance.campaign.campaign import Campaign
from tidegate.conformance.campaign.folder import Folder
from tidegate.conformance.campaign.plan import make_plan
from tidegate.conformance.campaign.pool import run_on_spark
from tidegate.conformance.campaign.worker import close_engine
from tidegate.conformance.engines.spark.session import make_session
from tidegate.conformance.judging.suite import Budget
from tidegate.conformance.judging.trial import Runner, Trial
from tidegate.conformance.kinds import resolve

ENGINES = {"reference": 40_000, "python:tidegate.conformance.engines.museum.engines:Right": 20_000}
CHUNK = 2000
PAIRS = 3


def one_process(engine, cases, seed):
    """Cases/s of the trial that `tidegate run` uses, once it is warm."""
    with resolve(engine) as one:
        one.start()
        deque(Trial(Runner(one)).try_component("valve", Budget(cases // 10, seed + 1000, ("generated",))), maxlen=0)
        started = time.perf_counter()
        assert sum(1 for _ in Trial(Runner(one)).try_component("valve", Budget(cases, seed, ("generated",)))) == cases
        return cases / (time.perf_counter() - started)


def on_spark(context, engine, cases, seed):
    """Cases/s of a campaign, its files included."""
    with tempfile.TemporaryDirectory() as folder, resolve(engine) as one:
        made = make_plan(engine, one.start(), ["valve"], seed=seed, cases=cases, chunk=CHUNK)
        one.close()
        campaign = Campaign(made, Folder(Path(folder)), {})
        done = []
        with campaign.folder.opened(made):
            started = time.perf_counter()
            campaign.run(lambda orders: run_on_spark(context, orders), done.append)
            seconds = time.perf_counter() - started
    assert sum(outcome.results["pass"] for outcome in done) == cases
    return cases / seconds


def measure():
    for engine, cases in ENGINES.items():
        spark = make_session("local[2,4]", "tidegate benchmark")
        try:
            on_spark(spark.sparkContext, engine, cases // 2, 500)  # warm: the JVM, the workers, their engines
            pairs = [
                (one_process(engine, cases, seed), on_spark(spark.sparkContext, engine, cases, seed))
                for seed in range(PAIRS)
            ]
        finally:
            spark.stop()
            close_engine()
        ratios = [two / one for one, two in pairs]
        one, two = pairs[ratios.index(statistics.median(ratios))]
        name = engine.rpartition(".")[2]
        yield f"campaign, valve, {name}: one process and local[2]", f"{one:,.0f} and {two:,.0f} cases/s", ""
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        goal = "≥ 1.7" if engine == "reference" else "the engine has a core of its own in one process, too"
        yield (
            f"campaign on 2 cores over one process, {name}",
            f"{statistics.median(ratios):.2f} ({PAIRS} pairs, {spread})",
            goal,
        )
