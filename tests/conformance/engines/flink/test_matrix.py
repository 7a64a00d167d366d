"""Every version that the suite is tried with, on the components that it declares. Not a part of the usual run."""

import pytest

from tests.conformance.engines.flink.replaying import replay_generated
from tidegate.conformance.engines.flink.engine import FlinkEngine
from tidegate.conformance.engines.flink.fetch import TESTED

#: Some components, and the first release in which the classes behind them are all there.
SINCE = {
    "valve": (1, 12),
    "partitioner": (1, 12),
    "serializer": (1, 12),
    "multiplexer": (1, 12),
    "deserializer": (1, 12),
    "combiner": (1, 14),
    "credit_sender": (1, 14),
    "credit_receiver": (1, 14),
    "gate": (1, 14),
    "source_output": (1, 16),
    "wiring": (1, 17),
    "alignment_group": (1, 17, 2),
    "buffer_pools": (1, 17, 2),
    "channel_state": (1, 15),
    "chaining": (1, 20),
    "idleness": (1, 20),
    "generalized_watermarks": (2, 0),
    "source_alignment": (2, 3),
}


@pytest.mark.flink_matrix
@pytest.mark.parametrize("version", TESTED)
def test_what_a_version_declares_and_does(flink_version, version):
    release = tuple(map(int, version.split(".")))
    with FlinkEngine(flink_version(version)) as engine:
        declared = engine.start().components
        assert {name for name in SINCE if name in declared} == {
            name for name, first in SINCE.items() if release >= first
        }
        for component in SINCE.keys() & declared.keys():
            if (version, component) != ("1.17.0", "valve"):  # FLINK-31628
                assert replay_generated(engine, component, 25) > 0
