"""How engines go wrong: the museum's right machines, and changes to them."""

import ast
import copy
from collections.abc import Iterator
from itertools import pairwise, takewhile
from pathlib import Path

from tests.mutation.sites import change, drop_each

BYTES = {"one byte": 2**8, "two bytes": 2**16}
#: What a loop makes of the things that it goes through.
PASSES = {
    "without the first": "[1:]",
    "without the last": "[:-1]",
    "backwards": "[::-1]",
    "8 of them": "[:8]",
    "64 of them": "[:64]",
    "256 of them": "[:256]",
}
#: Where the order of what is gone through makes no difference.
UNORDERED = {"any", "all", "min", "max", "sum", "set", "sorted"}
#: A branch is taken so often in a case, and then never again.
OFTEN = (1, 2, 9)
#: What is read, and what careless readers make of it.
READ = {
    "get_long": {
        "32 bits": "({} + 2**31) % 2**32 - 2**31",
        "53 bits": "int(float({}))",
        "not below zero": "max(0, {})",
    },
    "get_integer": {name: f"{{}} % {size}" for name, size in BYTES.items()} | {"not below zero": "max(0, {})"},
    "get_at_least": {name: f"{{}} % {size}" for name, size in BYTES.items()},
    "get_string": {"without case": "{}.lower()", "stripped": "{}.strip()", "of 8 characters": "{}[:8]"},
    "get_hex": {"of 255 bytes": "{}[:510]", "without zeros at the end": "{}.rstrip('0')"},
}
#: What careless writers make of a number, or of the text of one, before it is seen.
SEEN = {
    "seen in one byte": "(lambda seen: seen % 256 if type(seen) is int else seen)({})",
    "seen in two bytes": "(lambda seen: seen % 65536 if type(seen) is int else seen)({})",
}
SEEN_TEXT = {"seen in 53 bits": "(lambda seen: str(int(float(seen))) if seen.lstrip('-').isdigit() else seen)({})"}


# --- the right machine alone ----------------------------------------------------------------------------------


