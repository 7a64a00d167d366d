"""The operators of a chain as a config gives them, and the calls that are made to them."""

from tidegate.conformance.engines.wire import BadRequestError, Json, get_boolean, get_integer

#: Who is called, and how; of the end of an input also which one, behind a colon.
Call = tuple[int, str]


def to_json(call: Call) -> Json:
    operator, name = call
    told, _, index = name.partition(":")
    return {"type": "call", "operator": operator, "call": told, **({"input": int(index)} if index else {})}


def read_parents(operators: object) -> tuple[list[int], list[bool]]:
    if type(operators) is not list or not operators or not all(type(one) is dict for one in operators):
        raise BadRequestError("operators must be a list of objects")
    parents = []
    for index, operator in enumerate(operators):
        if ("parent" in operator) != bool(index):
            raise BadRequestError("all operators but the head have a parent")
        parents.append(get_integer(operator, "parent") if index else -1)
        if index and not 0 <= parents[index] < index:
            raise BadRequestError("the parent of an operator stands before it")
    return parents, [get_boolean(operator, "lingers") for operator in operators]
