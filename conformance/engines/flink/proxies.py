"""JPype, with proxies that can be cut off from what they call.

A proxy is a Java object that holds Python functions. These mostly belong to an object that holds
Java objects, among them the proxy. Neither garbage collector sees the whole cycle, so it would never be freed, and
a long run would fill the heap. At the end of a case, its cycles are cut.
"""

from types import FunctionType
from typing import Any


class Holder:
    """Stands between a proxy and the object whose methods it calls."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def drop(self) -> None:
        self._target = None


class TrackedJPype:
    """The module, except that `JProxy` remembers what it made."""

    def __init__(self, jpype: Any) -> None:
        self._jpype = jpype
        self._handlers: list[dict[str, Any]] = []
        self._holders: list[Holder] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._jpype, name)
        setattr(self, name, found)  # the next access finds it directly
        return found

    def JProxy(  # noqa: N802 - its name in JPype
        self,
        interface: Any,
        dict: "dict[str, Any] | None" = None,  # noqa: A002 - its name in JPype
        inst: Any = None,
    ) -> Any:
        if dict is not None:
            handlers = {**dict}
            self._handlers.append(handlers)
            return self._jpype.JProxy(interface, dict=handlers)
        holder = Holder(inst)
        self._holders.append(holder)
        return self._jpype.JProxy(interface, inst=holder)

    def cut(self) -> None:
        """Drop every function that holds something, and every object. Plain functions stay: others may share them."""
        for handlers in self._handlers:
            for name in [name for name, handler in handlers.items() if holds_something(handler)]:
                del handlers[name]
        for holder in self._holders:
            holder.drop()
        self._handlers, self._holders = [], []


def holds_something(handler: Any) -> bool:
    return not isinstance(handler, FunctionType) or handler.__closure__ is not None
