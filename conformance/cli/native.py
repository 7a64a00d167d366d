"""`tidegate run --engine spark-native`: Spark's own event time, which runs whole jobs and nothing else."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: What `run` can be told of single components, and what it is if nothing was said.
ABOUT_COMPONENTS: dict[str, Any] = {
    "semantics": None,
    "stage": [],
    "thorough": False,
    "extra_states": 0,
    "floor": 1,
    "expect": None,
    "update_expectations": False,
    "strict": False,
    "start_timeout": None,
}


def run(args: argparse.Namespace) -> int:
    check_usage(args)
    from tidegate.conformance.cli.options import with_master
    from tidegate.conformance.engines.spark.native.engine import SparkNative
    from tidegate.conformance.judging.event_time.exam import CASES, examine
    from tidegate.conformance.judging.event_time.report import write_report

    master = with_master(args, args.engine).partition(":")[2]
    with SparkNative(master, args.timeout) as engine, progress(args) as observe:
        exam = examine(engine, args.seed, CASES if args.cases is None else args.cases, observe)
    if args.report is not None:
        write_report(args.report, exam, args.engine)
    show(args, exam)
    return exam.exit_code


def check_usage(args: argparse.Namespace) -> None:
    engine = args.engine.partition(":")[0]
    others = [name for name in args.component if name != "job"]
    if others:
        args.parser.error(
            f"{engine} runs whole jobs alone and has no component {others[0]}: "
            "leave --component out, or ask the engine spark, which has the components in Spark SQL"
        )
    for name, default in ABOUT_COMPONENTS.items():
        if getattr(args, name) != default:
            option = f"--{name.replace('_', '-')}"
            args.parser.error(f"{option} is for engines that replay single components; {engine} runs whole jobs alone")


@contextmanager
def progress(args: argparse.Namespace) -> Iterator[Callable[[int, int], None]]:
    """Traces that are done, on the screen; nothing if standard error is no terminal."""
    if args.format != "pretty" or not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.progress import Progress

    from tidegate.conformance.cli.console import console

    with Progress(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("running traces on Spark", total=None)
        yield lambda done, whole: bar.update(task, completed=done, total=whole)


def show(args: argparse.Namespace, exam: Any) -> None:
    from tidegate.conformance.judging.event_time import report

    if args.format == "json":
        print(json.dumps(report.as_json(exam, args.engine), indent=2, ensure_ascii=False))
    elif args.format == "markdown":
        print(report.as_markdown(exam, args.engine), end="")
    else:
        show_pretty(exam)
        if args.report is not None:
            print(f"Report in {args.report}")


def show_pretty(exam: Any) -> None:
    from rich.markup import escape
    from rich.table import Table

    from tidegate.conformance.cli.console import console
    from tidegate.conformance.engines.spark.native.engine import POLICIES
    from tidegate.conformance.judging.event_time import report

    out = console()
    declared = exam.declared
    out.print(f"[bold]{escape(f'{declared.name} {declared.version} ({declared.language})')}[/]")
    out.print(f"declares {escape(report.describe_capabilities(exam))}\n")
    table = Table(*report.HEADER, box=None, header_style="bold", pad_edge=False)
    for name, *outcomes in report.table(exam):
        table.add_row(name, *(f"[{colour_of(outcome)}]{escape(outcome)}[/]" for outcome in outcomes))
    out.print(table)
    for key in exam.examples:
        show_text(out, report.example_as_text(exam, key), "bold red")
    out.print(f"\n[bold]Where it differs from Flink[/], on the shortest traces. {escape(report.NOTATION)}")
    for difference, judged in exam.shown():
        show_text(out, report.difference_as_text(difference, judged), "bold")
    out.print()
    for text in [*(report.describe_drawn(exam, policy) for policy in POLICIES), *report.remarks(exam)]:
        out.print(escape(text))
    colour = {0: "green", 1: "red", 2: "yellow"}[int(exam.exit_code)]
    out.print(f"[bold {colour}]{escape(report.conclusion(exam))}[/]")


def show_text(out: Any, text: str, style: str) -> None:
    from rich.markup import escape

    title, *rest = text.split("\n")
    out.print(f"\n[{style}]{escape(title)}[/]")
    print("\n".join(rest))


def colour_of(outcome: str) -> str:
    return "red" if "violated" in outcome else "green" if "passed" in outcome else "yellow"
