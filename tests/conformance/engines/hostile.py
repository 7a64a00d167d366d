"""Engines that hang, die, flood and lie: `python hostile.py dies_in_a_case`.

They speak the protocol well until a case is called `bad`: what they do then is a function of that request. What is
wrong from the beginning is a function of nothing.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Request = dict[str, Any]
HELLO: dict[str, Any] = {
    "protocol": 1,
    "implementation": {"name": "hostile", "version": "1", "language": "python"},
    "components": {"valve": {}},
}
#: Enough to be given a job.
JOBS: dict[str, Any] = {
    "operators": ["source", "sink"],
    "partitioners": ["rebalance"],
    "parallelism": 1,
    "shows": ["record"],
}
MEGABYTE = b"x" * 1024 * 1024
IDLE = [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"]


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
    say({"id": request["id"], **(instead or {"ok": HELLO if request["op"] == "hello" else {"steps": right(request)}})})


def answer_literally(request: Request, steps: str | bytes) -> None:
    """Answer with steps that no JSON library would write."""
    text = steps.encode() if isinstance(steps, str) else steps
    write(b'{"id":%d,"ok":{"steps":%s}}\n' % (request["id"], text))


def hang() -> None:
    time.sleep(600)


def requests() -> Iterator[Request]:
    """All of them up to `bye`."""
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "bye":
            return
        yield request


def is_bad(request: Request) -> bool:
    return bool(request.get("case", "").startswith("bad"))


def serve(misbehave: Callable[[Request], object], hello: Any = HELLO) -> None:
    for request in requests():
        if request["op"] == "hello":
            answer(request, ok=hello)
        elif is_bad(request):
            misbehave(request)
        else:
            answer(request)


def is_first_time(name: str) -> bool:
    flag = Path(os.environ["HOSTILE_SCRATCH"], name)
    if flag.exists():
        return False
    flag.touch()
    return True


# --- ends, and what never ends --------------------------------------------------------------------------------


def dies_in_a_case(_request: Request) -> None:
    os.write(2, b"panic: index out of bounds\n")
    os._exit(3)


def dies_once(request: Request) -> None:
    if is_first_time("seen"):
        os._exit(3)
    answer(request)


def dies_after_a_reply(request: Request) -> None:
    answer(request)
    os._exit(0)


def is_killed_in_a_case(_request: Request) -> None:
    """In the middle of its reply."""
    write('{"id":')
    os.kill(os.getpid(), signal.SIGSEGV)


def leaves_grandchildren(_request: Request) -> None:
    """A child in its group and a daemon out of it, both holding its streams."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    subprocess.Popen(IDLE)
    subprocess.Popen(IDLE, start_new_session=True)
    os._exit(3)


def hangs_in_a_case(_request: Request) -> None:
    hang()


def hangs_once(request: Request) -> None:
    if is_first_time("seen"):
        hang()
    answer(request)


def hangs_after_a_reply(request: Request) -> None:
    answer(request)
    hang()


def closes_stdout(_request: Request) -> None:
    os.close(1)
    hang()


def closes_stdin(_request: Request) -> None:
    os.close(0)
    hang()


def closes_stdin_after_a_reply(request: Request) -> None:
    answer(request)
    os.close(0)
    hang()


def falls_silent_in_half_a_line(request: Request) -> None:
    write(f'{{"id":{request["id"]},"ok":{{"steps":[')
    hang()


# --- floods -----------------------------------------------------------------------------------------------------


def floods_stderr(request: Request) -> None:
    """A gigabyte, and then the right answer."""
    for _ in range(512):
        os.write(2, MEGABYTE)
        os.write(2, b"warning: still thinking\n" * 43_690)
    answer(request)


def floods_stdout_with_lines(_request: Request) -> None:
    for _ in range(1024):
        write(b"DEBUG tick\n" * 95_325)


def floods_stdout_without_a_newline(_request: Request) -> None:
    for _ in range(1024):
        write(MEGABYTE)


