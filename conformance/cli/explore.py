"""`tidegate explore`: every state that a small alphabet reaches, every property on every transition."""

import argparse
import json
from typing import Any

NAME = "explore"
HELP = "close over all states of a component on a small alphabet and check its properties on each transition"
EXAMPLE = """tidegate explore valve --channels 3 --timestamps 3 --semantics flink-40475
  tidegate explore valve --channels 5 --timestamps 3 --no-symmetry
  tidegate explore combiner --inputs 3 --timestamps 2
  tidegate explore multiplexer --outputs 3 --timestamps 1
  tidegate explore credit_loop --channels 2 --exclusive 0..2 --floating 1..2
  tidegate explore deserializer --records 2
  tidegate explore gate"""

#: The options of each component. Any other component with a small scope is explored on that, and has none.
OPTIONS: dict[str, tuple[str, ...]] = {
    "valve": ("channels", "timestamps", "semantics"),
    "combiner": ("inputs", "timestamps", "semantics"),
    "multiplexer": ("outputs", "timestamps", "semantics"),
    "credit_loop": ("channels", "exclusive", "floating", "data", "barriers"),
    "deserializer": ("records",),
}


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import at_least_one

    parser.add_argument(
        "component", help="valve, combiner, multiplexer, credit_loop, deserializer, or another with a small scope"
    )
    parser.add_argument("--channels", type=at_least_one, metavar="N", help="valve (default: 3), credit_loop (2)")
    parser.add_argument("--inputs", type=at_least_one, metavar="N", help="combiner (default: 3)")
    parser.add_argument("--outputs", type=at_least_one, metavar="N", help="multiplexer (default: 2)")
    parser.add_argument(
        "--timestamps", type=at_least_one, metavar="N", help="valve, combiner, multiplexer (default: 2)"
    )
    parser.add_argument(
        "--semantics", metavar="S", help="valve, combiner, multiplexer: a dated semantics (default: the first)"
    )
    parser.add_argument("--exclusive", type=numbers, metavar="A..B", help="credit_loop: a number or range (0..2)")
    parser.add_argument("--floating", type=numbers, metavar="A..B", help="credit_loop: a number or range (1..2)")
    parser.add_argument(
        "--data", type=numbers, metavar="A..B", help="credit_loop: data buffers a channel (2, or 1 beside a barrier)"
    )
    parser.add_argument("--barriers", type=numbers, metavar="A..B", help="credit_loop: barriers a channel (0, or 1)")
    parser.add_argument("--records", type=at_least_one, metavar="N", help="deserializer: records a stream (default: 2)")
    parser.add_argument(
        "--limit", type=at_least_one, default=2_000_000, metavar="N", help="give up at so many states (2,000,000)"
    )
    parser.add_argument(
        "--no-symmetry",
        dest="symmetry",
        action="store_false",
        help="visit every state, even those that differ only in the numbers of channels, inputs or outputs",
    )
    parser.add_argument("--format", choices=("pretty", "json", "markdown"), default="pretty", help="how to print")


def numbers(text: str) -> tuple[int, ...]:
    """`2`, or `0..2` for 0, 1 and 2."""
    first, dots, last = text.partition("..")
    parts = (first, last) if dots else (first, first)
    if not all(part.isascii() and part.isdigit() for part in parts) or int(parts[0]) > int(parts[1]):
        raise argparse.ArgumentTypeError(f"must be a number or a range such as 0..2, not {text!r}")
    return tuple(range(int(parts[0]), int(parts[1]) + 1))


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli import exploring
    from tidegate.conformance.exits import Exit
    from tidegate.reference.model import InvalidInputError

    refuse_foreign_options(args)
    try:
        closures = choose_closures(args)
    except InvalidInputError as error:
        args.parser.error(str(error))
    explored = exploring.explore_all(args.component, closures, args.limit, symmetry=args.symmetry)
    if args.format == "json":
        print(json.dumps(exploring.as_json(args.component, explored), indent=2, ensure_ascii=False))
    elif args.format == "markdown":
        print("\n".join(exploring.as_markdown(args.component, explored)))
    else:
        exploring.print_pretty(args.component, explored)
    if any(one.broken for one in explored):
        return Exit.VIOLATIONS
    return Exit.CONFORMANT if all(one.complete for one in explored) else Exit.UNDETERMINED


def refuse_foreign_options(args: argparse.Namespace) -> None:
    own = OPTIONS.get(args.component, ())
    every = dict.fromkeys(option for options in OPTIONS.values() for option in options)
    for option in every:
        if getattr(args, option) is not None and option not in own:
            hint = ", ".join(f"--{one}" for one in own) or "none: it is explored on its small scopes"
            args.parser.error(f"{args.component} has no --{option}; its options are {hint}")


def choose_closures(args: argparse.Namespace) -> list[Any]:
    from tidegate.properties.cases.scopes import has_scopes
    from tidegate.properties.explorer import closures
    from tidegate.reference.components import COMPONENTS

    name = args.component
    if name == "valve":
        return [closures.of_valve(args.channels or 3, args.timestamps or 2, choose_semantics(args, COMPONENTS[name]))]
    if name == "combiner":
        return [closures.of_combiner(args.inputs or 3, args.timestamps or 2, choose_semantics(args, COMPONENTS[name]))]
    if name == "multiplexer":
        semantics = choose_semantics(args, COMPONENTS[name])
        return [closures.of_multiplexer(args.outputs or 2, args.timestamps or 2, semantics)]
    if name == "credit_loop":
        exclusive, floating = args.exclusive or (0, 1, 2), args.floating or (1, 2)
        return list(closures.of_credit_loop(args.channels or 2, exclusive, floating, choose_loads(args)))
    if name == "deserializer":
        return [closures.of_deserializer(args.records or 2)]
    chosen = closures.of_small_scopes(name)
    if not chosen:
        known = sorted({*OPTIONS, *(one for one in COMPONENTS if has_scopes(one))})
        args.parser.error(f"nothing to explore for {name!r}; there are {', '.join(known)}")
    return chosen


def choose_semantics(args: argparse.Namespace, component: Any) -> str:
    if args.semantics is None:
        return str(component.semantics[0])
    if args.semantics not in component.semantics:
        args.parser.error(f"--semantics of {component.name} is one of {', '.join(component.semantics)}")
    return str(args.semantics)


def choose_loads(args: argparse.Namespace) -> list[tuple[int, int]]:
    """What is written on each channel: data buffers and barriers. Two of the one and one of the other take minutes."""
    if args.data is None and args.barriers is None:
        return [(2, 0), (1, 1)]
    return [(data, barriers) for data in args.data or (1,) for barriers in args.barriers or (0,)]
