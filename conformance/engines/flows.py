"""Programs on dataflow engines: shared by the adapters of Bytewax, Quix, Faust and Beam.

Every operator is a task, and every edge distributes records by key. The process of the engine writes each event
to a journal at once, one file per thread, so that it survives a kill. The adapter reads the journals, kills
the process where its job says so, restarts it, and makes rows.
"""

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

Json = dict[str, Any]
#: An element: identity, key, value, time, edge, and sender.
Element = list[Any]
#: An entry of a journal: the kind of event, the operator, the thread, then the details.
Entry = list[Any]

SENT, RECEIVED, RESULT, DONE, ALIVE = "out", "in", "result", "done", "alive"
KILL, RESCALE = "kill", "rescale"
#: After this many signs of life without other entries, a process may be finished, which is then checked; after this
#: many with work left, it hangs. Signs of a process that waits for the machine do not count.
QUIET, PATIENCE = 40, 240
#: Seconds between two signs of life, and between two polls of a job.
BEAT, PERIOD = 0.25, 0.05
#: The share of that time that a process may wait for a processor and still count as running.
MOST_DELAY = 0.1


class Program:
    """A job as its adapter sees it."""

    def __init__(self, job: Json) -> None:
        self.operators: dict[int, Json] = {one["id"]: one for one in job["program"]["operators"]}
        self.tasks = {one["operators"][0]: one["name"] for one in job["graph"]["tasks"]}
        numbers = {name: operator for operator, name in self.tasks.items()}
        self.edges = [(one["number"], numbers[one["source"]], numbers[one["target"]]) for one in job["graph"]["edges"]]
        #: The edge of late records; without late records, nothing goes there.
        self.late = {(one["source"], one["target"]) for one in job["program"]["edges"] if one.get("output")}
        self.job = job
        self.settings: Json = job["settings"]
        self.faults: list[Json] = job["faults"]
        self.log = Path(job["log"])

    def write(self) -> Path:
        """For the process that runs it."""
        path = self.log.parent / "job.json"
        path.write_text(json.dumps(self.job), encoding="utf-8")
        return path

    @property
    def width(self) -> int:
        """The parallelism of all operators but sources."""
        return max(int(one["parallelism"]) for one in self.operators.values() if not one["scripts"])

    @property
    def sources(self) -> list[int]:
        return [number for number, one in self.operators.items() if one["scripts"]]

    def records_of(self, source: int, script: int) -> list[Json]:
        return [item for item in self.operators[source]["scripts"][script] if item["type"] == "record"]

    def count_records(self) -> int:
        """Elements that sources send: each record once per edge."""
        often = {number: len(self.readers_of(number)) for number in self.sources}
        scripts = [(number, script) for number in often for script in range(len(self.operators[number]["scripts"]))]
        return sum(len(self.records_of(number, script)) * often[number] for number, script in scripts)

    def readers_of(self, operator: int) -> list[tuple[int, int]]:
        """The edges that leave an operator, each with its number and its target; without those of late records."""
        ends = [(number, target) for number, source, target in self.edges if source == operator]
        return [(number, target) for number, target in ends if (operator, target) not in self.late]

    def inputs_of(self, operator: int) -> list[tuple[int, int]]:
        """The edges that enter it, each with its number and its source."""
        return [(number, source) for number, source, target in self.edges if target == operator]


def apply(function: str, key: str, value: int) -> list[tuple[str, int]]:
    """The output of a stateless operator for a record."""
    if function == "map":
        return [(key, 2 * value)]
    if function == "flat_map":
        return [(word, 1) for word in key.split()]
    if function == "filter":
        return [(key, value)] if value > 0 else []
    return [(key, value)]


# --- in the process of the engine -----------------------------------------------------------------------------


class Journal:
    """One file per thread, each line written at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._here = threading.local()

    @property
    def name(self) -> str:
        return f"{os.getpid()}-{threading.get_ident()}"

    def live(self) -> None:
        """Write a sign of life periodically."""
        threading.Thread(target=self._beat, daemon=True).start()

    def _beat(self) -> None:
        """Each sign says whether the process had to wait for the machine since the last one."""
        before = read_delay()
        while True:
            time.sleep(BEAT)
            now = read_delay()
            self.tell(ALIVE, 0, 0, now - before > BEAT * MOST_DELAY)
            before = now

    def tell(self, *entry: Any) -> None:
        if not hasattr(self._here, "file"):
            path = self._folder / f"{self.name}.rows"
            self._here.file = path.open("a", encoding="utf-8", buffering=1)
        self._here.file.write(json.dumps(entry) + "\n")


def read_delay() -> float:
    """How many seconds our first thread has waited for a processor, if the system tells."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    return 0.0


