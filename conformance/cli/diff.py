"""`tidegate diff`: compares engines, and shows where they disagree."""

import argparse

NAME = "diff"
HELP = "replay the same cases on two or more engines and find where they disagree; needs no oracle"
EXAMPLE = """tidegate diff --engine "exec:./old" --engine "exec:./new" --component valve --cases 2000
  tidegate diff --engine python:mine:A --engine python:mine:B --engine "exec:./theirs" --format markdown"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli import options

    options.add_engine_options(parser, several=True)
    options.add_master(parser)
    options.add_components(parser)
    options.add_cases(parser, 300)
    options.add_seed(parser)
    parser.add_argument("--trace", metavar="TEXT", help="only this trace, in short notation; needs one --component")
    parser.add_argument("--config", metavar="JSON", default="{}", help="config of --trace")
    options.add_page(parser)
    options.add_format(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.console import show, show_page
    from tidegate.conformance.cli.options import candidate_of
    from tidegate.conformance.cli.replay import read_inline
    from tidegate.conformance.cli.results import observe
    from tidegate.conformance.judging.differ import compare
    from tidegate.conformance.judging.suite import Budget

    if len(args.engine) < 2:
        args.parser.error("diff needs at least two engines: --engine A --engine B")
    if args.trace is not None and len(args.component) != 1:
        args.parser.error("--trace needs one --component")
    cases = [] if args.trace is None else [read_inline(args, *args.component)]
    budget = Budget(args.cases, args.seed, ("directed", "golden", "generated"))
    candidates = [candidate_of(args, engine) for engine in args.engine]
    with observe(args, "", None, failure="disagreement") as observers:
        comparison = compare(candidates, budget, components=args.component, cases=cases, observers=observers)
    show(args, comparison)
    show_page(args, "diff", comparison)
    return comparison.exit_code
