"""How engines go wrong: the museum's right machines without the switches of its own bugs, and changes to them."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.mutation.sites import change

BYTES = {"one byte": 2**8, "two bytes": 2**16}


# --- the right machine alone ----------------------------------------------------------------------------------


def is_bug(node: ast.AST) -> bool:
    return (isinstance(node, ast.Name) and node.id == "bug") or (isinstance(node, ast.Attribute) and node.attr == "bug")


class WithoutBugs(ast.NodeTransformer):
    """Takes the switches out: what is asked of the bug is answered, and what never happens then is gone."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if is_bug(node.left) and len(node.ops) == 1:
            return ast.copy_location(ast.Constant(isinstance(node.ops[0], (ast.NotEq, ast.NotIn))), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Dict(), attr="get"), args=[asked, default]) if is_bug(asked):
                return default
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and is_known(node.operand):
            return ast.copy_location(ast.Constant(not node.operand.value), node)  # type: ignore[attr-defined]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        decides = isinstance(node.op, ast.Or)
        values: list[ast.expr] = []
        for value in node.values:
            if is_known(value):
                if value.value is decides:  # type: ignore[attr-defined]
                    if not values:
                        return value
                    values.append(value)
                    break
                continue
            values.append(value)
        if not values:
            return ast.copy_location(ast.Constant(not decides), node)
        return values[0] if len(values) == 1 else ast.copy_location(ast.BoolOp(node.op, values), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if is_known(node.test):
            return node.body if node.test.value else node.orelse  # type: ignore[attr-defined]
        return node

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if not is_known(node.test):
            if not node.body:
                node.body = [ast.copy_location(ast.Pass(), node)]
            return node
        return (node.body if node.test.value else node.orelse) or None  # type: ignore[attr-defined]


def is_known(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def read_right(path: Path) -> ast.Module:
    tree: ast.Module = WithoutBugs().visit(ast.parse(path.read_text(encoding="utf-8")))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.For, ast.While, ast.With)) and not node.body:
            node.body = [ast.copy_location(ast.Pass(), node)]
    return ast.fix_missing_locations(tree)


# --- how engines go wrong -------------------------------------------------------------------------------------


