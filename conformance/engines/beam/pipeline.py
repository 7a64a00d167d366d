"""The pipeline of a program: a tagged TestStream, a ParDo for each operator, and Beam's own windows.

Beam takes annotations of `process` as type hints for collections, so there are none.
"""

from collections.abc import Iterator
from importlib import import_module
from itertools import zip_longest
from typing import Any

from tidegate.conformance.engines.flows import Element, Program, Steps

beam: Any = import_module("apache_beam")
options: Any = import_module("apache_beam.options.pipeline_options")
streams: Any = import_module("apache_beam.testing.test_stream")
windows: Any = import_module("apache_beam.transforms.window")
states: Any = import_module("apache_beam.transforms.userstate")
coders: Any = import_module("apache_beam.coders")

#: Pickling separates the running code from the description: it finds the one object that it needs by this name.
HERE: dict[str, Steps] = {}
STEPS = "steps"
#: The name of the only subtask.
WHO = 0
#: Beam has no earlier time that a script could need.
FIRST = -1000
#: The output of a step, by key: a target, and the element for it.
Sent = tuple[str, tuple[int, Element]]


def by_key(sent: list[tuple[int, Element]]) -> Iterator[Sent]:
    for target, element in sent:
        yield element[1], (target, element)


class Source(beam.DoFn):  # type: ignore[misc]  # Beam has no types here
    def __init__(self, number: int) -> None:
        self.number = number

    def process(self, item: Any) -> Any:
        script, place, record = item
        yield from by_key(HERE[STEPS].send_item(self.number, script, place, record))


class Step(beam.DoFn):  # type: ignore[misc]  # Beam has no types here
    """An operator without state."""

    def __init__(self, number: int) -> None:
        self.number = number

    def process(self, sent: Any) -> Any:
        yield from by_key(HERE[STEPS].receive(self.number, WHO, sent[1][1])[1])


class Sum(Step):
    TOTAL = states.ReadModifyWriteStateSpec("total", coders.VarIntCoder())

    def process(self, sent: Any, total: Any = beam.DoFn.StateParam(TOTAL)) -> Any:  # noqa: B008 - Beam's way
        now, made = HERE[STEPS].receive(self.number, WHO, sent[1][1], total.read() or 0)
        total.write(now)
        yield from by_key(made)


class Arrive(Step):
    """Before a window: what it receives."""

    def process(self, sent: Any) -> Any:
        HERE[STEPS].arrive(self.number, WHO, sent[1][1])
        yield sent[0], sent[1][1]


class Close(Step):
    """After a window: its sum."""

    def process(self, pane: Any, window: Any = beam.DoFn.WindowParam) -> Any:
        key, elements = pane
        last = int(float(window.end)) - 1
        value, cause = sum(element[2] for element in elements), f"{key}/{last}"
        made = HERE[STEPS].send(self.number, WHO, cause, key, value, last)
        yield from by_key(made)


def run(program: Program) -> None:
    settings = options.PipelineOptions([])
    settings.view_as(options.StandardOptions).streaming = True
    with beam.Pipeline(runner="BundleBasedDirectRunner", options=settings) as pipeline:
        tagged = pipeline | script_stream(program)
        made: dict[int, Any] = {}
        for number, operator in program.operators.items():
            made[number] = build(
                number, operator, tagged, [made[source] for _edge, source in program.inputs_of(number)]
            )


def build(number: int, operator: dict[str, Any], tagged: Any, inputs: list[Any]) -> Any:
    name = f"o{number}"
    if operator["scripts"]:
        parts = [tagged[f"{number}.{script}"] for script in range(len(operator["scripts"]))]
        return tuple(parts) | f"{name} all" >> beam.Flatten() | name >> beam.ParDo(Source(number))
    read = tuple(inputs) | f"{name} all" >> beam.Flatten()
    read = read | f"{name} mine" >> beam.Filter(lambda sent, number=number: sent[1][0] == number)
    if operator["function"] == "window":
        return (
            read
            | f"{name} arrive" >> beam.ParDo(Arrive(number))
            | f"{name} windows" >> beam.WindowInto(windows.FixedWindows(operator["size"]))
            | f"{name} group" >> beam.GroupByKey()
            | name >> beam.ParDo(Close(number))
            | f"{name} global" >> beam.WindowInto(windows.GlobalWindows())
        )
    read = read | f"{name} typed" >> beam.Map(lambda sent: sent).with_output_types(tuple[str, Any])
    return read | name >> beam.ParDo(Sum(number) if operator["function"] == "sum" else Step(number))


def script_stream(program: Program) -> Any:
    """All scripts as one stream with a tag for each, alternating or one after the other."""
    stream = streams.TestStream()
    tags = {
        f"{source}.{script}": list(read_script(program, source, script))
        for source in program.sources
        for script in range(len(program.operators[source]["scripts"]))
    }
    for tag in tags:
        stream.advance_watermark_to(FIRST, tag=tag)
    if program.settings["interleave"] == "turns":
        turns = zip_longest(*([(tag, item) for item in items] for tag, items in tags.items()))
        order = [one for turn in turns for one in turn if one is not None]
    else:
        order = [(tag, item) for tag, items in tags.items() for item in items]
    for tag, item in order:
        if isinstance(item, int):
            stream.advance_watermark_to(item, tag=tag)
        else:
            stream.add_elements([windows.TimestampedValue(item, int(item[2]["timestamp"]))], tag=tag)
    for tag in tags:
        stream.advance_watermark_to_infinity(tag=tag)
    return stream


def read_script(program: Program, source: int, script: int) -> Iterator[int | tuple[int, int, dict[str, Any]]]:
    """Watermarks, and records with their indices among the records."""
    place = 0
    for item in program.operators[source]["scripts"][script]:
        if item["type"] == "watermark":
            # Beam's watermark says that nothing earlier will come, ours that nothing up to and including it will.
            yield int(item["timestamp"]) + 1
        elif item["type"] == "record":
            yield script, place, item
            place += 1
