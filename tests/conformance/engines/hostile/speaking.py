"""What the hostile engines have in common: they speak the protocol well, until a case is called `bad`."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

Request = dict[str, Any]
HELLO = {
    "protocol": 1,
    "implementation": {"name": "hostile", "version": "1", "language": "python"},
    "components": {"valve": {}},
}


def write(text: str | bytes) -> None:
    data = memoryview(text.encode() if isinstance(text, str) else text)
    while data:
        data = data[os.write(1, data) :]


def say(message: Any) -> None:
    write(json.dumps(message) + "\n")


def right(request: Request) -> list[Any]:
    """What the tests take for the right steps: the watermarks that came in."""
    return [[{"type": "watermark", "timestamp": event["timestamp"]}] for event in request["events"]]


def answer(request: Request, **instead: Any) -> None:
    say({"id": request["id"], **(instead or {"ok": {"steps": right(request)}})})


def answer_literally(request: Request, steps: str | bytes) -> None:
    """Answer with steps that no JSON library would write."""
    text = steps.encode() if isinstance(steps, str) else steps
    write(b'{"id":%d,"ok":{"steps":%s}}\n' % (request["id"], text))


def requests() -> Iterator[Request]:
    for line in sys.stdin:
        yield json.loads(line)


def is_bad(request: Request) -> bool:
    return bool(request["case"].startswith("bad"))


def serve(misbehave: Callable[[Request], None], hello: Any = None) -> None:
    for request in requests():
        if request["op"] == "hello":
            answer(request, ok=hello or HELLO)
        elif request["op"] == "bye":
            return
        elif is_bad(request):
            misbehave(request)
        else:
            answer(request)