def go_wrong(node: ast.AST, above: list[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """What is changed in the reference, and what is not written there because values are frozen.

    How values are read is left alone: what is outside of their domain is never asked.
    """
    if any(isinstance(one, ast.Call) and is_reader(one.func) for one in above):
        return
    if any(is_bug(one) for one in ast.walk(node)) and isinstance(node, (ast.expr, ast.Assign)):
        return
    if any(isinstance(one, ast.If) and is_of_the_domain(one) for one in (*above, node)):
        return
    yield from change(node, above)
    in_init = any(isinstance(one, ast.FunctionDef) and one.name == "__init__" for one in above)
    match node:
        case ast.AugAssign(op=ast.Add()) if isinstance(node.target, (ast.Attribute, ast.Name)):
            yield from narrow(node)
        case ast.Compare(ops=[ast.Eq()], comparators=[other]) if not is_text(other):
            for wider in (ast.GtE(), ast.LtE()):
                yield f"== to {type(wider).__name__}", ast.Compare(node.left, [wider], node.comparators)
        case ast.Compare(ops=[ast.GtE() | ast.LtE()]):
            yield "to ==", ast.Compare(node.left, [ast.Eq()], node.comparators)
        case ast.Compare(ops=[ast.Gt() | ast.Lt()]):
            yield "to !=", ast.Compare(node.left, [ast.NotEq()], node.comparators)
        case ast.If() | ast.IfExp():
            yield from combine(node, above)
        case ast.Return(value=ast.expr() as value) if returns_observations(above) and not is_empty(value):
            if not isinstance(value, ast.Call) and not (isinstance(value, ast.List) and len(value.elts) == 1):
                yield "observations backwards", ast.Return(call(ast.Name("list", ast.Load()), reverse(value)))
            yield "no observations", ast.Return(ast.List([], ast.Load()))
        case ast.Call(func=ast.Attribute(value=target, attr="append"), args=[one]):
            first = ast.Attribute(target, "insert", ast.Load())
            yield "append in front", call(first, ast.Constant(0), one)
        case ast.Call(func=ast.Attribute(attr="get_long")):
            yield "32 bits", call(parse("wire.to_int32"), node)
            yield "53 bits", call(ast.Name("int", ast.Load()), call(ast.Name("float", ast.Load()), node))
        case ast.Call(func=ast.Attribute(attr="get_integer" | "get_at_least")):
            for name, size in BYTES.items():
                yield name, ast.BinOp(node, ast.Mod(), ast.Constant(size))
        case ast.Call(func=ast.Name(id="sorted"), keywords=[]):
            yield "sorted backwards", ast.Call(node.func, node.args, [ast.keyword("reverse", ast.Constant(value=True))])
    is_dropped = isinstance(node, (ast.Assign, ast.AugAssign, ast.Delete)) or is_call_of_method(node)
    if is_dropped and not in_init and isinstance(node, ast.stmt) and touches_state(node):
        yield "left out", ast.Pass()
    if in_init and isinstance(node, ast.Assign) and is_collection(node.value):
        yield "outlives the case", keep_for_ever(node)
    elif in_init and isinstance(node, ast.Assign) and is_scalar(node):
        yield "outlives the case", take_from_the_last(node)
    if isinstance(node, ast.If) and (later := act_first(node, above)) is not None:
        yield "acts before it refuses", later


def is_of_the_domain(node: ast.If) -> bool:
    """Whether it only says what is no request."""
    return not node.orelse and all(isinstance(one, ast.Raise) for one in node.body)


def is_reader(function: ast.expr) -> bool:
    name = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    return name.startswith("get_")


def narrow(node: ast.AugAssign) -> Iterator[tuple[str, ast.AST]]:
    value = ast.parse(ast.unparse(node.target), mode="eval").body
    for name, size in BYTES.items():
        total = ast.BinOp(value, ast.Add(), node.value)
        yield name, ast.Assign([node.target], ast.BinOp(total, ast.Mod(), ast.Constant(size)))
        signed = parse(f"({ast.unparse(total)} + {size // 2}) % {size} - {size // 2}")
        yield f"{name}, signed", ast.Assign([node.target], signed)


def combine(node: ast.If | ast.IfExp, above: list[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """The branch depends on one more thing that the machine knows: right but for a rare combination."""
    homes = [one for one in above if isinstance(one, ast.ClassDef)]
    flags = sorted(flags_of(homes[-1])) if homes and is_in_method(above) else []
    for flag in flags:
        known = parse(f"self.{flag}")
        if flag in ast.unparse(node.test):
            continue
        never = ast.BoolOp(ast.And(), [node.test, ast.UnaryOp(ast.Not(), known)])
        always = ast.BoolOp(ast.Or(), [node.test, known])
        for name, test in ((f"and not {flag}", never), (f"or {flag}", always)):
            yield name, type(node)(test, node.body, node.orelse)


def is_in_method(above: list[ast.AST]) -> bool:
    functions = [one for one in above if isinstance(one, ast.FunctionDef)]
    return (
        bool(functions)
        and functions[0].name != "__init__"
        and [one.arg for one in functions[0].args.args][:1] == ["self"]
    )


def flags_of(home: ast.ClassDef) -> set[str]:
    """The attributes that are yes or no, or at times None, and are set again after the case began."""
    flags, changed = set(), set()
    for function in (one for one in home.body if isinstance(one, ast.FunctionDef)):
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=targets, value=value):
                    names = {
                        one.attr for target in targets for one in ast.walk(target) if isinstance(one, ast.Attribute)
                    }
                case ast.AnnAssign(target=ast.Attribute(attr=name), value=ast.expr() as value):
                    names = {name}
                case _:
                    continue
            flags |= names if isinstance(value, ast.Constant) and value.value in (True, False, None) else set()
            changed |= names if function.name != "__init__" else set()
    return (flags & changed) - {"bug"}


def returns_observations(above: list[ast.AST]) -> bool:
    functions = [one for one in above if isinstance(one, ast.FunctionDef)]
    return (
        bool(functions) and functions[-1].returns is not None and "Observations" in ast.unparse(functions[-1].returns)
    )


def touches_state(node: ast.stmt) -> bool:
    return "self" in {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def is_call_of_method(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def is_collection(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)) or (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("set", "deque", "dict", "list")
    )


def keep_for_ever(node: ast.Assign) -> ast.AST:
    kept = f"_kept_{ast.unparse(node.targets[0]).rpartition('.')[2]}"
    known, made = f"type(self).__dict__.get({kept!r})", ast.unparse(node.value)
    return ast.Assign(node.targets, parse(f"{known} or (setattr(type(self), {kept!r}, {made}), {known})[1]"))


def is_scalar(node: ast.Assign) -> bool:
    return isinstance(node.value, ast.Constant) and isinstance(node.targets[0], ast.Attribute)


def take_from_the_last(node: ast.Assign) -> ast.AST:
    """The value that the machine of the case before ended with."""
    name = ast.unparse(node.targets[0]).rpartition(".")[2]
    last, made = f"type(self).__dict__.get('_last_{name}')", ast.unparse(node.value)
    text = f"(getattr({last}, {name!r}, {made}), setattr(type(self), '_last_{name}', self))[0]"
    return ast.Assign(node.targets, parse(text))


def act_first(node: ast.If, above: list[ast.AST]) -> ast.AST | None:
    """A check that refuses, behind the change of state that stands behind it."""
    if node.orelse or not is_refusal(node.body) or not is_in_method(above):
        return None
    around = getattr(above[-1], "body", [])
    behind = around[around.index(node) + 1 :] if node in around else []
    if not behind or not isinstance(behind[0], (ast.Assign, ast.AugAssign, ast.Expr)) or not touches_state(behind[0]):
        return None
    # What is done first is done again where nothing is refused: so it is done only where it is.
    return ast.If(node.test, [behind[0], *node.body], [])


def is_refusal(body: list[ast.stmt]) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Return) and "rejected" in ast.unparse(body[0])


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, int)


def is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.List) and not node.elts


def call(function: ast.expr, *arguments: ast.expr) -> ast.Call:
    return ast.Call(function, list(arguments), [])


def reverse(node: ast.expr) -> ast.expr:
    return call(ast.Name("reversed", ast.Load()), node)


def parse(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
