"""How much there is to know: the lines and files that each component brings along, and the tracked files of all.

    python -m tests.repo.size [--components]

A file belongs to the component that it is named after, by its own name or by its folder's. Half of the components have
at most seven files, which was the aim. The figures are no reason to pack lines.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter

import attrs

from tests.paths import ROOT
from tidegate.reference.components import PATH

#: The folders in which each component has files.
TREES = {
    "reference": "reference/",
    "cases": "properties/cases/",
    "museum": "conformance/engines/museum/",
    "flink": "conformance/engines/flink/adapters/",
    "spark": "conformance/engines/spark/",
    "tests": "tests/reference/",
    "docs": "docs/semantics/",
}
#: Written by a command: counted as a file of the component, but not by lines.
WRITTEN = {"docs"}
#: One file has the rules of all components of a subject.
RULES = "rules.toml"
NAMES = sorted((place.name for place in PATH), key=len, reverse=True)


@attrs.frozen
class Size:
    lines: dict[tuple[str, str], int]  # by component and tree
    files: Counter
    rules: int
    tracked: int

    @property
    def repeated(self):
        """Lines of all components, and of their rules."""
        return self.rules + sum(count for (_name, tree), count in self.lines.items() if tree not in WRITTEN)

    @property
    def of_a_small_component(self):
        """The median number of files: half of the components have no more."""
        return sorted(self.files.values())[len(self.files) // 2]


#: What this command printed before each thing was written once.
START = {"lines of the components": 107_657, "tracked files": 1_675, "files of a component": 13}


def list_tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]


def find_owner(path, tree):
    """The component that a path is named after; a subject that is one component owns its folder."""
    for part in reversed(path.removeprefix(TREES[tree]).split("/")):
        stem = part.partition(".")[0]
        for name in NAMES:
            if stem == name or (tree == "tests" and re.fullmatch(rf"test_{name}(_\w+)?", stem)):
                return name
    return None


def measure():
    lines, files, rules, tracked = Counter(), Counter(), 0, list_tracked()
    for path in tracked:
        file = ROOT / path
        if file.is_symlink() or not file.exists():
            continue
        count = file.read_bytes().count(b"\n")
        tree = next((tree for tree, folder in TREES.items() if path.startswith(folder)), None)
        if path.startswith("reference/") and path.endswith(RULES):
            rules += count
        elif tree is not None and (owner := find_owner(path, tree)):
            lines[owner, tree] += count
            files[owner] += 1
    return Size(dict(lines), files, rules, len(tracked))


def main(words=None):
    parser = argparse.ArgumentParser(prog="python -m tests.repo.size", description=__doc__.partition("\n")[0])
    parser.add_argument("--components", action="store_true", help="a row for each component as well")
    options = parser.parse_args(words)
    size = measure()
    if options.components:
        print(f"{'':26}" + "".join(f"{tree:>11}" for tree in TREES) + f"{'files':>8}")
        for name in sorted(size.files, key=lambda name: -sum(size.lines.get((name, tree), 0) for tree in TREES)):
            row = "".join(f"{size.lines.get((name, tree), 0):11,}" for tree in TREES)
            print(f"{name:26}{row}{size.files[name]:8}")
        print()
    now = (size.repeated, size.tracked, size.of_a_small_component)
    for (what, start), count in zip(START.items(), now, strict=True):
        print(f"{what:26}{count:9,}   at the start {start:,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
