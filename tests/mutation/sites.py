"""Where a module can be mutated, and how: all the small changes to its syntax tree.

Only what the code *does* is changed. Docstrings, messages, names, rule ids, annotations and decorators are left alone,
and so is `strict=` of `zip`, which states that two lengths are equal and decides nothing.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import CodeType

import attrs

from tests.mutation.parts import MODEL, SAMPLE, Parts, is_claim, names_of

#: As much of the source around a change as is shown.
CONTEXT = 110
#: Where a change is itself longer than that, so much of it is shown.
LONGEST = 160

SYMBOLS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.And: "and",
    ast.Or: "or",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mod,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
SWAPPED_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
SEQUENCES = (ast.Tuple, ast.List, ast.Set, ast.JoinedStr, ast.ListComp, ast.GeneratorExp)
#: Fields of nodes that say what something is called or of which type it is, and not what it does.
LEFT_ALONE = {"annotation", "returns", "decorator_list", "ctx", "type_comment", "pattern"}


@attrs.frozen
class Mutation:
    """One change. `before` and `after` are the source around it.

    `within` is the function, the attribute or the constant that it is in, `operator` what becomes of what, and
    `ordinal` tells changes apart that agree in both. `unit` is the function to swap, empty for what runs on import.
    """

    module: str
    path: str
    line: int
    within: str
    unit: str
    part: str
    operator: str
    ordinal: int
    before: str
    after: str

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What a change is known by when lines move, locals get other names and code another form."""
        return (self.path, self.within, self.operator, self.ordinal)


@attrs.define(eq=False)
class Slot:
    """A place in the tree that holds a node: a field of the parent, or one element of a field that is a list."""

    parent: ast.AST
    field: str
    index: int | None = None

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


@attrs.define(eq=False)
class Site:
    """A change that can be made to the tree it was found in."""

    mutation: Mutation
    tree: ast.Module
    slot: Slot
    node: ast.AST
    replacement: ast.AST

    def compile(self, file: str) -> CodeType:
        self.slot.put(self.replacement)
        try:
            return compile(ast.fix_missing_locations(self.tree), file, "exec")
        finally:
            self.slot.put(self.node)


def find_sites(module: str, path: Path, shown_as: str, parts: Parts) -> list[Site]:
    """Every change to one module that is not one to a sample, in the order of its source."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return list(Finder(module, shown_as, tree, parts).find())


def make_control(module: str, path: Path, shown_as: str) -> Site:
    """A change that changes nothing, and must survive."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    mutation = Mutation(module, shown_as, 1, "", "", MODEL, "none", 1, "", "")
    return Site(mutation, tree, Slot(tree, "body", 0), tree.body[0], tree.body[0])


#: What may become of a node that has these above it: each change by its name, with what takes the node's place.
Changes = Callable[[ast.AST, list[ast.AST]], Iterator[tuple[str, ast.AST]]]


class Finder:
    def __init__(
        self, module: str, shown_as: str, tree: ast.Module, parts: Parts, changes: Changes | None = None
    ) -> None:
        self._module = module
        self._path = shown_as
        self._tree = tree
        self._part_of = parts.of
        self._changes = changes or change
        self._met: Counter[tuple[str, str]] = Counter()

    def find(self) -> Iterator[Site]:
        for number, node in enumerate(self._tree.body):
            part = self._part_of(self._module, "".join(names_of(node)))
            if part != SAMPLE and not is_left_alone(node):
                self._part = part
                yield from self._walk(Slot(self._tree, "body", number), node, [self._tree])

    def _walk_children(self, node: ast.AST, above: list[ast.AST]) -> Iterator[Site]:
        for field, value in ast.iter_fields(node):
            if field in LEFT_ALONE:
                continue
            if isinstance(value, list):
                slots = [(Slot(node, field, index), child) for index, child in enumerate(value)]
            else:
                slots = [(Slot(node, field), value)]
            for slot, child in slots:
                if isinstance(child, ast.AST) and not is_left_alone(child):
                    yield from self._walk(slot, child, [*above, node])

    def _walk(self, slot: Slot, node: ast.AST, above: list[ast.AST]) -> Iterator[Site]:
        for operator, replacement in self._changes(node, above):
            yield self._make_site(slot, node, replacement, operator, above)
        yield from self._walk_children(node, above)

    def _make_site(self, slot: Slot, node: ast.AST, replacement: ast.AST, operator: str, above: list[ast.AST]) -> Site:
        line = getattr(node, "lineno", None) or next(one.lineno for one in reversed(above) if hasattr(one, "lineno"))
        copy_position(replacement, node)
        context = find_context(node, above)
        before = show(context)
        slot.put(replacement)
        # Where the context is the node itself, the tree now holds its replacement.
        after = show(replacement if context is node else context)
        slot.put(node)
        before, after = shorten(before, after)
        within, unit = name_place([*above, node])
        self._met[within, operator] += 1
        ordinal = self._met[within, operator]
        mutation = Mutation(self._module, self._path, line, within, unit, self._part, operator, ordinal, before, after)
        return Site(mutation, self._tree, slot, node, replacement)


