"""Libraries that only some verbs need, and what to do where they are not installed."""

from importlib.util import find_spec


def need(*modules: str, extra: str) -> None:
    """Raise CannotStartError, with what to install, where one is missing."""
    from tidegate.conformance.engines.errors import CannotStartError

    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise CannotStartError(f"this needs {' and '.join(missing)}", f"pip install 'tidegate[{extra}]'")
