"""`tidegate schemas`: the JSON Schemas of the protocol, for people and for validators."""

import argparse
from pathlib import Path

NAME = "schemas"
HELP = "print the JSON Schema of a component or a message, or write all of them into a folder"
EXAMPLE = """tidegate schemas
  tidegate schemas valve
  tidegate schemas --to schemas"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="a component (valve, …) or a message (hello-reply, …); none lists them")
    parser.add_argument("--to", type=Path, metavar="DIR", help="write every schema, including shared ones")


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance import schemas
    from tidegate.conformance.engines.text import printable

    if args.to is not None:
        written = schemas.write(args.to)
        print(printable(f"{len(written)} schemas are in {args.to}"))
    elif args.name is None:
        print("\n".join(schemas.files()))
    elif args.name in schemas.files():
        print(schemas.as_text(args.name), end="")
    else:
        args.parser.error(f"no schema {args.name!r}; `tidegate schemas` lists them")
    return 0
