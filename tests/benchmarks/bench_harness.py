"""The harness, judging included, against a bare loop that speaks the same protocol to the same engine."""

import json
import statistics
import subprocess
import sys
import time

from tests.paths import ROOT
from tidegate.conformance.engines.processes.process import ProcessEngine
from tidegate.conformance.judging.suite import Planned
from tidegate.conformance.judging.trial import Encoder, Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.drawing.cases import draw_case

ENGINE = [sys.executable, str(ROOT / "examples" / "python" / "engine.py")]
CASES = 1500
EVENTS = 50


def make_cases():
    """Valve traces of 50 events: drawn ones, put together and cut."""
    cases, index = [], 0
    while len(cases) < CASES:
        case = draw_case("valve", "bench", index)
        index += 1
        if len(case.events) >= 10:
            events = (case.events * (EVENTS // len(case.events) + 1))[:EVENTS]
            cases.append(type(case)(f"bench-{index}", "valve", case.config, events))
    return cases


def bare(cases):
    """The simplest thing that works: write a line, read a line."""
    requests = [Encoder().request(case) for case in cases]
    with subprocess.Popen(ENGINE, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        exchange(process, {"id": 0, "op": "hello", "protocol": [1], "suite": "0.1.0"})
        started = time.perf_counter()
        for number, request in enumerate(requests, start=1):
            reply = exchange(process, {"id": number, "op": "replay", **request.as_case()})
            assert len(reply["ok"]["steps"]) == EVENTS
        seconds = time.perf_counter() - started
        process.stdin.close()
    return seconds


def exchange(process, message):
    process.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def harness(cases):
    with ProcessEngine(ENGINE) as engine:
        started = time.perf_counter()
        verdicts = list(Runner(engine).run(Planned("bench", case) for case in cases))
        seconds = time.perf_counter() - started
    assert all(verdict.status is Status.PASS for verdict in verdicts)
    return seconds


def measure():
    cases = make_cases()
    pairs = [(bare(cases), harness(cases)) for _ in range(5)]
    ratios = [alone / judged for alone, judged in pairs]
    alone, judged = pairs[ratios.index(statistics.median(ratios))]
    rates = f"{CASES * EVENTS / alone:,.0f} and {CASES * EVENTS / judged:,.0f} events/s"
    yield "bare loop and harness with judge", rates, ""
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    yield "harness over bare loop", f"{statistics.median(ratios):.2f} (5 pairs, {spread})", "≥ 0.9"