def is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
            return True
        case ast.keyword(arg="strict"):
            return True
        case ast.Call() if is_claim(node):
            # Rules, and samples that stand where they are used.
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(value=ast.BinOp(op=ast.BitOr())) if all(map(is_of_names, leaves(node.value))):
            return True
    return False


def leaves(node: ast.expr) -> Iterator[ast.expr]:
    """The operands of a chain of `|`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from leaves(node.left)
        yield from leaves(node.right)
    else:
        yield node


def is_of_names(node: ast.expr) -> bool:
    """As in `Event = Arrive | Poll`: the name of a type."""
    return isinstance(node, ast.Name) and node.id[:1].isupper()


def change(node: ast.AST, above: list[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """The name of each change to a node, and what takes its place."""
    match node:
        case ast.Compare():
            yield from change_comparison(node)
        case ast.BinOp():
            if (other := swap_arithmetic(node.op, node.left, node.right)) is not None:
                yield replace(node.op, other), ast.BinOp(node.left, other, node.right)
        case ast.AugAssign():
            if (other := swap_arithmetic(node.op, node.value)) is not None:
                yield replace(node.op, other), ast.AugAssign(node.target, other, node.value)
        case ast.Constant(value=bool()):
            yield f"{node.value} to {not node.value}", ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield from ((f"{node.value} to {other}", ast.Constant(other)) for other in (node.value + 1, node.value - 1))
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield replace(node.op, other), ast.BoolOp(other, node.values)
        case ast.UnaryOp(op=ast.Not()):
            yield "drop not", node.operand
        case ast.Call():
            yield from change_call(node, above)
        case ast.Tuple(ctx=ast.Load()) | ast.List(ctx=ast.Load()):
            if any(isinstance(one, ast.Starred) for one in node.elts) and not holds_text(node):
                yield from drop_each(node)
        case ast.Slice():
            yield from change_slice(node)
        case ast.comprehension(ifs=[_, *_]):
            for index in range(len(node.ifs)):
                ifs = node.ifs[:index] + node.ifs[index + 1 :]
                yield "drop filter", ast.comprehension(node.target, node.iter, ifs, node.is_async)
        case _:
            yield from change_branch(node)


def change_comparison(node: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
    for index, operator in enumerate(node.ops):
        other = COMPARISONS[type(operator)]()
        ops = [*node.ops[:index], other, *node.ops[index + 1 :]]
        yield replace(operator, other), ast.Compare(node.left, ops, node.comparators)


def replace(operator: ast.AST, other: ast.AST) -> str:
    return f"{SYMBOLS[type(operator)]} to {SYMBOLS[type(other)]}"


def swap_arithmetic(operator: ast.operator, *operands: ast.expr) -> ast.operator | None:
    """None where the operation joins or repeats sequences: without the + of a tuple nothing runs at all."""
    if any(isinstance(one, SEQUENCES) or is_text(one) for one in operands):
        return None
    other = ARITHMETIC.get(type(operator))
    return None if other is None else other()


def change_call(node: ast.Call, above: list[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    match node.func:
        case ast.Name(id=name) if name in SWAPPED_CALLS:
            yield (
                f"{name} to {SWAPPED_CALLS[name]}",
                ast.Call(ast.Name(SWAPPED_CALLS[name], ast.Load()), node.args, node.keywords),
            )
        case ast.Name(id="Outcome") if len(node.args) >= 2:
            state, observations, *rest = node.args
            if isinstance(observations, ast.Tuple) and not any(
                isinstance(one, ast.Starred) for one in observations.elts
            ):
                for _, fewer in drop_each(observations):
                    yield "drop observation", ast.Call(node.func, [state, fewer, *rest], node.keywords)
            if "state" in parameters(above) and not (isinstance(state, ast.Name) and state.id == "state"):
                yield (
                    "keep state",
                    ast.Call(node.func, [ast.Name("state", ast.Load()), observations, *rest], node.keywords),
                )
        case ast.Attribute(attr="evolve"):
            for index, keyword in enumerate(node.keywords):
                if keyword.arg not in (None, "rules"):
                    keywords = node.keywords[:index] + node.keywords[index + 1 :]
                    yield f"keep {keyword.arg}", ast.Call(node.func, node.args, keywords)


def drop_each(node: ast.Tuple | ast.List) -> Iterator[tuple[str, ast.AST]]:
    for index in range(len(node.elts)):
        yield "drop element", type(node)(node.elts[:index] + node.elts[index + 1 :], ast.Load())


def change_slice(node: ast.Slice) -> Iterator[tuple[str, ast.AST]]:
    """Bounds that are numbers are changed as numbers."""
    if node.lower is not None and not is_number(node.lower):
        yield "slice from 1 later", ast.Slice(ast.BinOp(node.lower, ast.Add(), ast.Constant(1)), node.upper, node.step)
    if node.upper is not None and not is_number(node.upper):
        yield "slice to 1 later", ast.Slice(node.lower, ast.BinOp(node.upper, ast.Add(), ast.Constant(1)), node.step)


def change_branch(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    never, always = ast.Constant(value=False), ast.Constant(value=True)
    match node:
        case ast.If():
            yield "if never", ast.If(never, node.body, node.orelse)
            if node.orelse:
                yield "if always", ast.If(always, node.body, node.orelse)
        case ast.IfExp():
            yield "if never", ast.IfExp(never, node.body, node.orelse)
            yield "if always", ast.IfExp(always, node.body, node.orelse)
        case ast.While():
            yield "while never", ast.While(never, node.body, node.orelse)
        case ast.match_case():
            yield "case never", ast.match_case(node.pattern, never, node.body)


# --- what is what ---------------------------------------------------------------------------------------------


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def is_number(node: ast.AST) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def holds_text(node: ast.Tuple | ast.List) -> bool:
    """Most likely a sequence of rule ids."""
    return any(is_text(one) for one in node.elts)


SHOWN = (ast.expr, ast.keyword, ast.comprehension, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def parameters(above: list[ast.AST]) -> set[str]:
    functions = [node for node in above if isinstance(node, FUNCTIONS)]
    return {argument.arg for argument in functions[-1].args.args} if functions else set()


def name_place(path: list[ast.AST]) -> tuple[str, str]:
    """The definition that a node is in, with its class; and if it is a function, that one as a unit to swap."""
    names: list[str] = []
    for node, inner in pairwise([*path, None]):
        match node:
            case ast.ClassDef():
                names.append(node.name)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                within = ".".join([*names, node.name])
                # Defaults of parameters are computed with the module, and not when the function runs.
                return within, "" if isinstance(inner, ast.arguments) else within
            case ast.stmt():
                return ".".join([*names, *names_of(node)]), ""
    return ".".join(names), ""


def find_context(node: ast.AST, above: list[ast.AST]) -> ast.AST:
    """The largest piece of source around a node that is short enough to be shown on a line."""
    context = node
    for one in reversed(above):
        is_header = isinstance(one, (ast.If, ast.While)) and one.test is context
        if isinstance(context, ast.stmt) or not (is_header or isinstance(one, SHOWN)) or len(show(one)) > CONTEXT:
            break
        context = one
    return context


def show(node: ast.AST) -> str:
    match node:
        case ast.If():
            return f"if {ast.unparse(node.test)}: …"
        case ast.While():
            return f"while {ast.unparse(node.test)}: …"
        case ast.match_case():
            guard = f" if {ast.unparse(node.guard)}" if node.guard is not None else ""
            return f"case {ast.unparse(node.pattern)}{guard}: …"
        case ast.Slice():
            return ast.unparse(node)
    return " ".join(ast.unparse(node).split())


def shorten(before: str, after: str) -> tuple[str, str]:
    """Of two long texts, what stands around the difference."""
    if len(before) <= LONGEST:
        return before, after
    same = next((place for place, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), 0)
    first = max(0, same - LONGEST // 2)
    return tuple(f"{'…' * (first > 0)}{text[first : first + LONGEST]}…" for text in (before, after))


def copy_position(new: ast.AST, old: ast.AST) -> None:
    if hasattr(old, "lineno") and isinstance(new, (ast.expr, ast.stmt)):
        ast.copy_location(new, old)
