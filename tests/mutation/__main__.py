"""`python -m tests.mutation`: mutate the reference, see what is noticed, and print the score."""

import argparse
import gc
import importlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import CodeType
from typing import Any

import attrs

from tests.mutation import explained, modules
from tests.mutation.install import Probes, Swapper, install_afresh
from tests.mutation.parts import Parts
from tests.mutation.pytest_stage import FileCheck, TestCheck, with_collected
from tests.mutation.report import Report, show
from tests.mutation.results import NOTICED, Results
from tests.mutation.running import Recorded, Recorder, Result, Suite, record
from tests.mutation.sites import Mutation, Site, find_sites, make_control
from tests.paths import ROOT

FLOOR = 95.0
PAGE = ROOT / "docs" / "mutation.md"
KEPT = ("tests.mutation",)


def main() -> int:
    options = read_options()
    started = time.monotonic()
    sites = find_all(options.module)
    report = run(sites, options, started)
    if options.write:
        PAGE.write_text(report.as_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(json.dumps(report.as_json(), indent=2) if options.format == "json" else report.as_text())
    return 0 if report.total.score >= options.floor else 1


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument(
        "--module",
        action="append",
        default=[],
        help="only this one or a package: valve, credit.buffers, barriers; several in one run get ready once",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes at once (default: 2)")
    parser.add_argument("--sample", type=int, help="only so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    parser.add_argument("--without", action="append", default=[], help="leave out a stage, such as golden")
    parser.add_argument("--floor", type=float, default=FLOOR, help=f"the score to reach (default: {FLOOR:g})")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help="keep results here; what was noticed or explained before is not run again",
    )
    parser.add_argument(
        "--recall", action="store_true", help="run nothing: report what --results FILE knows, survivors included"
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument(
        "--believe", action="store_true", help="do not try what equivalent.toml explains: it counts as a survivor"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args()
    if options.write and (options.sample or options.without or options.module):
        parser.error("--write is for a run of all that there is, without --module, --sample and --without")
    if options.recall and not options.results:
        parser.error("--recall needs --results FILE")
    if unknown := [name for name in options.module if not modules.find_modules(name)]:
        parser.error(f"no module {', '.join(unknown)}; there are {', '.join(modules.mutated_modules())}")
    found = dict.fromkeys(one for name in options.module for one in modules.find_modules(name))
    options.module = [*found] or [*modules.mutated_modules()]
    return options


def find_all(names: list[str]) -> list[Site]:
    known = modules.mutated_modules()
    parts = Parts(modules.reference_modules())
    return [site for name in names for site in find_sites(name, known[name], modules.show_path(known[name]), parts)]


def draw_sample(sites: list[Site], options: argparse.Namespace) -> list[Site]:
    if options.sample is None or options.sample >= len(sites):
        return sites
    chosen = sorted(Random(options.seed).sample(range(len(sites)), options.sample))
    return [sites[number] for number in chosen]


# --- putting the suite together -------------------------------------------------------------------------------


def run(all_sites: list[Site], options: argparse.Namespace, started: float) -> Report:
    """Import the project, collect what is known of it while it is right, and examine each mutant."""
    results = Results(options.results, explained.read_entries())
    if options.recall:
        mutations = [site.mutation for site in all_sites]
        return make_report(mutations, results.recall(mutations), [], time.monotonic() - started)
    known, left = results.split(site.mutation for site in draw_sample(all_sites, options))
    if options.believe:
        believed = [one for one in left if explained.explain(one, explained.read_entries()) is not None]
        for one in believed:
            known.append(Result(one, "survived"))
            results.write(known[-1])
        left = [one for one in left if one not in set(believed)]
    wanted_ones = set(left)
    sites = [site for site in all_sites if site.mutation in wanted_ones]
    if not sites:
        return make_report([site.mutation for site in all_sites], known, [], time.monotonic() - started)
    files = {name: modules.file_of(name) for name in modules.reference_modules()}
    recorder = Recorder(files.values())
    if "tidegate.reference.components" in sys.modules:
        raise RuntimeError("the reference was imported too early to see what runs on import")
    with recorder:
        evidence = importlib.import_module("tests.mutation.evidence")
    at_import = recorder.called
    wanted = {site.mutation.module for site in sites}
    components = rank_components(evidence, wanted)
    data = evidence.collect(components, options.without)
    test_files = [file for file in modules.test_files() if modules.is_about(file, wanted)]
    reports: list[Report] = []

    def use(tests: list[TestCheck]) -> None:
        swapper = Swapper(files.values())
        used = [test for test in tests if test.may_run(components)]
        checks = [one for one in [*evidence.make_checks(data, components), *used] if one.stage not in options.without]
        recorded, unused = record(checks, Probes(swapper, files), swapper.clear_caches)
        recorded = order(recorded, evidence.STAGES)
        say(f"{len(recorded)} checks, {len(sites)} mutants, ready after {time.monotonic() - started:.0f} s")
        if known:
            say(f"{len(known)} more are known from before")
        suite = Suite(recorded, swapper, at_import, Afresh(data, recorded, options.without), modules.file_of)
        gc.collect()
        gc.freeze()
        try_control(suite, wanted)
        homes = {name: home_of(component) for name, component in evidence.COMPONENTS.items()}

        def keep(result: Result) -> None:
            results.write(result, find_behind(result, homes))

        found = suite.run(sites, options.jobs, Progress(len(sites), started, keep))
        mutations = [site.mutation for site in all_sites]
        reports.append(make_report(mutations, [*known, *found], unused, time.monotonic() - started))

    with_collected(test_files if "tests" not in options.without else [], use)
    return reports[0]


def try_control(suite: Suite, wanted: set[str]) -> None:
    """A module that is imported anew but not changed must survive, or what follows would prove nothing."""
    module = min(wanted, key=lambda name: (len(modules.dependents(name)), name))
    path = modules.mutated_modules()[module]
    control = make_control(module, path, modules.show_path(path))
    sparse = attrs.evolve(suite, afresh=lambda *mutant: take_some(suite.afresh(*mutant)))
    (result,) = sparse.run([control], 1, lambda _done, _result: None)
    if result.status != "survived":
        raise RuntimeError(f"{module}, unchanged: {result.status} by {result.stage} {result.check}")


def take_some(checks: Iterator[Any], most: int = 20) -> Iterator[Any]:
    """The first few checks of each stage."""
    taken: Counter[str] = Counter()
    for check in checks:
        taken[check.stage] += 1
        if taken[check.stage] <= most:
            yield check


def make_report(
    mutations: list[Mutation], results: list[Result], unused: list[tuple[Any, str]], seconds: float
) -> Report:
    entries = explained.read_entries()
    paths = {mutation.path for mutation in mutations}
    concerned = [entry for entry in entries if entry.path in paths]
    stale = explained.find_stale(concerned, mutations, results)
    tried = {result.mutation for result in results}
    untried = Counter(mutation.path for mutation in mutations if mutation not in tried)
    return Report(results, entries, stale, untried, [(check.name, why) for check, why in unused], seconds)


def rank_components(evidence: Any, changed: set[str]) -> list[str]:
    """The components that a change can reach, those defined in the changed modules first."""
    homes = {name: home_of(component) for name, component in evidence.COMPONENTS.items()}
    reached = [name for name, home in homes.items() if modules.closure(frozenset({home})) & changed]
    return sorted(reached, key=lambda name: not any(f"{one}.".startswith(f"{homes[name]}.") for one in changed))


def find_behind(result: Result, homes: dict[str, str]) -> tuple[str, ...]:
    """The modules that the check which noticed a mutant is about; none if nothing did, or it may be about any."""
    if result.status not in NOTICED:
        return ()
    if result.stage == "tests":
        return tuple(sorted(modules.find_subject(ROOT / result.check.partition("::")[0])))
    component = result.check.partition(": ")[0]
    return (homes[component],) if component in homes else ()


def home_of(component: Any) -> str:
    """The module that a component is defined in."""
    return next(
        name for name in modules.reference_modules() if getattr(sys.modules.get(name), "COMPONENT", None) is component
    )


def order(recorded: list[Recorded], stages: tuple[str, ...]) -> list[Recorded]:
    """Quick stages first, and inside a stage the quick checks."""
    return sorted(recorded, key=lambda one: (stages.index(one.check.stage), one.seconds))


class Afresh:
    """The checks for a mutant of something that runs on import."""

    def __init__(self, data: Any, recorded: list[Recorded], without: list[str]) -> None:
        self._data = data
        self._without = without
        self._tests = [one for one in recorded if one.check.stage == "tests"]

    def __call__(self, mutation: Mutation, mutated: CodeType) -> Iterator[Any]:
        changed = mutation.module
        # What the tests were seen to run, before all that is forgotten.
        files = {modules.file_of(name) for name in modules.dependents(changed)}
        known = sys.modules["tests.mutation.evidence"]
        tests = self._find_running(files, rank_components(known, {changed}))
        install_afresh(changed, mutated, modules.PROJECT, KEPT)
        sys.modules.pop("tests.mutation.evidence", None)
        evidence = importlib.import_module("tests.mutation.evidence")
        for check in evidence.make_checks(self._data, rank_components(evidence, {changed})):
            if check.stage not in self._without:
                yield check
        yield from tests

    def _find_running(self, files: set[str], components: list[str]) -> list[FileCheck]:
        """The tests that run functions of these files, or are about these components; the quickest files first."""
        found: dict[Path, list[Recorded]] = {}
        for one in self._tests:
            if one.check.about in components or any(file in files for file, _name in one.units):
                found.setdefault(one.check.file, []).append(one)
        seconds = {file: sum(one.seconds for one in tests) for file, tests in found.items()}
        names = {file: tuple(one.check.name.partition("::")[2] for one in tests) for file, tests in found.items()}
        return [FileCheck(file, names[file], seconds[file]) for file in sorted(found, key=lambda file: seconds[file])]


class Progress:
    """Keeps each result, and tells on stderr how far it is and what survives as soon as it does."""

    def __init__(self, total: int, started: float, keep: Callable[[Result], None]) -> None:
        self._total = total
        self._started = started
        self._keep = keep
        self._survived = 0

    def __call__(self, done: int, result: Result) -> None:
        self._keep(result)
        if result.status == "survived":
            self._survived += 1
            say("\n".join(["survived:", *show(result.mutation)]))
        if done % 100 == 0:
            seconds = time.monotonic() - self._started
            say(f"{done} of {self._total}, {self._survived} survived, {seconds:.0f} s")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