def prints_debug_output(request: Request) -> None:
    write("now in \x1b[2Jthe bad case\n")
    answer(request)


def talks_after_its_reply(request: Request) -> None:
    answer(request)
    write("done\n")


def answers_millions_of_objects(request: Request) -> None:
    """Five million, which would take a gigabyte once parsed."""
    answer_literally(request, f"[[],[],[{'{},' * 5_000_000}{{}}]]")


# --- lies -------------------------------------------------------------------------------------------------------


def answers_twice(request: Request) -> None:
    answer(request)
    answer(request)


def answers_a_boolean_id(request: Request) -> None:
    """It equals 1 in some languages."""
    say({"id": True, "ok": {"steps": right(request)}})


def answers_an_unknown_id(request: Request) -> None:
    answer({**request, "id": request["id"] + 1_000_000})


def answers_the_next_id(request: Request) -> None:
    answer({**request, "id": request["id"] + 1})


def answers_a_float(request: Request) -> None:
    """Beyond all floats."""
    answer_literally(request, '[[{"type":"watermark","timestamp":1e400}],[],[]]')


def answers_a_number_without_end(request: Request) -> None:
    answer_literally(request, "[[],[],[" + "9" * 1_000_000 + "]]")


def answers_half_a_character(request: Request) -> None:
    """An unpaired surrogate, which no report could be written with."""
    answer_literally(request, r'[[],[],[{"type":"\ud800"}]]')


def answers_latin_1(request: Request) -> None:
    answer_literally(request, '[[],[],[{"type":"über"}]]'.encode("latin-1"))


def answers_in_bad_form(request: Request) -> None:
    answer(request, ok={"steps": [["watermark"] for _ in request["events"]]})


def answers_nan(request: Request) -> None:
    answer(request, ok={"steps": [[{"type": "watermark", "timestamp": float("nan")}]] * 3})


def answers_two_to_the_63(request: Request) -> None:
    """As a string and as a number: well-formed, and wrong."""
    values = [[{"type": "watermark", "timestamp": value}] for value in ("9223372036854775808", 2**63)]
    answer(request, ok={"steps": [*values, []]})


def forgets_a_step(request: Request) -> None:
    answer(request, ok={"steps": right(request)[1:]})


def declares_and_refuses(request: Request) -> None:
    answer(request, error={"kind": "unsupported", "message": "\x1b[31mnot today"})


def nests_deeply(request: Request) -> None:
    answer_literally(request, f"[[],[],{'[' * 100_000}{']' * 100_000}]")


def nests_somewhat(request: Request) -> None:
    """Enough to break whoever walks them."""
    answer_literally(request, f'[[],[],[{{"type":"x","y":{"[" * 500}{"]" * 500}}}]]')


# --- wrong from the beginning -----------------------------------------------------------------------------------


def dies_at_start() -> None:
    sys.exit("no configuration found \x1b[31m")


def hangs_at_start() -> None:
    hang()


def floods_at_start() -> None:
    for _ in range(1024):
        write(MEGABYTE)


def greets_with_a_banner() -> None:
    write("Welcome to the engine!\n")
    serve(answer)


def refuses_hello() -> None:
    for request in requests():
        answer(request, error={"kind": "internal", "message": "no license \x1b]0;owned\x07"})


def says_hello_in_bad_form() -> None:
    serve(answer, hello={**HELLO, "components": ["valve"]})


def speaks_protocol_two() -> None:
    serve(answer, hello={**HELLO, "protocol": 2})


def dies_after_hello() -> None:
    answer(next(requests()))


def closes_stdin_after_hello() -> None:
    answer(next(requests()))
    os.close(0)
    hang()


def starts_once() -> None:
    if not is_first_time("started"):
        sys.exit("the database is locked")
    serve(lambda _request: os._exit(3))


def dies_of_everything() -> None:
    for request in requests():
        if request["op"] == "replay":
            os._exit(3)
        answer(request)


