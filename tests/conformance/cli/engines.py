"""Engines for tests of the command line."""

import os
import signal
import time
from pathlib import Path

from tidegate.conformance.engines.museum.engines import Engine, ValveAlwaysFlushes


class KillsItsWorker(Engine):
    """Right, but for the gate: then the process that talks to it is gone."""

    def replay(self, cases):
        if any(case["component"] == "gate" for case in cases):
            keeper = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="ascii")
            os.kill(int(keeper.rpartition(")")[2].split()[1]), signal.SIGKILL)
        return super().replay(cases)


class NeverDoneWithPriorities(Engine):
    """Right, but for the gate that has them: it stays silent in the first cases, and hangs in the next."""

    asked = 0

    def replay(self, cases):
        if not any(case["component"] == "priority_gate" for case in cases):
            return super().replay(cases)
        self.asked += 1
        if self.asked > 2:
            time.sleep(600)
        return [{"steps": [[] for _event in case["events"]]} for case in cases]


class StopsAtTwoThousand(ValveAlwaysFlushes):
    """Wrong for two thousand cases, and then silent."""

    def __init__(self):
        super().__init__()
        self.answered = 0

    def replay_case(self, case):
        self.answered += 1
        if self.answered > 2000:
            time.sleep(600)
        return super().replay_case(case)


class WrongInTwoPlaces(Engine):
    """Every valve stays silent, and every gate has nothing."""

    def replay(self, cases):
        steps = {"valve": [], "gate": [{"type": "none"}]}
        return [
            {"steps": [steps[case["component"]] for _event in case["events"]]} if case["component"] in steps else answer
            for case, answer in zip(cases, super().replay(cases), strict=True)
        ]


class OnlyTheOldValve(Engine):
    """Right, of one component in one semantics."""

    def describe(self):
        return {**super().describe(), "components": {"valve": {"semantics": ["flink-7728"]}}}