def read_right(path: Path) -> ast.Module:
    """Of a module of the museum, what stands before its first wrong engine."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [*takewhile(lambda node: not is_wrong(node), tree.body)]
    return tree


def is_wrong(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and any(
        isinstance(one, ast.Call) and text_of(one.func) == "wrong" for one in node.decorator_list
    )


# --- how engines go wrong -------------------------------------------------------------------------------------


def go_wrong(node: ast.AST, above: list[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """What is changed in the reference, and what is not written there because values are frozen.

    How values are read is left alone: what is outside of their domain is never asked.
    """
    if any(isinstance(one, ast.Call) and is_reader(one.func) for one in above):
        return
    if any(isinstance(one, ast.If) and is_of_the_domain(one) for one in (*above, node)):
        return
    yield from change(node, above)
    yield from change_value(node, above)
    yield from change_flow(node, above)
    yield from change_state(node, above)


def change_value(node: ast.AST, above: list[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """What is computed, compared, read and seen."""
    match node:
        case ast.AugAssign(op=ast.Add()) if isinstance(node.target, (ast.Attribute, ast.Name)):
            yield from narrow(node)
        case ast.AugAssign(op=ast.Sub()):
            yield (
                "not below zero",
                ast.Assign([node.target], parse(f"max(0, {text_of(node.target)} - {text_of(node.value)})")),
            )
        case ast.Assign(targets=[ast.Attribute()], value=ast.BinOp(op=ast.Add() | ast.Sub())):
            for name, size in BYTES.items():
                yield name, ast.Assign(node.targets, ast.BinOp(node.value, ast.Mod(), ast.Constant(size)))
        case ast.Compare(ops=[ast.Eq()], comparators=[other]) if not is_text(other):
            for wider in (ast.GtE(), ast.LtE()):
                yield f"== to {type(wider).__name__}", ast.Compare(node.left, [wider], node.comparators)
        case ast.Compare(ops=[ast.GtE() | ast.LtE()]):
            yield "to ==", ast.Compare(node.left, [ast.Eq()], node.comparators)
        case ast.Compare(ops=[ast.Gt() | ast.Lt()]):
            yield "to !=", ast.Compare(node.left, [ast.NotEq()], node.comparators)
        case ast.BoolOp(values=values):
            for index in range(len(values)):
                fewer = values[:index] + values[index + 1 :]
                yield "drop operand", fewer[0] if len(fewer) == 1 else ast.BoolOp(node.op, fewer)
        case ast.Set(elts=[_, _, *_]) | ast.Tuple(elts=[_, _, *_], ctx=ast.Load()) if all(map(is_text, node.elts)):
            for index in range(len(node.elts)):
                fewer = node.elts[:index] + node.elts[index + 1 :]
                yield "drop choice", ast.Set(fewer) if isinstance(node, ast.Set) else ast.Tuple(fewer, ast.Load())
        case ast.Attribute(attr="LOWEST"):
            yield "LOWEST to 0", ast.Constant(0)
            yield "LOWEST to LOWEST + 1", ast.BinOp(node, ast.Add(), ast.Constant(1))
        case ast.Attribute(attr="HIGHEST"):
            yield "HIGHEST to HIGHEST - 1", ast.BinOp(node, ast.Sub(), ast.Constant(1))
        case ast.Dict() if any(isinstance(key, ast.Constant) and key.value == "type" for key in node.keys):
            for index, value in enumerate(node.values):
                for name, form in forms_of(value).items():
                    values = [*node.values[:index], parse(form.format(text_of(value))), *node.values[index + 1 :]]
                    yield name, ast.Dict(node.keys, values)
        case ast.Call():
            yield from change_call(node, above)


def forms_of(value: ast.expr) -> dict[str, str]:
    match value:
        case ast.Call(func=ast.Name(id="str")):
            return SEEN_TEXT
        case ast.Constant() | ast.JoinedStr() | ast.List() | ast.ListComp() | ast.IfExp(body=ast.Constant()):
            return {}
    return SEEN


def change_call(node: ast.Call, above: list[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Call(func=ast.Attribute(value=target, attr="append"), args=[one]):
            yield "append in front", call(ast.Attribute(target, "insert", ast.Load()), ast.Constant(0), one)
        case ast.Call(func=ast.Attribute(value=target, attr="popleft"), args=[]):
            yield "the last for the first", call(ast.Attribute(target, "pop", ast.Load()))
        case ast.Call(func=ast.Attribute(value=target, attr="appendleft"), args=[one]):
            yield "append behind", call(ast.Attribute(target, "append", ast.Load()), one)
        case ast.Call(func=ast.Name(id="sorted"), keywords=[]):
            yield "sorted backwards", ast.Call(node.func, node.args, [ast.keyword("reverse", ast.Constant(value=True))])
            yield "unsorted", call(ast.Name("list", ast.Load()), *node.args)
        case ast.Call(func=ast.Name(id="min" | "max"), args=[_, _, *_]):
            for index in range(len(node.args)):
                fewer = node.args[:index] + node.args[index + 1 :]
                yield "drop argument", fewer[0] if len(fewer) == 1 else call(node.func, *fewer)
        case ast.Call(func=ast.Name(id=name), args=[ast.Name() | ast.Attribute() as whole]) if name in UNORDERED:
            for operator, part in PASSES.items():
                if operator != "backwards":
                    yield operator, call(node.func, parse(f"list({text_of(whole)}){part}"))
        case ast.Call(args=[ast.Name() | ast.Attribute() as one, ast.Name() | ast.Attribute() as other, *rest]):
            if not is_reader(node.func):
                yield "swap arguments", ast.Call(node.func, [other, one, *rest], node.keywords)
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in READ:
            for operator, form in READ[name].items():
                yield operator, parse(form.format(text_of(node)))
        case ast.Attribute(attr="get_semantics") | ast.Name(id="get_semantics"):
            config, choices = map(text_of, node.args)
            yield "another default", parse(f"{text_of(node)} if 'semantics' in {config} else {choices}[-1]")


def change_flow(node: ast.AST, above: list[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Which branches are taken, how often, and in which order things are done and seen."""
    match node:
        case ast.If() | ast.IfExp():
            yield from combine(node, above)
            if is_in_method(above):
                for most in OFTEN:
                    yield f"{most} times at most", type(node)(limit(node.test, most), node.body, node.orelse)
            if isinstance(node, ast.If) and not node.orelse and not is_before_complaint(node, above):
                yield "if always", ast.If(ast.Constant(value=True), node.body, [])
        case ast.For() | ast.comprehension():
            is_ordered = isinstance(node, ast.For) or not is_in_unordered(above)
            for name, part in PASSES.items():
                if is_ordered or name != "backwards":
                    other = copy.copy(node)
                    other.iter = parse(f"list({text_of(node.iter)}){part}")
                    yield name, other
        case ast.Continue():
            yield "continue to break", ast.Break()
        case ast.Break():
            yield "break to pass", ast.Pass()
        case ast.Return(value=ast.expr() as value) if returns_observations(above) and not is_empty(value):
            if not isinstance(value, ast.Call) and not (isinstance(value, ast.List) and len(value.elts) == 1):
                yield "observations backwards", ast.Return(call(ast.Name("list", ast.Load()), reverse(value)))
            yield "no observations", ast.Return(ast.List([], ast.Load()))
        case ast.List(elts=[_, _, *_], ctx=ast.Load()) if not any(isinstance(one, ast.Starred) for one in node.elts):
            yield from drop_each(node)
    if isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.While)):
        for index, (one, then) in enumerate(pairwise(node.body)):
            if is_act(one) and is_act(then) and depend(one, then):
                other = copy.copy(node)
                other.body = [*node.body[:index], then, one, *node.body[index + 2 :]]
                yield "swap statements", other


