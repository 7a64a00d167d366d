"""The explorer: the whole closure of a valve, and the counterexample of FLINK-40475."""

import json
import subprocess
import sys
import time

PROGRAM = """
import json, resource, sys, time
from properties.explorer import explore
from reference import valve
from reference.elements import Status
channels, timestamps = int(sys.argv[1]), int(sys.argv[2])
alphabet = [valve.ChannelWatermark(c, t) for c in range(channels) for t in range(1, timestamps + 1)]
alphabet += [valve.ChannelStatus(c, status) for c in range(channels) for status in Status]
started = time.perf_counter()
found = explore(valve.COMPONENT, valve.Config(channels), lambda _state: alphabet)
seconds = time.perf_counter() - started
print(json.dumps({"seconds": seconds, "states": found.states, "transitions": found.transitions,
    "broken": [len(one.trace) for one in found.broken],
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def explore_valve(channels, timestamps):
    """In a process of its own, so that its memory is its own."""
    command = [sys.executable, "-c", PROGRAM, str(channels), str(timestamps)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure():
    small = explore_valve(3, 3)
    text = f"{small['seconds']:.2f} s, traces of {' and '.join(map(str, small['broken']))} events"
    yield "FLINK-40475 found, valve 3 × 3", text, "well under 1 s"
    large = explore_valve(5, 3)
    text = f"{large['seconds']:.1f} s, {large['megabytes']:.0f} MB, {large['states']:,} states, "
    yield "closure of the valve 5 × 3", text + f"{large['transitions']:,} transitions", "≤ 30 s, ≤ 500 MB"
    yield "one step of the valve", f"{measure_step() * 1e6:.2f} µs", ""


def measure_step():
    from tidegate.reference.elements import Status
    from tidegate.reference.watermarks import valve

    (state,) = valve.start(valve.Config(4))
    events = [valve.ChannelWatermark(c, t) for t in range(1, 6) for c in range(4)]
    events += [valve.ChannelStatus(1, Status.IDLE), valve.ChannelStatus(1, Status.ACTIVE)]
    started = time.perf_counter()
    for index in range(200_000):
        state = valve.step(state, events[index % len(events)])[0].state
    return (time.perf_counter() - started) / 200_000
