"""A campaign from its plan to its summary: on Spark, or in this process."""

import json
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from importlib.util import find_spec
from pathlib import Path

import attrs

from tidegate.conformance.campaign.campaign import Campaign
from tidegate.conformance.campaign.folder import Folder
from tidegate.conformance.campaign.outcome import Outcome
from tidegate.conformance.campaign.plan import make_plan
from tidegate.conformance.campaign.pool import run_here, run_on_spark, with_attempts
from tidegate.conformance.campaign.summary import Finished, summarize
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.java import check_spark
from tidegate.conformance.judging.expectations import Expectations
from tidegate.conformance.judging.run import Candidate
from tidegate.conformance.judging.suite import Budget, UnknownNameError, check_components, declared_components
from tidegate.conformance.reports.folder import PAGES, make_line, write_pages
from tidegate.conformance.reports.writing import clear, explain

SUMMARY = "summary.json"

#: Makes an observer of the chunks of a campaign.
Watch = Callable[[Campaign], AbstractContextManager[Callable[[Outcome], None]]]


def unwatched(_campaign: Campaign) -> AbstractContextManager[Callable[[Outcome], None]]:
    return nullcontext(lambda _outcome: None)


def run_campaign(
    candidate: Candidate,
    out: Path,
    budget: Budget,
    *,
    components: Iterable[str] = (),
    chunk: int | None = None,
    master: str | None = None,
    floor: int = 1,
    expectations: Expectations | None = None,
    watch: Watch = unwatched,
    command: str = "",
) -> Finished:
    """Run the generated cases of the budget in chunks, on Spark at `master`, or in this process without one.

    Chunks that `out` already holds do not run again. After an interrupt the summary covers the finished chunks.
    """
    wanted = check_components(components)
    if find_spec("pyarrow") is None:
        raise CannotStartError("a campaign writes Parquet, and PyArrow is missing", "pip install 'tidegate[audit]'")
    if master is not None:
        check_spark()
    began = time.monotonic()
    with candidate.make() as engine:
        description = engine.start()
        chosen = declared_components(description, wanted)
        if undeclared := [name for name in wanted if name not in chosen]:
            raise UnknownNameError(f"the engine does not declare {', '.join(undeclared)}")
        plan = make_plan(
            candidate.name,
            description,
            chosen,
            seed=budget.seed,
            cases=budget.cases,
            chunk=chunk,
            strict=candidate.strict,
        )
        campaign = Campaign(plan, Folder(out), candidate.limits)
        with campaign.folder.opened(plan):
            engine.close()  # it is needed again at the end; until then the workers need its memory
            clear(out, (SUMMARY, *PAGES))
            campaign.look()
            lead(campaign, master, watch)
            finished = summarize(campaign, engine, time.monotonic() - began, expectations, floor)
            return write_summary(campaign, finished, command)


def lead(campaign: Campaign, master: str | None, watch: Watch) -> None:
    """Run the open chunks."""
    with ExitStack() as stack:
        observe = stack.enter_context(watch(campaign))
        if master is None or len(campaign.resumed) == campaign.plan.all_chunks:
            campaign.run(run_here, observe)
            return
        # Imported only for Spark.
        from tidegate.conformance.engines.spark.session import make_session  # noqa: PLC0415

        spark = make_session(with_attempts(master), "tidegate campaign")
        stack.callback(spark.stop)
        campaign.run(lambda orders: run_on_spark(spark.sparkContext, orders), observe)


def write_summary(campaign: Campaign, finished: Finished, command: str) -> Finished:
    result, folder = finished.result, campaign.folder
    troubles = [campaign.trouble] * bool(campaign.trouble)
    troubles += write_pages(
        folder.path,
        result,
        lambda: (make_line(one, result.engine) for one in result.findings),
        finished.about["seed"],
        command,
    )
    try:
        folder.write_text(SUMMARY, json.dumps(finished.json(), indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        troubles.append(explain(folder.path / SUMMARY, error))
    return attrs.evolve(finished, trouble="; ".join(troubles))
