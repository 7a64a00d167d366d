"""Everything about an invariant of run logs: its text, its code, and a log that breaks it."""

import ast
from collections.abc import Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs

from tidegate.conformance.documents.backlinks import Place, constants, find_places
from tidegate.properties.runlog import INVARIANTS, Invariant

#: Modules with the faults that can be planted into logs, each by name in a table called PLANT.
PLANTED = ("faults.py", "restored.py")
#: Events of the example log.
EVENTS = 2000


@attrs.frozen
class ExplainedInvariant:
    """`fold` is the reference function, `kernels` find the same in long logs.

    `faults` are the faults of `tidegate generate log` that break it. `example` is the audit of the first.
    """

    id: str
    statement: str
    fold: Place
    kernels: tuple[Place, ...]
    faults: tuple[str, ...]
    commands: tuple[str, ...]
    example: str

    def text(self) -> str:
        lines = [f"{self.id} (an invariant of run logs; docs/run-logs.md)", self.statement, ""]
        lines += [f"Fold {self.fold}", *(f"Kernel {place}" for place in self.kernels)]
        lines += [f"Planted faults {', '.join(self.faults)}", "", f"Example, with {self.faults[0]} planted:"]
        lines += [f"  {command}" for command in self.commands]
        return "\n".join([*lines, *([self.example] if self.example else [])])

    def markdown(self) -> str:
        head, _blank, rest = self.text().partition("\n\n")
        return f"# {head}\n\n```\n{rest}\n```"


def explain_invariant(name: str) -> ExplainedInvariant:
    (invariant,) = (one for one in INVARIANTS if one.id == name)
    faults = tuple(fault for fault, shows in find_planted() if name in shows)
    named = find_places(files("tidegate.properties.kernels"), "properties/kernels", {name})[name]
    return ExplainedInvariant(
        id=name,
        statement=invariant.statement,
        fold=place_of(invariant),
        kernels=tuple(place for place in named if not place.function.startswith("__")),
        faults=faults,
        commands=(
            f"tidegate generate log --events {EVENTS} --faults {faults[0]}=1 --out logs",
            f"tidegate audit --local --only {name} logs",
        ),
        example=find_example(name, faults[0]),
    )


def place_of(invariant: Invariant) -> Place:
    """The function that finds violations."""
    code = invariant.find.__code__
    path = invariant.find.__module__.removeprefix("tidegate.").replace(".", "/")
    return Place(f"{path}.py", code.co_name, code.co_firstlineno)


def find_planted() -> Iterator[tuple[str, set[str]]]:
    """Each fault with the invariants that show it. Parsed from the source, because the import needs NumPy."""
    for name in PLANTED:
        tree = ast.parse(files("tidegate.conformance.synthetic").joinpath(name).read_text(encoding="utf-8"))
        shown: dict[str, set[str]] = {}
        for function, _line, text in constants(tree):
            shown.setdefault(function, set()).add(f"LOG-{text.removeprefix('LOG-')}")
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "PLANT" and node.value is not None:
                assert isinstance(node.value, ast.Dict)
                for key, plant in zip(node.value.keys, node.value.values, strict=True):
                    yield ast.literal_eval(key or ast.Constant("")), shown[ast.unparse(plant)]


def find_example(name: str, fault: str) -> str:
    """The audit of a log with this fault; nothing if NumPy or PyArrow is missing."""
    if any(find_spec(module) is None for module in ("numpy", "pyarrow")):
        return ""
    # Imported only here: they are large.
    from tidegate.conformance.audit.forms import as_text  # noqa: PLC0415
    from tidegate.conformance.audit.result import audit_here  # noqa: PLC0415
    from tidegate.conformance.synthetic import restored  # noqa: PLC0415
    from tidegate.conformance.synthetic.planning import make_tasks, write_here  # noqa: PLC0415

    with TemporaryDirectory(prefix="tidegate-") as scratch:
        folder = Path(scratch)
        if fault in restored.PLANT:
            restored.write_restored(folder, {fault: 1}, 0)
        else:
            write_here(make_tasks(folder, EVENTS, 1, {fault: 1}, 0, 1), lambda _written: None)
        (excerpt, *_more) = audit_here([folder], [name], show=1).report.excerpts
        return as_text(excerpt, None)
