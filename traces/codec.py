"""Values of the specification as JSON in the form of the engine protocol.

Everything is derived from the attrs classes in `reference/`: a class with a `type` is a tagged object, a `Long` is a
decimal string (readers that turn numbers into doubles would destroy it), other numbers have 32 bits, bytes are
lowercase hex, and there is no null. Types are checked, never converted: `"5"` is no index and `true` is no count.
"""

import re
import reprlib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, Union, get_args, get_origin

import attrs
import cattrs
from cattrs.errors import IterableValidationNote
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from tidegate.reference.components import COMPONENTS
from tidegate.reference.elements import MAX, MIN, Counted, Long, counted_in, types_of
from tidegate.reference.model import AnyComponent, InvalidInputError, Rejected
from tidegate.traces.cases import Case

#: Limit of reported problems in a list.
MOST_PROBLEMS = 3
DECIMAL = re.compile(r"0|-?[1-9][0-9]{0,18}")
HEX = re.compile(r"(?:[0-9a-f]{2})*")


class DecodeError(ValueError):
    """The JSON violates the protocol; the message names the place."""


def exactly(expected: type, name: str) -> Callable[[Any, Any], Any]:
    def check(value: Any, _type: Any) -> Any:
        if type(value) is not expected:
            raise InvalidInputError(f"must be {name}, not {show(value)}")
        return value

    return check


SHORT = reprlib.Repr()
SHORT.maxstring = SHORT.maxother = 60


def show(value: Any) -> str:
    """The beginning of a value of any size."""
    text = SHORT.repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def show_keys(keys: Iterable[str]) -> str:
    return ", ".join(map(show, sorted(keys)[:5]))


def structure_integer(value: Any, _type: Any) -> int:
    # bool is an int in Python, but not in JSON
    if type(value) is not int or not -(2**31) <= value < 2**31:
        raise InvalidInputError(f"must be a 32-bit integer, not {show(value)}")
    return value


def structure_long(value: Any, _type: Any) -> Long:
    if not isinstance(value, str) or not DECIMAL.fullmatch(value) or not MIN <= int(value) <= MAX:
        raise InvalidInputError(f"must be a 64-bit integer as a decimal string, not {show(value)}")
    return Long(int(value))


def unstructure_long(value: int) -> str:
    # True is an int in Python, and would become a word.
    return str(int(value))


def structure_bytes(value: Any, _type: Any) -> bytes:
    if not isinstance(value, str) or not HEX.fullmatch(value):
        raise InvalidInputError(f"must be bytes as lowercase hex, not {show(value)}")
    return bytes.fromhex(value)


@cache
def members_of(enum: type[StrEnum]) -> Mapping[str, StrEnum]:
    return {member.value: member for member in enum}


def structure_name(value: Any, enum: type[StrEnum]) -> StrEnum:
    member = members_of(enum).get(value) if isinstance(value, str) else None
    if member is None:
        raise InvalidInputError(f"must be one of {', '.join(enum)}, not {show(value)}")
    return member


def is_tagged(cls: Any) -> bool:
    return attrs.has(cls) and isinstance(vars(cls).get("type"), str)


def is_union(cls: Any) -> bool:
    return get_origin(cls) in (Union, types.UnionType)


def is_tuple(cls: Any) -> bool:
    return get_origin(cls) is tuple


def structure_tagged_union(classes: tuple[Any, ...], converter: cattrs.Converter) -> Callable[[Any, Any], Any]:
    by_tag = {cls.type: cls for cls in classes}

    def structure(value: Any, _type: Any) -> Any:
        if not isinstance(value, Mapping):
            raise InvalidInputError(f"must be an object, not {show(value)}")
        tag = value.get("type")
        if not isinstance(tag, str) or tag not in by_tag:
            raise InvalidInputError(f"type must be one of {', '.join(sorted(by_tag))}, not {show(tag)}")
        return converter.structure(value, by_tag[tag])

    return structure


def maybe_numbers(converter: cattrs.Converter) -> Callable[[Any, Any], Any]:
    """A null field counts as missing; a list entry may be null."""

    def structure(value: Any, _type: Any) -> dict[str, int | None]:
        if not isinstance(value, Mapping):
            raise InvalidInputError(f"must be an object, not {show(value)}")
        numbers = converter.structure({name: one for name, one in value.items() if one is not None}, dict[str, int])
        return {name: numbers.get(name) for name in value}

    return structure


class Absent:
    """Marks a field that must be absent."""


ABSENT = Absent()


