"""Every mutant of the museum: one table a mutant, one file a component.

rule      the rule that it breaks
also      other rules that may equally be named when it is caught
origin    where the bug was seen, or `one-rule change`
story     what it does
semantics, kinds   the only semantics or partitioner kinds under which it shows, if not under all
"""

import tomllib
from importlib.resources import files

from conformance.museum.mutant import Mutant

__all__ = ["MUTANTS", "Mutant", "find"]

COMPONENTS = (
    "valve",
    "combiner",
    "partitioner",
    "wiring",
    "serializer",
    "deserializer",
    "chaining",
    "credit_sender",
    "credit_receiver",
    "gate",
    "task",
    "priority_gate",
    "union_gate",
    "buffer",
    "outputs",
    "network_input",
    "barriers",
    "chain_lifecycle",
    "subpartition",
    "mailbox",
    "blocking_subpartition",
    "result_partition",
    "exchange",
    "multiple_inputs",
    "input_channels",
    "statuses",
    "multiplexer",
    "job",
    "writer",
    "job_graph",
    "credit_connection",
    "credit_loop",
)


def read_component(component: str) -> list[Mutant]:
    text = files(__name__).joinpath(f"{component}.toml").read_text(encoding="utf-8")
    return [
        Mutant(
            name=name,
            component=component,
            rule=table["rule"],
            origin=table["origin"],
            story=table["story"],
            also=tuple(table.get("also", ())),
            semantics=table.get("semantics"),
            kinds=tuple(table.get("kinds", ())),
        )
        for name, table in tomllib.loads(text).items()
    ]


MUTANTS: tuple[Mutant, ...] = tuple(mutant for component in COMPONENTS for mutant in read_component(component))

_BY_NAME = {mutant.name: mutant for mutant in MUTANTS}


def find(name: str) -> Mutant:
    """The mutant of that name; `KeyError` if there is none."""
    return _BY_NAME[name]
