"""`tidegate diff`: engines side by side, and where they disagree."""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections import Counter

    from tidegate.conformance.engines.base import Description, Engine
    from tidegate.conformance.judging.differ import Comparison, Divergence

NAME = "diff"
HELP = "replay the same cases on two or more engines and find where they disagree; no oracle is needed"
EXAMPLE = """tidegate diff --engine "exec:./old" --engine "exec:./new" --component valve --cases 2000
  tidegate diff --engine python:mine:A --engine python:mine:B --engine "exec:./theirs" --format markdown"""

CONCLUSIONS = {0: "the engines agree", 1: "the engines disagree", 2: "undetermined"}


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import add_engine_options, add_format, add_master, add_seed, at_least_zero

    add_engine_options(parser, several=True)
    add_master(parser)
    parser.add_argument(
        "--component", action="append", default=[], metavar="C", help="only this component; may be given several times"
    )
    parser.add_argument(
        "--cases", type=at_least_zero, default=300, metavar="N", help="generated cases a component (default: 300)"
    )
    add_seed(parser)
    parser.add_argument("--trace", metavar="TEXT", help="only this trace, in short notation; needs one --component")
    parser.add_argument("--config", metavar="JSON", default="{}", help="the config of --trace")
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.judging.dialects import HeldTo, disputed
    from tidegate.conformance.judging.differ import Comparison, common_ground
    from tidegate.reference.components import COMPONENTS

    if len(args.engine) < 2:
        args.parser.error("diff needs at least two engines: --engine A --engine B")
    for name in args.component:
        if name not in COMPONENTS:
            args.parser.error(f"no component {name!r}; there are {', '.join(COMPONENTS)}")
    case = read_case(args)
    with ExitStack() as stack:
        engines = {name: start(args, text, stack) for name, text in labels(args.engine)}
        # Those of different times are compared by the latest rules, or nobody would see what has changed.
        by = disputed([engine.start() for engine in engines.values()])
        engines = {name: HeldTo(engine, by) for name, engine in engines.items()} if by else engines
        common, left_out = common_ground({name: engine.start() for name, engine in engines.items()})
        observe = stack.enter_context(progress(args))
        comparison = Comparison(engines, observe)
        comparison.run(plan(args, common, case))
    show = {"json": show_json, "markdown": show_markdown, "pretty": show_pretty}[args.format]
    left_out = {name: why for name, why in left_out.items() if not args.component or name in args.component}
    again = [reproduction(args.engine, found) for found in comparison.divergences]
    show(comparison, left_out, again)
    return comparison.exit()


def labels(engines: list[str]) -> Iterator[tuple[str, str]]:
    """Each engine's text, and a name for it that is its own: the same engine may be given twice."""
    for index, text in enumerate(engines):
        earlier = engines[:index].count(text)
        yield (f"{text} ({earlier + 1})" if earlier else text), text


def start(args: argparse.Namespace, text: str, stack: ExitStack) -> "Engine":
    from tidegate.conformance.cli.options import make_engine
    from tidegate.conformance.engines.errors import EngineError

    try:
        engine: Engine = stack.enter_context(make_engine(args, text))
    except EngineError as error:
        error.message = f"{text}: {error.message}"
        raise
    return engine


def read_case(args: argparse.Namespace) -> Any:
    """The case of --trace, if there is one."""
    from tidegate.conformance.cli.replay import read_inline

    if args.trace is None:
        return None
    if len(args.component) != 1:
        args.parser.error("--trace needs one --component")
    return read_inline(argparse.Namespace(**{**vars(args), "component": args.component[0]}))


def plan(args: argparse.Namespace, common: "Description", case: Any) -> Iterator[Any]:
    from tidegate.conformance.judging.runner import Planned, is_declared
    from tidegate.conformance.judging.suite import Budget, declared_components
    from tidegate.conformance.judging.suite import plan as plan_component

    if case is not None:
        yield from [Planned("trace", case)] if is_declared(common, case) else []
        return
    budget = Budget(args.cases, args.seed, ("directed", "golden", "generated"))
    for component in declared_components(common, tuple(args.component)):
        yield from plan_component(common, component, budget)


@contextmanager
def progress(args: argparse.Namespace) -> "Iterator[Callable[[str, Counter[tuple[str, str]]], None]]":
    """Counts on the screen while it goes on; nothing if standard error is no terminal."""
    if args.format != "pretty" or not sys.stderr.isatty():
        yield lambda _component, _counts: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from tidegate.conformance.cli.console import console
    from tidegate.conformance.judging.differ import DIVERGED

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def observe(component: str, counts: "Counter[tuple[str, str]]") -> None:
            if counts.total() % 50 == 0:
                diverged = sum(count for (_component, outcome), count in counts.items() if outcome == DIVERGED)
                bar.update(task, description=f"{component}: {counts.total()} cases, {diverged} disagreements")

        yield observe


def rows(comparison: "Comparison") -> "list[tuple[str, dict[str, int]]]":
    """For each component, how many cases of each outcome."""
    from tidegate.conformance.judging.differ import OUTCOMES

    components = dict.fromkeys(component for component, _outcome in comparison.counts)
    return [(one, {outcome: comparison.counts[one, outcome] for outcome in OUTCOMES}) for one in components]


