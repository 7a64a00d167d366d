"""`tidegate run` for an engine with an exam instead of components: `spark-native`, Spark's own event time."""

import argparse
from typing import Any

#: Options of `run` that concern single components, with their defaults.
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
    from tidegate.conformance.cli.console import show, show_progress
    from tidegate.conformance.cli.options import with_master
    from tidegate.conformance.judging.event_time.exam import CASES, examine
    from tidegate.conformance.judging.event_time.report import ToldExam, write_report
    from tidegate.conformance.kinds import resolve_exam
    from tidegate.conformance.reports.writing import clear, writing

    examined = resolve_exam(with_master(args, args.engine), case_timeout=args.timeout)
    cases = CASES if args.cases is None else args.cases
    if args.report is not None:
        clear(args.report, ("report.jsonl", "junit.xml", "summary.md"))
    with examined as engine, show_progress(args) as tell:
        exam = examine(engine, args.seed, cases, lambda done, whole: tell(f"{done} of {whole} traces run on Spark"))
    show(args, ToldExam(exam, args.engine), args.report)
    if args.report is not None:
        with writing(args.report):
            write_report(args.report, exam, args.engine)
    return exam.exit_code


def check_usage(args: argparse.Namespace) -> None:
    engine = args.engine.partition(":")[0]
    others = [name for name in args.component if name != "job"]
    if others:
        args.parser.error(
            f"{engine} runs whole jobs and has no component {others[0]}: "
            "leave --component out, or use the engine spark, which has the components in Spark SQL"
        )
    for name, default in ABOUT_COMPONENTS.items():
        if getattr(args, name) != default:
            option = f"--{name.replace('_', '-')}"
            args.parser.error(f"{option} is for engines that replay single components; {engine} runs whole jobs")
