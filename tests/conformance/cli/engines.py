"""Engines for tests of the command line."""

import os
import signal
import time

from tidegate.conformance.engines.museum.engines import Engine


class KillsItsWorker(Engine):
    """Right, but for the gate: then the process that talks to it is gone."""

    def replay(self, cases):
        if any(case["component"] == "gate" for case in cases):
            os.kill(os.getppid(), signal.SIGKILL)
        return super().replay(cases)


class SlowAtTheGate(Engine):
    """Right, and never done with the gate."""

    def replay(self, cases):
        if any(case["component"] == "gate" for case in cases):
            time.sleep(600)
        return super().replay(cases)


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
