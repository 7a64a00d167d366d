"""`python -m tests.mutation.engines`: mutate the museum's right machines, and see what the default run notices.

Each small change of a machine is an engine that nobody has thought of. Its source is changed in one place, as the
reference is, and in ways that engines really go wrong: counters of one and two bytes, statements left out, branches
that are taken too rarely, observations in another order, state that outlives its case. Every stage of the default run
is tried until one fails. What survives is either no change at all, or a hole in the suite; with `--more` so many
further generated cases tell holes apart.
"""

import argparse
import gc
import importlib
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from tests.mutation.install import Probes, SwapError, Swapper
from tests.mutation.parts import Parts
from tests.mutation.report import show
from tests.mutation.sites import Finder, Site
from tests.mutation.workers import Answer, Reporter, fork_each
from tests.mutation.wrongs import go_wrong, read_right
from tidegate.conformance.engines.museum import engines
from tidegate.conformance.engines.museum.catalog import COMPONENTS
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.judging.judge_fast import Judge
from tidegate.conformance.judging.suite import Budget, Planned, parts_of, plan
from tidegate.conformance.judging.trial import Encoder
from tidegate.conformance.judging.verdicts import Passed
from tidegate.traces.cases import Case

HOME = "tidegate.conformance.engines.museum"
STAGES = ("directed", "golden", "complete", "generated")
#: Further generated cases: who is caught there alone is beyond the default run.
MORE = "more"
#: In functions that the right machine never calls.
UNUSED = "unused"
#: A stage may take so many seconds of a mutant, and so many times as long as of the right machine.
SECONDS, TIMES = 2.0, 5.0
#: All of it together, on the clock: for what no signal interrupts.
WALL_SECONDS = 60.0


@attrs.frozen
class Asked:
    """A case, as the engine is asked for it, with the answer of the right one."""

    stage: str
    case: Case
    request: dict[str, Any]
    answer: dict[str, Any]


@attrs.frozen
class Bench:
    """What the mutants of a component are held to: all that the right machine was asked, and how long it took.

    `called` are its functions that did anything: the others are there for machines that are made of it.
    """

    swapper: Swapper
    asked: list[Asked]
    seconds: Mapping[str, float]
    called: frozenset[tuple[str, str]]

    def is_called(self, site: Site) -> bool:
        return (str(importlib.import_module(site.mutation.module).__file__), site.mutation.unit) in self.called

    def examine(self, site: Site, reporter: Reporter) -> None:
        """Try a mutant until it fails."""
        module = importlib.import_module(site.mutation.module)
        stage = "import"
        try:
            code = site.compile(str(module.__file__))
            try:
                self.swapper.swap(code, site.mutation.unit)
            except SwapError:
                exec(code, vars(module))  # noqa: S102  a mutant of ours, in a process of its own
            engine, judge = engines.Engine(), Judge()
            for one in self.asked:
                if one.stage != stage:
                    stage = one.stage
                    reporter.start(stage, "", SECONDS + TIMES * self.seconds[stage])
                answer = engine.replay_case(one.request)
                if answer != one.answer and not is_allowed(judge, one.case, answer):
                    reporter.answer("killed", stage, one.case.name)
        except BaseException as error:  # noqa: BLE001  a mutant may fail in any way
            reporter.answer("killed", stage, repr(error))
        reporter.answer("survived")

    def examine_all(self, sites: list[Site], jobs: int) -> Iterator[tuple[Site, Answer]]:
        answers = fork_each(
            len(sites), lambda number, reporter: self.examine(sites[number], reporter), jobs, WALL_SECONDS
        )
        return ((sites[number], answer) for number, answer in answers)


def is_allowed(judge: Judge, case: Case, answer: Mapping[str, Any]) -> bool:
    return "steps" in answer and isinstance(judge.judge(case, answer["steps"]), Passed)


def make_bench(component: str, modules: Iterable[str], more: int = 0) -> Bench:
    """Ask the right machine for every case of the default run, and for so many more generated ones."""
    files = {name: str(importlib.import_module(name).__file__) for name in modules}
    swapper = Swapper(files.values())
    probes = Probes(swapper, files)
    probes.set()
    engine, encoder = engines.Engine(), Encoder()
    asked: list[Asked] = []
    seconds: Counter[str] = Counter()
    for stage, planned in cases_of(component, more):
        request = encoder.request(planned.case).as_case()
        started = time.process_time()
        answer = engine.replay_case(request)
        seconds[stage] += time.process_time() - started
        asked.append(Asked(stage, planned.case, request, answer))
    probes.take_away()
    called = {(file, unit) for file, unit in probes.called}
    return Bench(swapper, asked, seconds, frozenset(called))


def cases_of(component: str, more: int) -> Iterator[tuple[str, Planned]]:
    description = InProcess(engines.Engine()).start()
    usual = Budget(stages=STAGES)
    for part in parts_of(component, usual):
        yield from ((planned.stage, planned) for planned in plan(description, component, part))
    further = Budget(usual.cases + more, first=usual.cases, stages=("generated",))
    yield from ((MORE, planned) for planned in plan(description, component, further))


def find_all(component: str) -> list[Site]:
    """Every change to a function of the machine of a component."""
    folder = Path(str(engines.__file__)).parent
    files = [folder / f"{component}.py", *sorted(folder.joinpath(component).glob("*.py"))]
    sources = {name_of(path.relative_to(folder)): path for path in files if path.is_file() and path.stem != "wrong"}
    parts = Parts(sources)
    found = (
        Finder(module, path.relative_to(folder).as_posix(), read_right(path), parts, go_wrong).find()
        for module, path in sources.items()
    )
    return [site for sites in found for site in sites if site.mutation.unit]


def name_of(path: Path) -> str:
    """The module that stands at this path in the museum."""
    return ".".join([HOME, *path.with_suffix("").parts]).removesuffix(".__init__")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.engines", description=__doc__)
    parser.add_argument("--component", action="append", default=[], help="only this one; may be given again")
    parser.add_argument("--operator", default="", metavar="TEXT", help="only changes with this in their name: bytes")
    parser.add_argument("--sample", type=int, help="only so many changes per component, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once (default: 2)")
    parser.add_argument("--more", type=int, default=0, help="so many further generated cases (default: 0)")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    for component in options.component or COMPONENTS:
        total += try_component(component, options)
    print(f"all: {total.total()} changes, {dict(total)}")
    return 1 if total["survived"] or total[MORE] else 0


def try_component(component: str, options: argparse.Namespace) -> Counter[str]:
    """By the stage that noticed it, or what else became of it."""
    began = time.monotonic()
    sites = [site for site in find_all(component) if options.operator in site.mutation.operator]
    if options.sample is not None and options.sample < len(sites):
        chosen = random.Random(options.seed).sample(range(len(sites)), options.sample)
        sites = [sites[number] for number in sorted(chosen)]
    bench = make_bench(component, {site.mutation.module for site in sites}, options.more)
    alive = [site for site in sites if bench.is_called(site)]
    counts: Counter[str] = Counter({UNUSED: len(sites) - len(alive)} if len(alive) < len(sites) else {})
    gc.collect()
    gc.freeze()
    for site, (status, stage, check, _seconds) in bench.examine_all(alive, options.jobs):
        counts[stage if status == "killed" else status] += 1
        if status == "survived" or stage == MORE:
            print("\n".join([f"{status} {stage} {check}".strip(), *show(site.mutation)]), flush=True)
    gc.unfreeze()
    print(f"{component}: {len(sites)} changes, {dict(counts)}, {time.monotonic() - began:.0f} s", flush=True)
    return counts


if __name__ == "__main__":
    sys.exit(main())
