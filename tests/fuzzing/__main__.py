"""`make fuzz SECONDS=600`: other documents each time, for every reader in turn, until the time is up.

Where a reader fails in a way of its own, the smallest document that shows it is printed and kept in `fuzz-failures/`.
"""

import argparse
import sys
import time
import traceback
from hashlib import sha256
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory

from hypothesis import given, seed, settings

from tests.fuzzing.documents import documents
from tests.fuzzing.targets import TARGETS
from tests.fuzzing.test_fuzzing import BUDGET

KEPT = Path("fuzz-failures")


def fuzz(name, number, path):
    """One round: how many documents were read, and the smallest that failed, with its error."""
    target, read = TARGETS[name], []

    @seed(number)
    @settings(BUDGET, max_examples=500, derandomize=False)
    @given(documents(target.seeds()))
    def try_one(document):
        read.append(document)
        target.refuses(path, document)

    try:
        try_one()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
        return len(read), read[-1], error
    return len(read), None, None


def main(arguments):
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"only these of {', '.join(TARGETS)}")
    options = parser.parse_args(arguments)
    names = options.targets or list(TARGETS)
    if unknown := set(names) - set(TARGETS):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    began, read, failing = time.monotonic(), dict.fromkeys(names, 0), []
    with TemporaryDirectory() as folder:
        while names and time.monotonic() - began < options.seconds:
            name = names.pop(0)
            number = SystemRandom().getrandbits(64)
            count, document, error = fuzz(name, number, Path(folder) / "document")
            read[name] += count
            print(f"{time.monotonic() - began:6.0f} s  {name}: {read[name]} documents", flush=True)
            if document is None:
                names.append(name)
                continue
            # It would only fail again: the others go on.
            KEPT.mkdir(exist_ok=True)
            kept = KEPT / f"{name.replace(' ', '-')}-{sha256(document).hexdigest()[:12]}"
            kept.write_bytes(document)
            failing.append(name)
            print(f"{name} fails on {document!r}\n  kept as {kept}, drawn with seed {number}", flush=True)
            traceback.print_exception(error, limit=-3)
    print(f"{sum(read.values())} documents, " + (f"failing: {', '.join(failing)}" if failing else "no failures"))
    return bool(failing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
