"""`tidegate generate`: write traces, run logs, the golden files, the documentation, and the site."""

import argparse
from pathlib import Path

from tidegate.conformance.engines.text import command_line, printable

NAME = "generate"
HELP = "write generated traces, run logs, the golden traces, the documentation, or the site"
EXAMPLE = """tidegate generate traces valve --cases 100 --seed 7 --out valve.jsonl.gz
  tidegate generate log --events 1000000 --faults 13 --out logs
  tidegate generate golden
  tidegate generate docs
  tidegate generate site --out build/site
  tidegate generate spark-page --master 'local[2]'"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli import logs
    from tidegate.conformance.cli.options import add_seed, at_least_zero, spark_master

    kinds = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    traces = kinds.add_parser(
        "traces", help="cases of a component, with the reference's answers where they are deterministic"
    )
    traces.add_argument("component", help="the component, such as valve")
    traces.add_argument("--cases", type=at_least_zero, default=100, metavar="N", help="how many (default: 100)")
    add_seed(traces)
    traces.add_argument("--out", type=Path, required=True, metavar="FILE", help="*.jsonl or *.jsonl.gz")
    logs.configure(kinds.add_parser("log", help="run logs of any size, with known faults and a list of them"))
    golden = kinds.add_parser("golden", help="the golden traces and their manifest")
    golden.add_argument(
        "--out", type=Path, metavar="DIR", help="output folder (default: traces/golden of the checkout that runs)"
    )
    docs = kinds.add_parser("docs", help="the documentation of the semantics, in Markdown")
    docs.add_argument("--out", type=Path, metavar="DIR", help="output folder (default: docs of the current checkout)")
    site = kinds.add_parser("site", help="documents, rules and playground of this checkout as static files (needs npm)")
    site.add_argument("--out", type=Path, default=Path("build/site"), metavar="DIR", help="default: build/site")
    page = kinds.add_parser("spark-page", help="the page for Spark users, from runs on Spark (takes minutes)")
    page.add_argument(
        "--out", type=Path, default=Path("docs/spark.md"), metavar="FILE", help="output file (default: docs/spark.md)"
    )
    page.add_argument("--master", type=spark_master, default="local[*]", metavar="URL", help="default: local[*]")

    engines = kinds.add_parser("engines-page", help="the page of engines, from the reports of jobs under faults")
    engines.add_argument(
        "--reports", type=Path, default=Path("docs/engines"), metavar="DIR", help="default: docs/engines"
    )
    engines.add_argument(
        "--take",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="first add the report of `tidegate jobs --report DIR`, and keep the notes of the previous one; from a "
        "report of fewer jobs, take only the failure rates",
    )
    engines.add_argument("--out", type=Path, default=Path("docs/engines.md"), metavar="FILE", help="docs/engines.md")


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.reports.writing import write_whole, writing

    if args.what == "engines-page":
        from tidegate.conformance.documents.engines_page import make_page, read_reports, take_report

        with writing(args.reports):
            for folder in args.take:
                print(printable(str(take_report(folder, args.reports))))
        page = make_page(read_reports(args.reports))
        with writing(args.out):
            write_whole(args.out, page.encode())
        print(printable(str(args.out)))
        return 0
    with writing(args.out or Path()):
        return generate(args)


def generate(args: argparse.Namespace) -> int:
    if args.what == "spark-page":
        return generate_spark_page(args)
    if args.what == "traces":
        return generate_traces(args)
    if args.what == "log":
        from tidegate.conformance.cli import logs

        return logs.run(args)
    if args.what == "golden":
        return generate_golden(args)
    if args.what == "site":
        from tidegate.conformance.web.site import build_site

        build_site(Path(), args.out, args.out.parent)
        serve = command_line(["python3", "-m", "http.server", "--directory", str(args.out)])
        print(printable(f"the site is in {args.out}; any web server can serve it: {serve}"))
        return 0
    return generate_docs(args)


def generate_traces(args: argparse.Namespace) -> int:
    from tidegate.conformance.judging.golden import with_answers
    from tidegate.properties.drawing.cases import draw_case
    from tidegate.traces.codec import DecodeError, find_component
    from tidegate.traces.files import write_traces

    try:
        component = find_component(args.component).name
    except DecodeError as error:
        args.parser.error(str(error))
    cases = (with_answers(draw_case(component, args.seed, index)) for index in range(args.cases))
    count = write_traces(args.out, cases, args.seed)
    print(printable(f"{count} cases of {component} in {args.out}"))
    return 0


def generate_golden(args: argparse.Namespace) -> int:
    from tidegate.conformance.judging.golden import golden_folder, write_golden

    folder = args.out or checked(args, golden_folder(), golden_folder().resolve().parents[1])
    manifest = write_golden(folder)
    for name, entry in manifest.items():
        print(printable(f"{entry['cases']:5} cases in {folder / name}"))
    return 0


def checked(args: argparse.Namespace, folder: Path, root: Path) -> Path:
    """The folder, if it belongs to a checkout of the project: other people's files are not overwritten."""
    if not (root / "reference" / "components.py").exists() or not (root / "pyproject.toml").exists():
        args.parser.error(f"{root.resolve()} is not a checkout of tidegate; choose an output folder with --out DIR")
    return folder


def generate_docs(args: argparse.Namespace) -> int:
    from tidegate.conformance.documents.pages import write_documents

    for path in write_documents(args.out or checked(args, Path("docs"), Path())):
        print(printable(str(path)))
    return 0


def generate_spark_page(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.console import console
    from tidegate.conformance.documents.spark_page.page import find_surprises, write_page
    from tidegate.conformance.engines.spark.session import SHORT_LIVED, make_session
    from tidegate.conformance.exits import Exit

    with console(stderr=True).status("running jobs and traces on Spark"):
        spark = make_session(args.master, "tidegate spark page", SHORT_LIVED)
        surprises = find_surprises(*write_page(spark, args.out))
        spark.stop()
    print(printable(str(args.out)))
    for surprise in surprises:
        print(f"unexpected: {surprise}")
    return Exit.VIOLATIONS if surprises else Exit.CONFORMANT