class Steps:
    """The operators, with their journal."""

    def __init__(self, program: Program, journal: Journal) -> None:
        self.program, self.journal = program, journal

    def send(self, operator: int, who: Any, cause: str, key: str, value: int, time: int) -> list[tuple[int, Element]]:
        """For each edge, its target and the element. The same cause gives the same identity."""
        made = []
        for edge, target in self.program.readers_of(operator):
            name = int.from_bytes(blake2b(f"{cause}/{operator}/{edge}".encode(), digest_size=7).digest())
            self.journal.tell(SENT, operator, who, edge, name, key, time)
            made.append((target, [name, key, value, time, edge, who]))
        return made

    def send_item(self, source: int, script: int, place: int, item: Json) -> list[tuple[int, Element]]:
        cause = f"{script}/{place}"
        return self.send(source, script, cause, item["key"], int(item["value"]), int(item["timestamp"]))

    def arrive(self, operator: int, who: Any, element: Element) -> None:
        name, key, _value, time, edge, producer = element
        self.journal.tell(RECEIVED, operator, who, edge, name, key, time, producer)

    def receive(
        self, operator: int, who: Any, element: Element, total: int = 0
    ) -> tuple[int, list[tuple[int, Element]]]:
        """The new total of the key, if the operator has one, and the output."""
        self.arrive(operator, who, element)
        name, key, value, time, _edge, _producer = element
        function = self.program.operators[operator]["function"]
        if function == "sum":
            total = value = total + value
        made = [] if function == "sink" else enumerate(apply(function, key, value))
        sent = [
            one for at, (word, number) in made for one in self.send(operator, who, f"{name}/{at}", word, number, time)
        ]
        if function == "sink":
            self.journal.tell(RESULT, operator, who, key, value)
        self.journal.tell(DONE, operator, who, name)
        return total, sent


# --- in the process of the adapter ----------------------------------------------------------------------------


