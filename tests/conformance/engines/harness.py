"""A harness in a process of its own, so that its memory can be measured and its death watched.

Usage: python harness.py '{"engine": "exec:…", "cases": ["good-0", "bad"], "options": {"case_timeout": 1}}'
Prints one JSON object: the replies, the restarts and the peak of its memory, or the error that kept it from starting.
"""

import json
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.engines import CannotStartError, Request
from tidegate.conformance.kinds import resolve


def cases(names: list[str]) -> Iterator[Request]:
    for number, name in enumerate(names):
        events = [{"type": "watermark", "channel": 0, "timestamp": str(number + step)} for step in range(3)]
        yield Request(name, "valve", {"channels": 1}, events)


def main(job: dict[str, Any]) -> dict[str, Any]:
    engine = resolve(job["engine"], **job["options"])
    try:
        with engine:
            replies = [
                [request.case, type(reply).__name__, attrs.asdict(reply)]
                for request, reply in engine.replay(cases(job["cases"]))
            ]
    except CannotStartError as error:
        outcome = {"code": error.code, "message": error.message, "hint": error.hint, "stderr": error.stderr}
    else:
        outcome = {"replies": replies, "restarts": engine.restarts}
    return outcome | {"peak_megabytes": peak_megabytes()}


def peak_megabytes() -> float:
    """What this program itself came to: getrusage would count the test process that it was forked from, too."""
    found = re.search(r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return int(found.group(1)) / 1024


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # to be asked to leave is to be interrupted
    print(json.dumps(main(json.loads(sys.argv[1]))))
