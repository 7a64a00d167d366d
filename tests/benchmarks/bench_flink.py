"""The adapters of Flink against a bare loop of JPype over the same classes and the same events, in one JVM.

Only the components whose steps are a call or two: there the adapter could cost more than what it adapts.
"""

import time

from tidegate.conformance.engines.flink.cache import DEFAULT_VERSION, is_fetched
from tidegate.conformance.engines.flink.engine import Flink
from tidegate.properties.drawing.cases import draw_case
from tidegate.traces.codec import encode

CASES = 1500
ROUNDS = 7
OUTPUT = "org.apache.flink.streaming.runtime.io.PushingAsyncDataInput$DataOutput"


def draw(component, semantics):
    drawn = (draw_case(component, "bench", index) for index in range(20 * CASES))
    wanted = (case for case in drawn if case.config.semantics == semantics and getattr(case.config, "inputs", 1) <= 2)
    return [
        {
            "case": case.name,
            "component": component,
            "config": encode(case.config),
            "events": list(map(encode, case.events)),
        }
        for case, _ in zip(wanted, range(CASES), strict=False)
    ]


def bare_valve(jvm, cases):
    """What one would write for the valve alone: no checks, no JSON."""
    statuses = jvm.cls("org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus")
    valve = jvm.cls("org.apache.flink.streaming.runtime.watermarkstatus.StatusWatermarkValve")
    watermark = jvm.cls("org.apache.flink.streaming.api.watermark.Watermark")
    by_name = {"idle": statuses.IDLE, "active": statuses.ACTIVE}
    log = []

    def nothing(*_arguments):
        return None

    handlers = {
        "emitWatermark": lambda mark: log.append(mark.getTimestamp()),
        "emitWatermarkStatus": lambda status: log.append(status.isIdle()),
        **dict.fromkeys(("emitRecord", "emitLatencyMarker", "emitRecordAttributes"), nothing),
    }
    for case in cases:
        channels = case["config"]["channels"]
        one, output = valve(channels), jvm.jpype.JProxy(OUTPUT, dict=handlers)
        for event in case["events"]:
            channel = event["channel"]
            if not 0 <= channel < channels:
                continue
            if event["type"] == "watermark":
                one.inputWatermark(watermark(int(event["timestamp"])), channel, output)
            else:
                one.inputWatermarkStatus(by_name[event["status"]], channel, output)


def bare_combiner(jvm, cases):
    """An operator of one or two inputs, which is as many as have public methods."""
    combined = jvm.cls("org.apache.flink.api.common.eventtime.IndexedCombinedWatermarkStatus")
    statuses = jvm.cls("org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus")
    by_name = {"idle": statuses.IDLE, "active": statuses.ACTIVE}
    watermark = jvm.cls("org.apache.flink.streaming.api.watermark.Watermark")
    operators = jvm.cls("org.apache.flink.streaming.api.operators.StreamMap")
    function = jvm.jpype.JProxy("org.apache.flink.api.common.functions.MapFunction", dict={})
    fields = [jvm._find_field(operators, name) for name in ("combinedWatermark", "output")]
    log = []
    handlers = {
        "emitWatermark": lambda mark: log.append(mark.getTimestamp()),
        "emitWatermarkStatus": lambda status: log.append(status.isIdle()),
    }
    for case in cases:
        inputs = case["config"]["inputs"]
        one = operators(function)
        fields[0].set(one, combined.forInputsCount(inputs))
        fields[1].set(one, jvm.jpype.JProxy("org.apache.flink.streaming.api.operators.Output", dict=handlers))
        for event in case["events"]:
            index = event["input"]
            if not 0 <= index < inputs:
                continue
            if event["type"] == "watermark":
                (one.processWatermark2 if index else one.processWatermark1)(watermark(int(event["timestamp"])))
            else:
                (one.processWatermarkStatus2 if index else one.processWatermarkStatus1)(by_name[event["status"]])


def seconds(function, *arguments):
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began


def compare(flink, name, semantics, bare):
    cases = draw(name, semantics)
    steps = sum(len(case["events"]) for case in cases)
    pairs = [(seconds(bare, flink.jvm, cases), seconds(flink.replay, cases)) for _ in range(ROUNDS + 1)][1:]
    # The best of several: whatever else the machine does can only make a round slower.
    alone, adapted = (min(times) for times in zip(*pairs, strict=True))
    rates = f"{steps / alone:,.0f} and {steps / adapted:,.0f} steps/s"
    yield f"Flink {name}: bare JPype loop and adapter", rates, ""
    yield f"Flink {name}: adapter over bare loop", f"{adapted / alone:.2f} (best of {ROUNDS} rounds each)", "≤ 2"


def measure():
    if not is_fetched(DEFAULT_VERSION):
        yield "Flink", f"not measured: `tidegate flink fetch {DEFAULT_VERSION}` first", ""
        return
    flink = Flink(components=("valve", "combiner"))
    yield from compare(flink, "valve", "flink-7728", bare_valve)
    yield from compare(flink, "combiner", "flink-38454", bare_combiner)
