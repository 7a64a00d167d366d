"""A JVM with the jars of one Flink version, in this process, driven through JPype.

A process has only one JVM, so `start` returns the same `Jvm` for the same folder and refuses another.
JPype is imported when the JVM starts: everything else of Tidegate works without it.

Choices
-------
The heap is small, and running out of it ends the process: a Flink with a full heap gives no useful answer, and the
harness can restart a process. A native crash writes no file into the current folder.
The compiler is the fast one: cases are short, and the JVM is started often.
"""

from pathlib import Path
from typing import Any

from tidegate.conformance.engines.flink.cache import version_key
from tidegate.conformance.engines.flink.proxies import TrackedJPype
from tidegate.conformance.engines.java import ONE_COMPILER

#: What Flink's own start script opens, as far as our classes need it.
_OPENED = (
    "java.lang",
    "java.lang.reflect",
    "java.net",
    "java.nio",
    "java.time",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.concurrent.locks",
)
_ABSTRACT = 0x0400
_LOGGING = Path(__file__).with_name("log4j2-quiet.properties")


class Jvm:
    """Access to classes, and to their private members. Made by `start`."""

    def __init__(self, folder: Path, version: str) -> None:
        import jpype  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra

        self.jpype: Any = TrackedJPype(jpype)
        self.folder = folder
        self.version = version
        self.release = version_key(version)
        self._classes: dict[str, Any] = {}
        self._fields: dict[tuple[Any, str], Any] = {}
        self._methods: dict[tuple[Any, str, int], Any] = {}
        self._abstract: dict[str, dict[str, Any]] = {}
        self._invocation_error = jpype.JClass("java.lang.reflect.InvocationTargetException")
        self._object_array = jpype.JArray(jpype.JObject)
        #: every exception from Java
        self.JavaError: type[Exception] = jpype.JException

    def cls(self, name: str) -> Any:
        """The class of that full name (`$` before a nested one)."""
        found = self._classes.get(name)
        if found is None:
            found = self._classes[name] = self.jpype.JClass(name)
        return found

    def has(self, class_name: str, method: str | None = None) -> bool:
        """Does this version have the class, and in it (or above it) a method of that name, public or not?"""
        try:
            found = self.cls(class_name)
        except TypeError:
            return False
        if method is None:
            return True
        return any(str(one.getName()) == method for one in self._declared(found.class_, "getDeclaredMethods"))

    def implement(self, interface: str, handlers: dict[str, Any]) -> Any:
        """An object of the interface: `handlers` by name of method, called with the arguments of Java.

        A method without a handler uses the default of the interface, or does nothing and returns null. So one set of
        handlers works for versions with more or fewer methods.
        """
        abstract = self._abstract.get(interface)
        if abstract is None:
            methods = [one for one in self.cls(interface).class_.getMethods() if one.getModifiers() & _ABSTRACT]
            abstract = self._abstract[interface] = {str(one.getName()): _nothing for one in methods}
        return self.jpype.JProxy(interface, dict={**abstract, **handlers})

    def end_case(self) -> None:
        """Release what the proxies of a case hold, so that both garbage collectors can work."""
        self.jpype.cut()

    def new(self, class_name: str, *arguments: Any) -> Any:
        """An instance by a constructor of any visibility with this number of arguments."""
        for constructor in self.cls(class_name).class_.getDeclaredConstructors():
            if constructor.getParameterCount() == len(arguments):
                constructor.setAccessible(True)
                return self._unwrapped(constructor.newInstance, self._object_array(list(arguments)))
        raise AttributeError(f"{class_name} has no constructor of {len(arguments)} arguments")

    def assemble(self, class_name: str, supplies: dict[str, list[Any]]) -> Any:
        """An instance by the longest constructor, its arguments taken in turn from `supplies` by their simple type.

        Arguments without a supply are null: versions differ in number and order of parameters more than in their types.
        """
        constructors = list(self.cls(class_name).class_.getDeclaredConstructors())
        constructor = max(constructors, key=lambda one: int(one.getParameterCount()))
        constructor.setAccessible(True)
        left = {name: list(values) for name, values in supplies.items()}
        types = [str(one.getSimpleName()) for one in constructor.getParameterTypes()]
        arguments = [left[name].pop(0) if left.get(name) else None for name in types]
        return self._unwrapped(constructor.newInstance, self._object_array(arguments))

    def bare(self, class_name: str) -> Any:
        """An instance without a constructor call."""
        unsafe = self.field(self.cls("sun.misc.Unsafe"), "theUnsafe")
        return unsafe.allocateInstance(self.cls(class_name).class_)

    def integer(self, value: int) -> Any:
        """A boxed int, as reflection needs it."""
        return self.cls("java.lang.Integer").valueOf(self.jpype.JInt(value))

    def boolean(self, value: object) -> Any:
        return self.cls("java.lang.Boolean").valueOf(self.jpype.JBoolean(bool(value)))

    def parameters(self, class_name: str) -> list[list[str]]:
        """The types of the parameters of each constructor, to distinguish versions."""
        constructors = self.cls(class_name).class_.getDeclaredConstructors()
        return [[str(one.getName()) for one in constructor.getParameterTypes()] for constructor in constructors]

    def field(self, target: Any, name: str) -> Any:
        """The value of a field of any visibility. `target` is an object, or a class for a static field."""
        return self._find_field(target, name).get(None if self._is_class(target) else target)

    def set_field(self, target: Any, name: str, value: Any) -> None:
        self._find_field(target, name).set(None if self._is_class(target) else target, value)

    def call(self, target: Any, name: str, *arguments: Any) -> Any:
        """Call a method of any visibility, found by its name and number of arguments; its exceptions pass through."""
        method = self._find_method(target, name, len(arguments))
        instance = None if self._is_class(target) else target
        return self._unwrapped(method.invoke, instance, self._object_array(arguments))

    def _is_class(self, target: Any) -> bool:
        return isinstance(target, self.jpype.JClass)

    def _declared(self, owner: Any, what: str) -> Any:
        seen = [owner]
        while owner is not None:
            yield from getattr(owner, what)()
            owner = owner.getSuperclass()
        for interface in seen[0].getInterfaces():
            yield from getattr(interface, what)()

    # Results are cached by the Python class that JPype makes for each Java class: asking Java would take longer.

    def _find_field(self, target: Any, name: str) -> Any:
        owner = target if self._is_class(target) else type(target)
        found = self._fields.get((owner, name))
        if found is None:
            fields = self._declared(owner.class_, "getDeclaredFields")
            found = next((one for one in fields if str(one.getName()) == name), None)
            if found is None:
                raise AttributeError(f"{owner.class_.getName()} has no field {name}")
            found.setAccessible(True)
            self._fields[owner, name] = found
        return found

    def _find_method(self, target: Any, name: str, count: int) -> Any:
        owner = target if self._is_class(target) else type(target)
        found = self._methods.get((owner, name, count))
        if found is None:
            candidates = (one for one in self._declared(owner.class_, "getDeclaredMethods") if not one.isBridge())
            found = next((m for m in candidates if str(m.getName()) == name and m.getParameterCount() == count), None)
            if found is None:
                raise AttributeError(f"{owner.class_.getName()} has no method {name} of {count} arguments")
            found.setAccessible(True)
            self._methods[owner, name, count] = found
        return found

    def _unwrapped(self, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except self._invocation_error as error:
            raise error.getCause() from None


_started: Jvm | None = None


def start(folder: Path, version: str, *, heap: str = "512m") -> Jvm:
    """Start the JVM of this process on the jars of a folder, once."""
    global _started  # noqa: PLW0603 - a process has one JVM
    if _started is not None:
        if _started.folder != folder:
            raise RuntimeError(f"this process already runs Flink {_started.version}, and cannot run {version} as well")
        return _started
    import jpype  # noqa: PLC0415
    import jpype.config  # type: ignore[import-untyped]  # noqa: PLC0415

    jars = sorted(str(jar) for jar in folder.glob("*.jar"))
    if not jars:
        raise FileNotFoundError(f"no jars in {folder}")
    jpype.config.destroy_jvm = False  # the process ends without waiting for Java's threads
    jpype.startJVM(*_options(heap), classpath=jars, convertStrings=False)
    _started = Jvm(folder, version)
    return _started


def _options(heap: str) -> list[str]:
    return [
        f"-Xmx{heap}",
        "-Xss2m",
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UseSerialGC",
        *ONE_COMPILER,
        "-XX:MaxDirectMemorySize=512m",
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-CreateCoredumpOnCrash",
        "-XX:+ErrorFileToStderr",
        "-XX:-UsePerfData",
        "-Xshare:auto",
        "-Djava.awt.headless=true",
        f"-Dlog4j2.configurationFile={_LOGGING}",
        f"-Dlog4j.configurationFile={_LOGGING}",
        "-Dlog4j2.disable.jmx=true",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
    ]


def _nothing(*_arguments: Any) -> None:
    return None
