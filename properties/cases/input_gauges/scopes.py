"""Scopes of the gauges of inputs."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.elements import Long
from tidegate.reference.watermarks import input_gauges as gauges
from tidegate.reference.watermarks.input_gauges import InputKind


def make_scope(inputs: tuple[InputKind, ...], extension: str | None, most: int) -> Scope:
    events: list[gauges.Event] = [gauges.ShowGauges()]
    for number in range(len(inputs) + 1):
        events += [gauges.WatermarkArrives(number, Long(timestamp)) for timestamp in (1, 2)]
        events += [gauges.AttributesArrive(number, backlog) for backlog in (True, False)]
        events += [gauges.RecordArrives(number)] if extension else []
    return Scope(
        name=f"{'-'.join(inputs)}{'-records' if extension else ''}",
        component="input_gauges",
        configs=(gauges.Config(inputs, extension),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(len(inputs), 'input')}, watermarks 1 and 2, backlogs"
            f"{', records' if extension else ''}; refused: an input that does not exist"
        ),
        expand=lambda state: sum(state.records) < most,
        cap=f"at most {most} records" if extension else "",
    )


def small() -> Iterator[Scope]:
    yield make_scope((InputKind.NETWORK, InputKind.NETWORK), None, 1)
    yield make_scope((InputKind.NETWORK,), gauges.RECORDS, 2)
    yield make_scope((InputKind.SOURCE,), gauges.RECORDS, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope((InputKind.NETWORK, InputKind.SOURCE), gauges.RECORDS, 2)
