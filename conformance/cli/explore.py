"""`tidegate explore`: every state that a small alphabet reaches, and every claim on every transition."""

import argparse
from typing import Any

NAME = "explore"
HELP = "explore all states of a component on a small alphabet and check its claims on each transition"
EXAMPLE = """tidegate explore valve --channels 3 --timestamps 3 --semantics flink-40475
  tidegate explore valve --channels 5 --timestamps 3 --no-symmetry
  tidegate explore combiner --inputs 3 --timestamps 2
  tidegate explore multiplexer --outputs 3 --timestamps 1
  tidegate explore credit_loop --channels 2 --exclusive 0..2 --floating 1..2
  tidegate explore deserializer --records 2
  tidegate explore gate
  tidegate explore job
  tidegate explore valve --channels 3 --timestamps 3 --open"""

#: Largest number of channels, timestamps and the like: beyond this, exploration does not end.
MOST = 1000


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import at_least_one

    parser.add_argument(
        "component", help="valve, combiner, multiplexer, credit_loop, deserializer, or another with a small scope"
    )
    parser.add_argument("--channels", type=a_few, metavar="N", help="valve (default: 3), credit_loop (2)")
    parser.add_argument("--inputs", type=a_few, metavar="N", help="combiner (default: 3)")
    parser.add_argument("--outputs", type=a_few, metavar="N", help="multiplexer (default: 2)")
    parser.add_argument("--timestamps", type=a_few, metavar="N", help="valve, combiner, multiplexer (default: 2)")
    parser.add_argument(
        "--semantics", metavar="S", help="valve, combiner, multiplexer: a dated semantics (default: the first)"
    )
    parser.add_argument("--exclusive", type=numbers, metavar="A..B", help="credit_loop: a number or range (0..2)")
    parser.add_argument("--floating", type=numbers, metavar="A..B", help="credit_loop: a number or range (1..2)")
    parser.add_argument(
        "--data", type=numbers, metavar="A..B", help="credit_loop: data buffers per channel (2; 1 with barriers)"
    )
    parser.add_argument("--barriers", type=numbers, metavar="A..B", help="credit_loop: barriers per channel (0, or 1)")
    parser.add_argument("--records", type=a_few, metavar="N", help="deserializer: records per stream (default: 2)")
    parser.add_argument(
        "--limit",
        type=at_least_one,
        default=2_000_000,
        metavar="N",
        help="give up after N states in all (2,000,000), or at 900 MB",
    )
    parser.add_argument(
        "--no-symmetry",
        dest="symmetry",
        action="store_false",
        help="visit every state, even if states differ only in the numbers of channels, inputs or outputs",
    )
    parser.add_argument(
        "--no-reduction",
        dest="reduction",
        action="store_false",
        help="follow every schedule of a job, even if schedules differ only in the order of independent choices",
    )
    parser.add_argument(
        "--open",
        action="store_true",
        help="explore the first config of this scope in the browser, as a graph to walk (large graphs are cut)",
    )
    parser.add_argument("--format", choices=("pretty", "json", "markdown"), default="pretty", help="output format")


def a_few(text: str) -> int:
    from tidegate.conformance.cli.options import at_least_one

    value = at_least_one(text)
    if value > MOST:
        raise argparse.ArgumentTypeError(f"a scope is small: at most {MOST}, not {text[:20]}")
    return value


def numbers(text: str) -> tuple[int, ...]:
    """`2`, or `0..2` for 0, 1 and 2."""
    first, dots, last = text.partition("..")
    parts = (first, last) if dots else (first, first)
    if not all(part.isascii() and part.isdigit() for part in parts) or not int(parts[0]) <= int(parts[1]) <= MOST:
        raise argparse.ArgumentTypeError(f"must be a number or a range such as 0..2, at most {MOST}, not {text[:20]!r}")
    return tuple(range(int(parts[0]), int(parts[1]) + 1))


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.console import show, show_progress
    from tidegate.conformance.judging.exploring import OPTIONS, explore_component
    from tidegate.reference.model import InvalidInputError

    own = OPTIONS.get(args.component, ())
    options = {name: getattr(args, name) for names in OPTIONS.values() for name in names}
    for name, value in options.items():
        if value is not None and name not in own:
            hint = ", ".join(f"--{one}" for one in own) or "none: its small scopes are fixed"
            args.parser.error(f"{args.component} has no --{name}; its options are {hint}")
    try:
        if args.open:
            return open_scope(args, {name: value for name, value in options.items() if value is not None})
        with show_progress(args) as tell:
            exploration = explore_component(
                args.component,
                args.limit,
                lambda states, steps: tell(f"exploring {args.component}: {states:,} states, {steps:,} transitions"),
                symmetry=args.symmetry,
                reduction=args.reduction,
                **options,
            )
    except InvalidInputError as error:
        args.parser.error(str(error))
    show(args, exploration)
    return exploration.exit_code


def open_scope(args: argparse.Namespace, options: dict[str, Any]) -> int:
    from tidegate.conformance.cli.play import make_fragment, serve
    from tidegate.conformance.judging.exploring import choose_closures
    from tidegate.conformance.web.playing import MAX_TIMESTAMPS, usual_config
    from tidegate.reference.components import COMPONENTS
    from tidegate.traces.codec import encode

    if options.get("outputs", 2) != 2:
        args.parser.error("--open explores a multiplexer with two outputs; leave --outputs out")
    timestamps = options.get("timestamps", 2)
    if timestamps > MAX_TIMESTAMPS:
        args.parser.error(f"--open explores with at most {MAX_TIMESTAMPS} timestamps")
    config = next(iter(choose_closures(args.component, options))).configs[0]
    if not isinstance(config, COMPONENTS[args.component].config):
        return serve(make_fragment(args.component, usual_config(args.component), explore=str(timestamps)))
    return serve(make_fragment(args.component, encode(config), explore=str(timestamps)))
