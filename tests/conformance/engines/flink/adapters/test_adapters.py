"""Adapters are found by their modules."""

from tidegate.conformance.engines.flink import adapters
from tidegate.reference.components import COMPONENTS


def test_each_adapter_is_about_a_component():
    found = adapters.load_all()
    assert len(found) > 20
    assert set(found) <= set(COMPONENTS)
    assert all(callable(module.make) for module in found.values())
