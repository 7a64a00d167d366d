"""What a definition is for: a part of the model, a claim about it, or a sample that a law is tried on.

Samples are the inputs of tests. Another input is no mistake, and a table of known answers with one of them changed is
noticed by its own law at once: neither tells anything about the specification, so samples are not mutated. The same
goes for what must be reachable: something else that is reached is no mistake. All other claims are mutated, and counted
apart.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

MODEL, CLAIM, SAMPLE = "model", "claim", "sample"
#: The decorators that make a claim of a function, and whether changes of it are looked for.
CLAIMS = {"always": CLAIM, "invariant": CLAIM, "law": CLAIM, "sometimes": SAMPLE}

#: A definition at the top of a module.
Definition = tuple[str, str]


class Parts:
    """Knows the part of each definition, from the sources of all modules together."""

    def __init__(self, sources: dict[str, Path]) -> None:
        self._users: dict[Definition, set[Definition | str]] = {}
        self._claims: dict[Definition, str] = {}
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
        return self._claims.get(definition, SAMPLE if definition in self._samples else MODEL)

    def _read(self, module: str, tree: ast.Module) -> None:
        imported = dict(imports(tree))
        for node in tree.body:
            names = names_of(node)
            user = (module, names[0]) if names else (module, "")
            claims = [one for one in getattr(node, "decorator_list", ()) if is_claim(one)]
            samples = {inner for one in claims for inner in ast.walk(one)}
            for inner in ast.walk(node):
                if (used := resolve(module, inner, imported)) in self._defined and used != user:
                    self._users.setdefault(used, set()).add(SAMPLE if inner in samples else user)
            self._claims.update((user, CLAIMS[one.func.id]) for one in claims)

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
