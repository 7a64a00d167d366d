"""Entry point of the command, also as `python -m tidegate`: installs signal handlers before any large import."""

import sys


def main() -> int:
    if sys.flags.optimize > 1:
        from tidegate.conformance.exits import Exit

        message = "docstrings are part of the specification: run Python without -OO, and unset PYTHONOPTIMIZE"
        print(f"tidegate: {message}", file=sys.stderr)
        return Exit.USAGE
    try:
        from tidegate.conformance.stopping import listen

        listen()
        # From here on signals are remembered until work begins.
        from tidegate.conformance.cli.main import main as run
    except KeyboardInterrupt:
        from tidegate.conformance.exits import Exit

        print("tidegate: interrupted", file=sys.stderr)
        return Exit.UNDETERMINED
    return run()


if __name__ == "__main__":
    sys.exit(main())
