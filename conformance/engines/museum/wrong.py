"""How a wrong engine is written: a small class that changes one thing of the right machine.

    @wrong("VALVE-4", "VALVE-5", "VALVE-6")
    class ValveCatchUpStrict(Valve):
        '''A channel that lags behind is aligned again only by a watermark above the last output.'''

        on_watermark = changed(Valve.on_watermark, "timestamp >= self.last", "timestamp > self.last")

The decorator names the rule that it breaks, then other rules that may equally be named when it is caught. The class
gives the name (`valve-catch-up-strict`), its docstring the story. What a method does differently in one place is
`changed`; what it does besides is a method of its own that calls `super()`.
"""

import inspect
import linecache
import re
import textwrap
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

import attrs

from tidegate.conformance.engines.wire import Host, Json, Machine

#: Where most wrong engines come from; the others say where the bug was seen.
ONE_RULE = "one-rule change"
#: In the name of a class a new word begins here.
WORD = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z0-9])")

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=Callable[[Json, Host], Machine])


@attrs.frozen(kw_only=True)
class Mutant:
    """One wrong engine of the museum."""

    name: str
    component: str
    #: The rule that it breaks.
    rule: str
    #: Other rules that may equally be named when it is caught.
    also: tuple[str, ...]
    #: Where the bug was seen, or `one-rule change`.
    origin: str
    story: str
    #: The only semantics, or partitioner kinds, under which it shows; none given: under all.
    semantics: str | None
    kinds: tuple[str, ...]
    #: Makes it for one case.
    make: Callable[[Json, Host], Machine] = attrs.field(eq=False, repr=False)

    @property
    def rules(self) -> tuple[str, ...]:
        return (self.rule, *self.also)


#: By component, in the order in which they are written.
MUTANTS: dict[str, list[Mutant]] = defaultdict(list)


def wrong(
    rule: str,
    *also: str,
    name: str | None = None,
    origin: str = ONE_RULE,
    semantics: str | None = None,
    kinds: tuple[str, ...] = (),
) -> Callable[[Class], Class]:
    """Puts a class into the museum. `name` is for a name that the class cannot give."""

    def enter(machine: Class) -> Class:
        component = machine.__module__.removeprefix(f"{__package__}.").partition(".")[0]
        mutant = Mutant(
            name=name or WORD.sub("-", machine.__name__).lower(),
            component=component,
            rule=rule,
            also=also,
            origin=origin,
            story=" ".join((machine.__doc__ or "").split()),
            semantics=semantics,
            kinds=kinds,
            make=machine,
        )
        MUTANTS[component].append(mutant)
        return machine

    return enter


# --- a function that does one thing differently ---------------------------------------------------------------


def changed(function: Function, *texts: str) -> Function:
    """The function with a text of its source replaced by another; each further pair of texts is replaced as well."""
    return cast("Function", Changed(function, texts))


class Changed:
    """Is compiled when it is first asked for: most runs meet none of the wrong engines."""

    def __init__(self, function: Callable[..., Any], texts: tuple[str, ...]) -> None:
        self.function, self.texts = function, texts
        self.name = function.__name__
        self.compiled: Callable[..., Any] | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"{owner.__name__}.{name}"

    def __get__(self, machine: object, owner: type | None = None) -> Any:
        return self if machine is None else partial(self, machine)

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self.compiled is None:
            self.compiled = self.compile()
        return self.compiled(*args, **named)

    def compile(self) -> Callable[..., Any]:
        source, file = self.source(), f"<{self.name}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        made: dict[str, Any] = {}
        exec(compile(source, file, "exec"), self.function.__globals__, made)  # noqa: S102  a text of ours
        return cast("Callable[..., Any]", made[self.function.__name__])

    def source(self) -> str:
        """As it is written, each text replaced. Further lines stand where the line of the text stands."""
        source = textwrap.dedent(inspect.getsource(self.function))
        for old, new in zip(self.texts[::2], self.texts[1::2], strict=True):
            pieces = source.split(old)
            if len(pieces) != 2:
                raise LookupError(f"{self.name} changes {old!r}, which stands {len(pieces) - 1} times in its source")
            line = pieces[0].rpartition("\n")[2]
            indent = line[: len(line) - len(line.lstrip())]
            source = new.replace("\n", f"\n{indent}").join(pieces)
        return source
