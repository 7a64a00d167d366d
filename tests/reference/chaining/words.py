"""Operators in words: `3 never wide`."""

import attrs

from tidegate.reference.chaining.chains import Kind, Strategy
from tidegate.reference.elements import Long

WORDS = {
    "source": {"kind": Kind.SOURCE},
    "legacy": {"kind": Kind.LEGACY_SOURCE},
    "yielding": {"yielding": True},
    "always": {"strategy": Strategy.ALWAYS},
    "head": {"strategy": Strategy.HEAD},
    "never": {"strategy": Strategy.NEVER},
    "with_sources": {"strategy": Strategy.HEAD_WITH_SOURCES},
    "other_group": {"slot_group": "other"},
    "empty": {"has_operator": False},
    "wide": {"parallelism": 3},
    "max": {"max_parallelism": 8},
    "timeout": {"buffer_timeout": Long(100)},
    "timeout_0": {"buffer_timeout": Long(0)},
}


def read_operator(text, make):
    """Made of its number and its name, and then changed as the words say."""
    number, *words = text.split()
    made = make(int(number), f"n{number}")
    for word in words:
        made = attrs.evolve(made, **WORDS[word])
    return made
