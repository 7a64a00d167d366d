"""Proxies let go of what they hold when a case is over, or the heap of a long run would fill."""

import gc
import types
import weakref

from tidegate.conformance.engines.flink.proxies import TrackedJPype


class Adapter:
    """Holds its proxy, which holds a method of it."""

    def __init__(self, jpype):
        self.by_name = jpype.JProxy("Listener", dict={"notify": self.notify, "ignore": plain})
        self.by_object = jpype.JProxy("Listener", inst=self)

    def notify(self):
        return "heard"


def plain():
    return None


def make_jpype():
    """What a proxy holds, Java holds: beyond the reach of Python's garbage collector."""
    java = []

    def make_proxy(_interface, dict=None, inst=None):  # noqa: A002
        java.append(dict if dict is not None else inst)
        return java[-1]

    return TrackedJPype(types.SimpleNamespace(JProxy=make_proxy, JClass="class")), java


def test_an_adapter_is_freed_although_java_holds_its_proxies():
    jpype, java = make_jpype()
    adapter = Adapter(jpype)
    assert java[0]["notify"]() == java[1].notify() == "heard"
    forgotten = weakref.ref(adapter)
    del adapter
    gc.collect()
    assert forgotten() is not None
    jpype.cut()
    gc.collect()
    assert forgotten() is None


def test_functions_that_hold_nothing_stay():
    jpype, java = make_jpype()
    Adapter(jpype)
    jpype.cut()
    assert java[0] == {"ignore": plain}


def test_all_else_is_that_of_jpype():
    jpype, _java = make_jpype()
    assert jpype.JClass == "class"
