"""When a source makes latency markers, rule by rule."""

import pytest

from tests.reference.walking import seen


def run(trace, **config):
    return seen("latency_markers", config, trace)


@pytest.mark.rule("LAT-3")
@pytest.mark.parametrize(
    ("config", "count"),
    [({"cluster": 10}, 11), ({"cluster": 0, "job": 10}, 11), ({"cluster": 10, "job": 0}, 0), ({"cluster": 0}, 0)],
)
def test_lat_3_the_word_of_the_job_counts(config, count):
    assert "".join(run("open elapse100", **config)).count("marker") == count


@pytest.mark.rule("LAT-4")
def test_lat_4_regular_from_the_start_to_the_end():
    assert run("elapse7 open elapse3 elapse8 open close elapse9 elapse1000", cluster=5) == [
        "nothing",
        "marker(timestamp 7)",
        "nothing",
        "marker(timestamp 12), marker(timestamp 17)",
        "rejected",
        "nothing",
        "nothing",
        "rejected",
    ]
