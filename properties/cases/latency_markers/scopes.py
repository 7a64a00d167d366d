"""Scopes of latency markers."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope
from tidegate.reference.watermarks import latency_markers as markers


def make_scope(intervals: tuple[int, ...], until: int) -> Scope:
    def alphabet(_config: markers.Config, state: markers.State) -> tuple[markers.Event, ...]:
        steps = tuple(markers.Elapse(step) for step in (1, 3) if state.now + step <= until)
        return (markers.OpenSource(), markers.CloseSource(), *steps, markers.Elapse(markers.MOST + 1))

    jobs = (None, *intervals)
    return Scope(
        name=f"until-{until}",
        component="latency_markers",
        configs=tuple(markers.Config(cluster, job) for cluster in intervals for job in jobs),
        alphabet=alphabet,
        covers=f"intervals of 0 to {max(intervals)} ms for cluster and job, {until} ms",
    )


def small() -> Iterator[Scope]:
    yield make_scope((0, 1, 2), 4)


def thorough() -> Iterator[Scope]:
    yield make_scope((0, 2, 3), 9)
