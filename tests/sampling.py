"""Some of many: what `make test` tries of a long list; the rest is marked `long`, for `make test-long`."""

import pytest


def some(values, every=4):
    """The values as parameters of a test, all but one in `every` of them marked."""
    return [pytest.param(value, marks=[pytest.mark.long] if at % every else []) for at, value in enumerate(values)]