class Attempt:
    """The journals of a process so far. A line cut by a kill has no end, and does not count."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entries: dict[str, list[Entry]] = {}
        self._rests: dict[str, tuple[int, bytes]] = {}

    def look(self) -> list[Entry]:
        """New entries."""
        news: list[Entry] = []
        for path in sorted(self.folder.glob("*.rows")):
            at, rest = self._rests.get(path.stem, (0, b""))
            with path.open("rb") as file:
                file.seek(at)
                chunk = file.read()
            *lines, left = (rest + chunk).split(b"\n")
            self._rests[path.stem] = at + len(chunk), left
            read = [json.loads(line) for line in lines]
            self.entries.setdefault(path.stem, []).extend(read)
            news += read
        return news


class FlowError(RuntimeError):
    """A process ended without a kill, or hangs; the message says what is known."""


class Run:
    """A job, attempt by attempt. `launch` starts one, with its folder, its parallelism and the file for its last words.

    Without `is_read`, the process ends when it has read everything. With it, the journals show that; or, after
    a loss, `is_read` confirms that all input was read and committed, and the process writes nothing more.
    """

    def __init__(
        self,
        program: Program,
        launch: "Launch",
        is_read: Callable[[], bool] | None = None,
        *,
        quiet: int = QUIET,
        patience: int = PATIENCE,
    ) -> None:
        self.program, self.launch, self.is_read = program, launch, is_read
        self.quiet, self.patience = quiet, patience
        self.beats = 0
        self.home = program.log.parent / "attempts"
        self.attempts: list[Attempt] = []
        self.sent: set[int] = set()
        self.done: set[int] = set()
        self.read: set[int] = set()
        self.total = program.count_records()

    def run(self) -> Json:
        hit: list[bool] = []
        width = self.program.width
        for fault in self.program.faults:
            hit.append(self.attempt(width, self.total * fault["after"] // 100))
            if not hit[-1]:
                break
            # A different parallelism, within the limit.
            width = width % self.program.width + 1 if fault["fault"] == RESCALE else width
        if all(hit):
            self.attempt(width, None)
        restored = {str(number): None for number in range(1, len(self.attempts))}
        return {"hit": hit + [False] * (len(self.program.faults) - len(hit)), "restored": restored}

    def attempt(self, width: int, until: int | None) -> bool:
        """Whether it was killed after this many records; else it completed."""
        number = len(self.attempts)
        attempt = Attempt(self.home / str(number))
        attempt.folder.mkdir(parents=True)
        self.attempts.append(attempt)
        process = self.launch(attempt.folder, width, self.home / "errors")
        self.beats = 0
        try:
            while process.poll() is None:
                self.look(attempt)
                if until is not None and len(self.read) >= until and not self.is_over():
                    process.kill()
                    return process.wait() == -signal.SIGKILL
                if self.is_read is not None and (self.is_over() or (self.beats > self.quiet and self.is_read())):
                    return False
                if self.is_read is not None and self.beats > self.patience:
                    raise FlowError(f"attempt {number} hangs: it is alive, has more to read, and does nothing")
                time.sleep(PERIOD)
            if process.returncode or self.is_read is not None:
                raise FlowError(f"attempt {number} ended with {process.returncode}: {self.last_words()}")
        finally:
            process.kill()
            process.wait()
            self.look(attempt)
        return False

    def look(self, attempt: Attempt) -> None:
        news = attempt.look()
        if all(entry[0] == ALIVE for entry in news):
            self.beats += sum(not is_delayed for *_sign, is_delayed in news)
        else:
            self.beats = 0
        sources = set(self.program.sources)
        with self.program.log.open("a", encoding="utf-8") as log:
            for kind, operator, who, *words in news:
                if kind == SENT:
                    self.sent.add(words[1])
                    self.read |= {words[1]} if operator in sources else set()
                if kind == DONE:
                    self.done.add(words[0])
                if kind in (DONE, ALIVE):
                    continue
                log.write(
                    json.dumps({"task": self.program.tasks[operator], "kind": kind, "who": who, "of": words}) + "\n"
                )

    def is_over(self) -> bool:
        """Whether everything was read, and everything sent was received and processed."""
        return len(self.read) == self.total and self.sent <= self.done

    def last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = (self.home / "errors").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            return " | ".join(lines[-8:]) or "no output"
        return "no output"


#: Returns the subtask of a name, among all names of an attempt.
Place = Callable[[str, list[str]], int]


class Process(Protocol):
    """The process of an attempt."""

    @property
    def returncode(self) -> int | None: ...
    def poll(self) -> int | None: ...
    def kill(self) -> None: ...
    def wait(self) -> int | None: ...


Launch = Callable[[Path, int, Path], Process]


def run_flow(program: Program, launch: Launch, place: Place, is_read: Callable[[], bool] | None = None) -> Json:
    """The answer to a job."""
    run = Run(program, launch, is_read)
    try:
        answer = run.run()
    except FlowError as error:
        answer = {"error": str(error), "restored": {str(number): None for number in range(1, len(run.attempts))}}
    placed = [list(place_all(attempt, place)) for attempt in run.attempts]
    return {"rows": list(make_rows(program, placed)), **answer}


def place_all(attempt: Attempt, place: Place) -> Iterator[Entry]:
    """The entries of an attempt, with subtasks instead of names."""
    entries = [entry for one in attempt.entries.values() for entry in one]
    people = sorted({entry[2] for entry in entries if isinstance(entry[2], str)})

    def find(who: int | str) -> int:
        return who if isinstance(who, int) else place(who, people)

    for kind, operator, who, *words in entries:
        if kind == RECEIVED:
            words[-1] = find(words[-1])
        yield [kind, operator, find(who), *words]


def make_rows(program: Program, attempts: list[list[Entry]]) -> Iterator[Json]:
    """The receiver of a record shows its channel, in this attempt or a later one: the engine does not show it earlier.

    A record sent but not received before a kill is undone, if it is sent again on another channel.
    """
    everything = [entry for entries in attempts for entry in entries]
    at_last = find_receivers(everything)
    arrived = {(words[1], words[-1], who) for kind, _operator, who, *words in everything if kind == RECEIVED}
    for attempt, entries in enumerate(attempts):
        went = at_last | find_receivers(entries)
        for kind, operator, who, *words in entries:
            if kind in (DONE, ALIVE):
                continue
            place = {"task": program.tasks[operator], "subtask": who, "attempt": attempt}
            if kind == RESULT:
                yield {**place, "kind": RESULT, "key": words[0], "value": words[1]}
                continue
            edge, name, key, time, *producers = words
            producer, consumer = (producers[0], who) if producers else (who, went.get(name, 0))
            if name not in at_last or (name, producer, consumer) in arrived:
                ends = {"edge": edge, "producer": producer, "consumer": consumer}
                yield {**place, "kind": "record", "dir": kind, **ends, "key": key, "timestamp": time, "id": name}


def find_receivers(entries: Iterable[Entry]) -> dict[int, int]:
    return {words[1]: who for kind, _operator, who, *words in entries if kind == RECEIVED}
