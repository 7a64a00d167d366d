"""`tidegate play`: serves the playground, with the specification in this process."""

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.conformance.web.serving import Playground

NAME = "play"
HELP = "play with a component in the browser: click events, see what is allowed, why, and the next state"
EXAMPLE = """tidegate play valve
  tidegate play valve --config '{"channels":3}' --trace "2i 0w20 1w10 0i 2a 1i 2i\""""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import whole

    parser.add_argument("component", nargs="?", metavar="COMPONENT", help="component to start with")
    parser.add_argument("--config", metavar="JSON", help="its config (default: a common one)")
    parser.add_argument("--trace", metavar="TEXT", default="", help="trace in short notation to start with")
    parser.add_argument(
        "--port",
        type=whole(0, 65535),
        metavar="N",
        help="port on 127.0.0.1 (default: 7728, or any free port)",
    )
    parser.add_argument("--no-open", dest="open", action="store_false", help="print the address, do not open a browser")


def run(args: argparse.Namespace) -> int:
    return serve(fragment(args), args.port, is_opened=args.open)


def serve(beginning: str, port: int | None = None, *, is_opened: bool = True) -> int:
    """Serve until interrupted; `beginning` is the fragment of the address."""
    import webbrowser

    try:
        with listen(port) as playground:
            address = playground.address + beginning
            print(f"playing at {address} (Ctrl-C ends it)", flush=True)
            if is_opened:
                webbrowser.open(address)
            playground.serve_forever()
    except KeyboardInterrupt:
        print("ended")
    return 0


def listen(port: int | None) -> "Playground":
    """On the given port; else where reports look for the playground, or on any port if that one is taken."""
    from tidegate.conformance.web.serving import PORT, Playground

    try:
        return Playground(PORT if port is None else port)
    except OSError:
        if port is not None:
            raise
        return Playground()


def fragment(args: argparse.Namespace) -> str:
    """The address fragment for component, config and trace, as the page itself writes it."""
    from tidegate.conformance.web.playing import answer
    from tidegate.traces.strict_json import read_json

    if args.component is None:
        if args.config or args.trace:
            args.parser.error("--config and --trace need a COMPONENT")
        return ""
    asked: dict[str, Any] = {"ask": "component", "component": args.component}
    described = answer(asked)
    try:
        config = described.get("config", {}) if args.config is None else read_json(args.config)
    except ValueError as error:
        args.parser.error(f"--config: {error}")
    played = answer({**asked, "ask": "play", "config": config, "trace": args.trace})
    if "error" in played:
        args.parser.error(played["error"]["message"])
    return make_fragment(args.component, config, trace=args.trace)


def make_fragment(component: str, config: Any, **more: str) -> str:
    import json
    from urllib.parse import quote

    pairs = {"config": json.dumps(config, separators=(",", ":")), **more}
    return f"#{component}?" + "&".join(f"{name}={quote(text, safe='')}" for name, text in pairs.items())
