"""The list of adapters is honest: one module for each name, and a name for each module that drives a component."""

from pathlib import Path

from conformance.flink import adapters


def test_every_adapter_has_a_module_and_every_module_a_name():
    folder = Path(adapters.__file__).parent
    written = {path.stem for path in folder.glob("*.py") if "\ndef declare(" in path.read_text(encoding="utf-8")}
    assert len(set(adapters.NAMES)) == len(adapters.NAMES)
    assert set(adapters.NAMES) == written
    assert all(callable(adapters.load(name).make) for name in adapters.NAMES)