def make_converter(*, strict: bool = False, brief: bool = False, absent: bool = False) -> cattrs.Converter:
    """A converter; a strict one refuses unknown keys, a brief one omits fields with their default.

    With `absent`, missing fields that are compared become ABSENT.
    """
    converter = cattrs.Converter()

    def structure_factory(cls: Any) -> Callable[[Any, Any], Any]:
        inner = make_dict_structure_fn(cls, converter, _cattrs_forbid_extra_keys=strict)
        tagged = is_tagged(cls)

        def structure(value: Any, _type: Any) -> Any:
            if not isinstance(value, Mapping):
                raise InvalidInputError(f"must be an object, not {show(value)}")
            if not tagged:
                return inner(value, cls)
            if value.get("type") != cls.type:
                raise InvalidInputError(f"type must be {cls.type}, not {show(value.get('type'))}")
            return inner({k: v for k, v in value.items() if k != "type"}, cls)

        return structure

    def unstructure_factory(cls: Any) -> Callable[[Any], Any]:
        left_out = {f.name: override(omit_if_default=True) for f in attrs.fields(cls) if brief or f.default is None}
        inner = make_dict_unstructure_fn(cls, converter, **left_out)  # type: ignore[arg-type]
        missing = {f.name: ABSENT for f in attrs.fields(cls) if absent and f.default is None and f.eq}
        always = {"type": cls.type, **missing} if is_tagged(cls) else missing
        return (lambda value: {**always, **inner(value)}) if always else inner

    def union_factory(cls: Any) -> Callable[[Any, Any], Any]:
        members = tuple(member for member in get_args(cls) if member is not types.NoneType)
        if len(members) == 1:
            return lambda value, _type: converter.structure(value, members[0])
        return structure_tagged_union(members, converter)

    def tuple_factory(cls: Any) -> Callable[[Any, Any], Any]:
        element = get_args(cls)[0]
        inner = converter.get_structure_hook(element)

        def structure(value: Any, _type: Any) -> Any:
            if not isinstance(value, list):
                raise InvalidInputError(f"must be a list, not {show(value)}")
            found, problems = [], []
            for index, one in enumerate(value):
                try:
                    found.append(inner(one, element))
                except Exception as error:  # noqa: BLE001 - any error is reported with its place
                    note = IterableValidationNote(f"at index {index}", index, element)
                    error.__notes__ = [*getattr(error, "__notes__", ()), note]
                    problems.append(error)
                    if len(problems) == MOST_PROBLEMS:
                        break
            if problems:
                raise cattrs.IterableValidationError("a list", problems, cls)
            return tuple(found)

        return structure

    converter.register_structure_hook_factory(attrs.has, structure_factory)
    converter.register_unstructure_hook_factory(attrs.has, unstructure_factory)
    converter.register_structure_hook_factory(is_union, union_factory)
    converter.register_structure_hook_factory(is_tuple, tuple_factory)
    converter.register_structure_hook_func(lambda cls: cls == dict[str, int | None], maybe_numbers(converter))
    converter.register_structure_hook(int, structure_integer)
    converter.register_structure_hook(str, exactly(str, "a string"))
    converter.register_structure_hook(bool, exactly(bool, "true or false"))
    converter.register_structure_hook(bytes, structure_bytes)
    converter.register_unstructure_hook(bytes, bytes.hex)
    converter.register_structure_hook(StrEnum, structure_name)
    converter.register_unstructure_hook(StrEnum, lambda name: name.value)
    converter.register_structure_hook_func(lambda cls: cls is Long, structure_long)
    converter.register_unstructure_hook_func(lambda cls: cls is Long, unstructure_long)
    return converter


CONVERTERS = {strict: make_converter(strict=strict) for strict in (False, True)}
WRITERS = {False: CONVERTERS[False], True: make_converter(brief=True)}
COMPARED = make_converter(absent=True)


def decode(value: Any, cls: Any, place: str = "$", *, strict: bool = False) -> Any:
    try:
        return CONVERTERS[strict].structure(value, cls)
    except (cattrs.BaseValidationError, cattrs.ForbiddenExtraKeysError, ValueError, KeyError) as error:
        problems = cattrs.transform_error(error, path=place, format_exception=describe)
        raise DecodeError("; ".join(problem.replace(" @ ", " at ") for problem in problems[:MOST_PROBLEMS])) from None


def describe(error: BaseException, _type: Any) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        return f"unknown key {show_keys(error.extra_fields)}"
    return str(error)


def encode(value: Any, *, brief: bool = False) -> Any:
    return WRITERS[brief].unstructure(value)


