"""What a definition is for: a part of the model, a claim about it, or a sample that a law is tried on.

Samples are the inputs of tests. Another input is no mistake, and a table of known answers with one of them changed is
noticed by its own law at once: neither tells anything about the specification, so samples are not mutated. Claims are
what `Property`, `Invariant` and `Law` are given to decide with; they are mutated, and counted apart.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

MODEL, CLAIM, SAMPLE = "model", "claim", "sample"
#: Which argument of a claim is the function that decides, and which the samples.
DECIDES, SAMPLES = 3, 4
CLAIMS = ("Property", "Invariant", "Law")

#: A definition at the top of a module.
Definition = tuple[str, str]


class Parts:
    """Knows the part of each definition, from the sources of all modules together."""

    def __init__(self, sources: dict[str, Path]) -> None:
        self._users: dict[Definition, set[Definition | str]] = {}
        self._claims: set[Definition] = set()
        self._defined: set[Definition] = set()
        trees = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in sources.items()}
        for module, tree in trees.items():
            self._defined |= {(module, name) for node in tree.body for name in names_of(node)}
        for module, tree in trees.items():
            self._read(module, tree)
        self._samples = self._find_samples()

    def of(self, module: str, within: str) -> str:
        """The part of the definition with that name."""
        definition = (module, within.partition(".")[0])
        if definition in self._claims:
            return CLAIM
        return SAMPLE if definition in self._samples else MODEL

    def _read(self, module: str, tree: ast.Module) -> None:
        imported = dict(imports(tree))
        for node in tree.body:
            names = names_of(node)
            user = (module, names[0]) if names else (module, "")
            inside = list(ast.walk(node))
            claims = [inner for inner in inside if is_claim(inner)]
            samples = {inner for law in claims for inner in ast.walk(argument(law, SAMPLES, "samples"))}
            for inner in inside:
                if (used := resolve(module, inner, imported)) in self._defined and used != user:
                    self._users.setdefault(used, set()).add(SAMPLE if inner in samples else user)
            self._claims |= {
                decides
                for claim in claims
                if (decides := resolve(module, argument(claim, DECIDES, "holds"), imported)) is not None
            }

    def _find_samples(self) -> set[Definition]:
        """What nothing uses but samples, on whatever way."""
        samples: set[Definition | str] = {SAMPLE}
        while more := {one for one, users in self._users.items() if users <= samples} - samples:
            samples |= more
        return samples - {SAMPLE}


def names_of(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((alias.asname or alias.name, (node.module, alias.name)) for alias in node.names)


def resolve(module: str, node: ast.AST, imported: dict[str, tuple[str, str]]) -> Definition | None:
    """What a name stands for: `f`, an imported `f`, or `module.f`."""
    match node:
        case ast.Name(id=name):
            return imported.get(name, (module, name))
        case ast.Attribute(value=ast.Name(id=home), attr=name) if home in imported:
            return (".".join(imported[home]), name)
    return None


def is_claim(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CLAIMS


def argument(call: ast.Call, position: int, name: str) -> ast.AST:
    if len(call.args) > position:
        return call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), ast.Pass())