def change_state(node: ast.AST, above: list[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """What is remembered too long, too short, or in the place of something else."""
    in_init = any(isinstance(one, ast.FunctionDef) and one.name == "__init__" for one in above)
    is_dropped = isinstance(node, (ast.Assign, ast.AugAssign, ast.Delete)) or is_call_of_method(node)
    if is_dropped and not in_init and isinstance(node, ast.stmt) and touches_state(node):
        yield "left out", ast.Pass()
    if in_init and isinstance(node, ast.Assign) and is_collection(node.value):
        yield "outlives the case", keep_for_ever(node)
    elif in_init and isinstance(node, ast.Assign) and is_scalar(node):
        yield "outlives the case", take_from_the_last(node)
    if isinstance(node, ast.If) and (later := act_first(node, above)) is not None:
        yield "acts before it refuses", later
    homes = [one for one in above if isinstance(one, ast.ClassDef)]
    if homes and isinstance(node, ast.FunctionDef) and homes[-1] is above[-1] and node.name not in ("__init__", "step"):
        for name, value in beginnings(homes[-1]).items():
            if not any(isinstance(one, ast.Attribute) and one.attr == name for one in ast.walk(node)):
                forgetful = copy.copy(node)
                forgetful.body = [*ast.parse(f"self.{name} = {value}").body, *node.body]
                yield f"forgets {name}", forgetful
    if homes and is_in_method(above) and isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        known = beginnings(homes[-1])
        if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in known:
            for other in sorted(known):
                if other != node.attr and type_of(known[other]) == type_of(known[node.attr]):
                    yield f"{node.attr} to {other}", parse(f"self.{other}")


def beginnings(home: ast.ClassDef) -> dict[str, str]:
    """The attributes that change after the case began, with what they begin as."""
    known, changed = {}, set()
    for function in (one for one in home.body if isinstance(one, ast.FunctionDef)):
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value):
                    pass
                case ast.AnnAssign(
                    target=ast.Attribute(value=ast.Name(id="self"), attr=name), value=ast.expr() as value
                ):
                    pass
                case _:
                    if function.name != "__init__":
                        changed |= names_changed(node)
                    continue
            if function.name != "__init__":
                changed.add(name)
            elif isinstance(value, ast.Constant) or is_collection(value) or text_of(value) == "wire.LOWEST":
                known[name] = text_of(value)
    return {name: value for name, value in known.items() if name in changed}


def names_changed(node: ast.AST) -> set[str]:
    """The attributes of self that are added to, or that something is done with or put into."""
    match node:
        case ast.AugAssign(target=target):
            places = [target]
        case ast.Assign(targets=targets):
            places = targets
        case ast.Delete(targets=targets):
            places = targets
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target))):
            places = [target]
        case ast.Call(func=ast.Attribute(value=target, attr="pop" | "popleft" | "setdefault")):
            places = [target]
        case _:
            places = []
    return {one.attr for place in places for one in ast.walk(place) if isinstance(one, ast.Attribute)}


def type_of(value: str) -> str:
    """Of what an attribute begins as."""
    return type(ast.literal_eval(value)).__name__ if value[:1] in "-0123456789TFN'\"" else value


def is_in_unordered(above: list[ast.AST]) -> bool:
    if isinstance(above[-1], (ast.SetComp, ast.DictComp)):
        return True
    outer = above[-2]
    return isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id in UNORDERED


def is_act(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Assign, ast.AugAssign, ast.Delete)) or is_call_of_method(node)


def depend(one: ast.stmt, then: ast.stmt) -> bool:
    """Whether it may make a difference which of two statements comes first."""
    if all(any(isinstance(part, ast.Call) and is_own(part.func) for part in ast.walk(node)) for node in (one, then)):
        return True
    return bool(written(one) & used(then) or written(then) & used(one))


def is_own(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and text_of(function.value) == "self"


def used(node: ast.AST) -> set[str]:
    attributes = {one.attr for one in ast.walk(node) if is_own(one)}  # type: ignore[arg-type, attr-defined]
    return attributes | {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - {"self"}


def written(node: ast.AST) -> set[str]:
    """What is set, or has a method called on it, which may change it."""
    match node:
        case ast.Assign(targets=places) | ast.Delete(targets=places):
            return set().union(*map(used, places))
        case ast.AugAssign(target=place):
            return used(place)
    return set().union(*(used(one.func.value) for one in ast.walk(node) if is_method_call(one)))  # type: ignore[attr-defined]


def is_method_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def is_before_complaint(node: ast.If, above: list[ast.AST]) -> bool:
    """Whether all other requests are no requests."""
    around = getattr(above[-1], "body", [])
    behind = around[around.index(node) + 1 :] if node in around else []
    return bool(behind) and isinstance(behind[0], ast.Raise)


def limit(test: ast.expr, most: int) -> ast.expr:
    """True only the first times in a case."""
    name = f"_taken_{test.lineno}_{test.col_offset}"
    count = f"self.__dict__.__setitem__({name!r}, self.__dict__.get({name!r}, 0) + 1)"
    return ast.BoolOp(ast.And(), [test, parse(f"({count} or self.__dict__[{name!r}] <= {most})")])


def text_of(node: ast.AST) -> str:
    return ast.unparse(node)


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
    return flags & changed


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
