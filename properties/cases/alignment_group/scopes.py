"""Scopes of groups of sources."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.elements import MAX, MIN, Long
from tidegate.reference.watermarks import alignment_group as group


def make_scope(name: str, groups: tuple[int, ...], subtasks: int, values: tuple[int, ...], *, failing: bool) -> Scope:
    sources = range(len(groups))
    places = tuple(product(sources, range(subtasks)))
    failures = places if failing else ()
    events: tuple[group.Event, ...] = (
        *(group.AnnounceLimits(source) for source in (*sources, len(groups))),
        *(group.ReportWatermark(source, subtask, Long(value)) for (source, subtask), value in product(places, values)),
        *(group.TaskFailed(source, subtask) for source, subtask in failures),
        *(group.TaskReady(source, subtask) for source, subtask in failures),
        group.ReportWatermark(0, subtasks, Long(1)),
        group.ReportWatermark(0, 0, MIN),
    )
    drifts = (Long(5), Long(0), Long(MAX - 1))
    return Scope(
        name=name,
        component="alignment_group",
        configs=(group.Config(tuple(map(group.Source, groups, drifts)), subtasks),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(len(groups), 'source')} in {counted(len(set(groups)), 'group')}, "
            f"{counted(subtasks, 'subtask')} each, reports of {', '.join(map(str, values))}"
            f"{'; subtasks that fail and come back' if failing else ''}; "
            "refused: sources and subtasks that do not exist, the lowest timestamp"
        ),
    )


def small() -> Iterator[Scope]:
    yield make_scope("one-source", (0,), 2, (1, MAX), failing=True)
    yield make_scope("two-sources", (0, 0), 1, (1, 9), failing=False)
    yield make_scope("two-groups", (0, 1), 1, (1, 9), failing=False)


def thorough() -> Iterator[Scope]:
    yield make_scope("three-sources", (0, 1, 0), 1, (1, 9, MAX), failing=True)