def dies_after_every_reply() -> None:
    """Takes one case for each process, as a CGI script would."""
    for request in requests():
        answer(request)
        if request["op"] == "replay":
            return


def answers_with_the_previous_case() -> None:
    """Id and all."""
    previous = None
    for request in requests():
        if is_bad(request) and previous:
            answer(previous)
        else:
            answer(request)
            previous = request


def answers_out_of_order() -> None:
    """Whatever waits in one read backwards, which the protocol allows, and the bad case rightly too."""
    rest = b""
    while chunk := os.read(0, 1_000_000):
        *lines, rest = (rest + chunk).split(b"\n")
        for request in reversed([json.loads(line) for line in lines]):
            if request["op"] != "bye":
                answer(request)


def takes_one_request_at_a_time() -> None:
    """What it reads is one request to it, so that it is lost when several come together."""
    while chunk := os.read(0, 1_000_000):
        request = json.loads(chunk)
        if request["op"] != "bye":
            answer(request)


def is_slow_but_sure() -> None:
    """Each case in a tenth of the time allowed, and all of them in far more."""
    for request in requests():
        if request["op"] == "replay":
            time.sleep(0.1)
        answer(request)


def ignores_bye() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(answer)
    hang()


def ignores_sigterm() -> None:
    """Hangs in the bad case, and leaves a sign that it does."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(lambda _request: (is_first_time("hangs"), hang()))


def clings_to_life() -> None:
    """Hangs in its first case, with a child in its group and one out of it, all deaf to whoever asks them to leave.

    Run as `env -i PYTHON hostile.py clings_to_life FOLDER`: nobody can tell by its environment whose it is. Leaves its
    process numbers and those of its children in the folder.
    """
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    for request in requests():
        if request["op"] == "hello":
            answer(request, ok={**HELLO, "components": {"valve": {}, "gate": {}}, "jobs": JOBS})
            continue
        me = os.getpid()
        for out_of_group in (False, True):
            if os.fork() == 0 and out_of_group:
                os.setsid()
                if os.fork():
                    os._exit(0)  # whose parent is gone, is an orphan
        Path(sys.argv[2], f"{me} {os.getpid()}").touch()
        hang()


def one_string(last: str = "") -> list[str]:
    return ['{"type":"watermark","timestamp":"', *["9" * len(MEGABYTE)] * 15, f'{last}"}}']


#: As much as may pass for the observations of a step.
AT_LENGTH: dict[str, Callable[[], list[str]]] = {
    "a string": one_string,
    "a string of wide letters": lambda: one_string("\N{GRINNING FACE}"),
    "many observations": lambda: [*['{"type":"watermark","timestamp":"1"},' * 1000] * 150, '{"type":"x"}'],
    "many keys": lambda: ['{"type":"watermark"', *(f',"{number}":[]' for number in range(240_000)), "}"],
    "out of order": one_string,
}


def answers_at_length() -> None:
    """Answers every case with one of these; or a few in front of the first."""
    pieces = [piece.encode() for piece in AT_LENGTH[sys.argv[2]]()]
    held: list[Request] = []
    stdin = os.fdopen(0, "rb", buffering=0)
    while (request := json.loads(stdin.readline() or b"{}")).get("op", "bye") != "bye":
        if request["op"] == "hello":
            answer(request)
            continue
        held.append(request)
        if sys.argv[2] == "out of order" and select.select([stdin], [], [], 0.1)[0]:
            continue  # there are more to come
        for one in reversed(held):
            write(f'{{"id":{one["id"]},"ok":{{"steps":[[')
            for piece in pieces:
                write(piece)
            write(f"]{',[]' * (len(one['events']) - 1)}]}}}}\n")
        held.clear()


if __name__ == "__main__":
    chosen = globals()[sys.argv[1]]
    if chosen.__code__.co_argcount:
        serve(chosen)
    else:
        chosen()
