"""Processes that start with the engine already imported: forked from one that has done only that."""

import multiprocessing
import os
from importlib import import_module
from pathlib import Path

from tidegate.conformance.engines.processes.orphans import die_with_parent

#: The modules that our process imports first are imported again, by name, in each of them.
HOST = "tidegate.conformance.engines.python.host"


class Forked:
    """A process that calls `run` of a module; as far as attempts need it, like `subprocess.Popen`."""

    def __init__(self, module: str, words: tuple[str, ...], errors: Path) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([HOST, module])  # used by the first process
        self._process = context.Process(target=begin, args=(module, words, errors), daemon=True)
        self._process.start()

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode


def begin(module: str, words: tuple[str, ...], errors: Path) -> None:
    die_with_parent()
    file = os.open(errors, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for stream in (1, 2):
        os.dup2(file, stream)
    import_module(module).run(*words)