def outcomes_shown(comparison: "Comparison") -> list[str]:
    from tidegate.conformance.judging.differ import AGREED, DIVERGED, OUTCOMES

    return [outcome for outcome in OUTCOMES if outcome in (AGREED, DIVERGED) or comparison.count(outcome)]


def reproduction(engines: list[str], found: "Divergence") -> str:
    words = ["tidegate", "diff"]
    for text in engines:
        words += ["--engine", text]
    words += ["--component", found.component, "--config", found.config, "--trace", found.trace]
    return shlex.join(words)


def notes(comparison: "Comparison", left_out: dict[str, str]) -> list[str]:
    from tidegate.conformance.engines.text import printable
    from tidegate.conformance.judging.differ import FREE, NOT_RUN, UNANSWERED

    said = [] if comparison.complete else ["It was interrupted: this is what was known by then."]
    for why in dict.fromkeys(left_out.values()):
        names = ", ".join(printable(name) for name, reason in left_out.items() if reason == why)
        said.append(f"Not compared: {names} ({why}).")
    if not comparison.counts:
        said.append("No case was compared: the engines have nothing in common that the specification knows.")
    if comparison.count(FREE):
        said.append("free: the answers differ, and the specification allows each of them.")
    if comparison.count(UNANSWERED):
        said.append("unanswered: all engines failed in the same way, which is no agreement.")
    if comparison.count(NOT_RUN):
        said.append("not run: an engine was given up before.")
    return said


def conclusion(comparison: "Comparison") -> str:
    counts = [f"{comparison.count(outcome)} {outcome}" for outcome in outcomes_shown(comparison)]
    return f"{CONCLUSIONS[comparison.exit()]}: {comparison.counts.total()} cases, {', '.join(counts)}"


def title(found: "Divergence") -> str:
    rule = found.rules[0][0] if found.rules else next(one.result for one in found.answers if not one.allowed)
    return f"{found.component}: the engines disagree on {rule}"


def as_text(found: "Divergence", again: str) -> str:
    lines = [title(found), *(f"  {rule}: {text}" for rule, text in found.rules)]
    lines += [
        f"  config    {found.config}",
        f"  trace     {found.trace}",
        f"  at step   {found.step + 1}, {found.event}",
    ]
    for answer in found.answers:
        lines += [f"  {'allowed' if answer.allowed else answer.result:9} {answer.engine}: {answer.seen}"]
    if found.allowed:
        shown = " | ".join(found.allowed[:6])
        lines.append(f"  the specification allows {shown}{' | …' if len(found.allowed) > 6 else ''}")
    sides = f"sides with {', '.join(found.sides)}" if found.sides else "sides with none of them"
    lines.append(f"  the specification {sides}")
    lines.append(f"  found in {found.cases} case{'s' * (found.cases != 1)}")
    return "\n".join([*lines, f"  reproduce {again}"])


def show_json(comparison: "Comparison", left_out: dict[str, str], again: list[str]) -> None:
    import attrs

    said = {
        "engines": list(comparison.engines),
        "conclusion": CONCLUSIONS[comparison.exit()],
        "exit": int(comparison.exit()),
        "complete": comparison.complete,
        "cases": comparison.counts.total(),
        "counts": [{"component": one, **counts} for one, counts in rows(comparison)],
        "divergences": [
            {**attrs.asdict(one), "reproduce": line} for one, line in zip(comparison.divergences, again, strict=True)
        ],
        "not_compared": left_out,
    }
    print(json.dumps(said, indent=2, ensure_ascii=False))


def show_markdown(comparison: "Comparison", left_out: dict[str, str], again: list[str]) -> None:
    from tidegate.conformance.engines.text import printable

    shown = outcomes_shown(comparison)
    lines = ["# Differences", "", *(f"- `{printable(name)}`" for name in comparison.engines), ""]
    lines += [conclusion(comparison) + ".", ""]
    lines += ["| component | " + " | ".join(shown) + " |", "|---|" + "---:|" * len(shown)]
    for component, counts in rows(comparison):
        lines.append(f"| {component} | " + " | ".join(str(counts[one]) for one in shown) + " |")
    lines += ["", *(f"- {note}" for note in notes(comparison, left_out))]
    for found, line in zip(comparison.divergences, again, strict=True):
        text = as_text(found, line).replace("```", "'''")
        lines += ["", f"## {title(found)}", "", "```", text, "```"]
    print("\n".join(lines))


def show_pretty(comparison: "Comparison", left_out: dict[str, str], again: list[str]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from tidegate.conformance.cli.console import console

    out = console()
    shown = outcomes_shown(comparison)
    colours = {"agreed": "green", "free": "green", "diverged": "red"}
    table = Table("component", *shown, box=None, header_style="bold", pad_edge=False)
    for component, counts in rows(comparison):
        cells = [f"[{colours.get(one, 'yellow')}]{counts[one]}[/]" if counts[one] else "" for one in shown]
        table.add_row(component, *cells)
    if comparison.counts:
        out.print(table)
    for found, line in zip(comparison.divergences, again, strict=True):
        first, *rest = as_text(found, line).split("\n")
        out.print(f"\n[bold red]{escape(first)}[/]")
        print("\n".join(rest))
    out.print()
    for note in notes(comparison, left_out):
        out.print(escape(note))
    colour = {0: "green", 1: "red", 2: "yellow"}[int(comparison.exit())]
    out.print(f"[bold {colour}]{escape(conclusion(comparison))}[/]")