@cache
def optional_fields(cls: Any) -> frozenset[tuple[type, str]]:
    """The fields with a default of a type and of its member types; they may be left out."""
    if not attrs.has(cls):
        return frozenset().union(*map(optional_fields, get_args(cls)))
    own = {(cls, field.name) for field in attrs.fields(cls) if field.default not in (attrs.NOTHING, None)}
    return frozenset(own).union(*map(optional_fields, types_of(cls).values()))


def is_brief(raw: Any, value: Any, cls: Any) -> bool:
    """Whether the JSON of a value leaves out a field with a default."""
    return bool(optional_fields(cls)) and lacks(raw, encode(value))


def lacks(raw: Any, full: Any) -> bool:
    if isinstance(full, dict):
        return any(key not in raw or lacks(raw[key], value) for key, value in full.items())
    return isinstance(full, list) and any(map(lacks, raw, full))


#: Cached, since the same few observations repeat. The result is shared: do not change it.
encode_observation = lru_cache(1 << 16)(encode)
#: The same with ABSENT for each missing field.
encode_compared = lru_cache(1 << 16)(COMPARED.unstructure)


@cache
def event_type(component: str) -> Any:
    return Union[COMPONENTS[component].events]  # noqa: UP007 - the members are known only at run time


@cache
def observation_type(component: str) -> Any:
    return Union[(*COMPONENTS[component].observations, Rejected)]


def many(element: Any) -> Any:
    return types.GenericAlias(tuple, (element, ...))


def decode_observation(value: Any, component: str) -> Any:
    """An engine's observations; a reason beside `rejected` is allowed and not compared."""
    return decode(value, observation_type(component))


def find_component(name: Any) -> AnyComponent:
    if not isinstance(name, str) or name not in COMPONENTS:
        raise DecodeError(f"unknown component {show(name)}; known are {', '.join(COMPONENTS)}")
    return COMPONENTS[name]


#: How many parts a config may have, such as channels, and how many subtasks, since all pairs of them meet: far more
#: than any case needs, and far less than memory holds.
MOST = {Counted.PARTS: 2**15, Counted.SUBTASKS: 2**10}


def check_parts(config: Any) -> None:
    """Raise DecodeError if a valid config from outside needs too much memory."""
    numbers = list(numbers_in(config))
    for counted, most in MOST.items():
        named = [(name, number) for name, what, number in numbers if what is counted]
        if sum(number for _name, number in named) > most:
            asked = ", ".join(f"{name} {number}" for name, number in named)
            raise DecodeError(f"config asks for more than {most:,} parts: {asked[:100]}")


def numbers_in(value: Any, name: str = "", counted: Counted | None = None) -> Iterator[tuple[str, Counted | None, int]]:
    """The numbers in a config, with their field names and what they count."""
    if type(value) is int:
        yield name, counted, value
    elif isinstance(value, tuple):
        for one in value:
            yield from numbers_in(one, name, counted)
    elif attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            what = counted_in(type(value)).get(field.name)
            yield from numbers_in(getattr(value, field.name), field.name, what)


CASE_KEYS = {"case", "component", "config", "events", "expect", "rules"}


def decode_case(value: Any, *, strict: bool = False) -> Case:
    if not isinstance(value, Mapping):
        raise DecodeError(f"a case must be an object, not {show(value)}")
    for key in ("case", "component", "config", "events"):
        if key not in value:
            raise DecodeError(f"{key} is missing")
    if strict and not value.keys() <= CASE_KEYS:
        raise DecodeError(f"unknown key {show_keys(value.keys() - CASE_KEYS)}")
    name = value["case"]
    if not isinstance(name, str):
        raise DecodeError(f"case must be a string, not {show(name)}")
    component = find_component(value["component"])
    config = decode(value["config"], component.config, "config", strict=strict)
    kind = many(event_type(component.name))
    events = decode(value["events"], kind, "events", strict=strict)
    expect = None
    if "expect" in value:
        expect = decode(value["expect"], many(many(observation_type(component.name))), "expect", strict=strict)
        if len(expect) != len(events):
            raise DecodeError(f"{len(events)} events but {len(expect)} steps in expect")
    rules = decode(value.get("rules", []), many(str), "rules", strict=strict)
    brief = is_brief(value["config"], config, component.config) or is_brief(value["events"], events, kind)
    return Case(name, component.name, config, events, expect, rules, brief=brief)


def encode_case(case: Case) -> dict[str, Any]:
    encoded = {
        "case": case.name,
        "component": case.component,
        "config": encode(case.config, brief=case.brief),
        "events": [encode(event, brief=case.brief) for event in case.events],
    }
    if case.expect is not None:
        encoded["expect"] = [[encode(seen) for seen in step] for step in case.expect]
    if case.rules:
        encoded["rules"] = list(case.rules)
    return encoded
