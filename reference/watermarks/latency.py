"""When a source makes latency markers.

Choices. LatencyMarkerEmitter: the first at once, then with a fixed delay. Markers are an option since 1.7.
"""

from collections.abc import Iterator
from itertools import product

from tidegate.reference.claims import law


def compute_default_interval(release: tuple[int, int]) -> int:
    """LAT-1: in ms."""
    return 2000 if release <= (1, 6) else 0


def compute_marker_times(interval: int, until: int) -> tuple[int, ...]:
    """LAT-1: when a source makes a marker, from its start on; never, if the interval is not positive."""
    return tuple(range(0, until + 1, interval)) if interval > 0 else ()


def intervals_and_ends() -> Iterator[tuple[int, int]]:
    yield from product((-1, 0, 1, 7, 2000), (0, 1, 6, 7, 1999, 2000, 4001))


@law("LAT-1", samples=intervals_and_ends)
def markers_are_regular(interval: int, until: int) -> bool:
    """A source makes a marker at its start and every interval from then on; none if the interval is not positive."""
    times = compute_marker_times(interval, until)
    if interval <= 0:
        return not times
    return times[0] == 0 and until - interval < times[-1] <= until and len(times) == until // interval + 1


def releases_and_markers() -> Iterator[tuple[tuple[int, int], int]]:
    yield from (((1, 5), 3), ((1, 6), 3), ((1, 7), 0), ((1, 20), 0), ((2, 3), 0))


@law("LAT-1", samples=releases_and_markers)
def markers_off_by_default(release: tuple[int, int], markers: int) -> bool:
    """Up to 1.6 a marker was made every two seconds, since 1.7 none is unless asked for."""
    return len(compute_marker_times(compute_default_interval(release), 4000)) == markers
