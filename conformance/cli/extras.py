"""Libraries that only some verbs need."""

from importlib.util import find_spec


def need(*modules: str, extra: str) -> None:
    """Raise CannotStartError, with the install command, if one is missing."""
    from tidegate.conformance.engines.errors import CannotStartError

    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise CannotStartError(f"this needs {' and '.join(missing)}", f"pip install 'tidegate[{extra}]'")
