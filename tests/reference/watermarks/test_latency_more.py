"""When a source makes latency markers: the defaults, and the law, told of what is wrong."""

import pytest

from tidegate.reference.claims import claims_in
from tidegate.reference.watermarks import latency

LAWS = {law.name: law for law in claims_in(latency)}


@pytest.mark.rule("LAT-1")
def test_lat_1_markers_came_every_two_seconds_until_1_6_and_are_off_since():
    assert latency.compute_default_interval((1, 6)) == 2000
    assert latency.compute_default_interval((1, 7)) == 0


@pytest.mark.parametrize("times", [(0,), (0, 1, 7), (0, 7), (1, 7, 14), (0, 7, 15)])
def test_markers_that_are_not_regular_are_refused(monkeypatch, times):
    holds = LAWS["markers-are-regular"].holds
    assert holds(7, 14)
    monkeypatch.setattr(latency, "compute_marker_times", lambda _interval, _until: times)
    assert not holds(7, 14)
