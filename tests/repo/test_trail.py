"""The reading trail: its files are few and short, and none of them needs one that comes later."""

import ast
import re
from collections import Counter

from tests.paths import ROOT

PAGE = (ROOT / "docs" / "trail.md").read_text(encoding="utf-8")
#: Every component has a class of these names.
ROLES = {"Config", "State", "Event", "Observation"}
#: What a program asks for, and what the network does; the page says so.
TWO_MEANINGS = {"Partitioner"}


def read_files(heading):
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^(?:\d+\.|-) \[(reference/[\w/]+\.py)\]\(\.\./\1\)", section, flags=re.MULTILINE)


TRAIL, SHARED = read_files("The files, in order"), read_files("Look up when met")


def parse(path):
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def find_needed(path):
    """The files of the reference that a file uses. `Component.of` only collects the claims of modules beside it."""
    body = parse(path).body
    collecting = [node for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMPONENT"]
    rest = [node for node in body if node not in collecting]
    used = {node.id for part in rest for node in ast.walk(part) if isinstance(node, ast.Name)}
    for node in rest:
        if isinstance(node, ast.ImportFrom) and node.module.startswith("tidegate.reference"):
            for alias in node.names:
                if (alias.asname or alias.name) in used:
                    yield find_file(node.module, alias.name)


def find_file(module, name):
    folder = ROOT / module.removeprefix("tidegate.").replace(".", "/")
    file = folder / f"{name}.py" if folder.is_dir() else folder.with_suffix(".py")
    return file.relative_to(ROOT).as_posix()


def test_the_trail_is_read_in_an_evening():
    assert len(TRAIL) == len(re.findall(r"^\d+\. ", PAGE, flags=re.MULTILINE)) >= 10
    assert sum(len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in TRAIL) <= 2600


def test_no_file_needs_one_that_comes_later():
    later = {}
    for place, path in enumerate(TRAIL):
        known = {*TRAIL[:place], *SHARED}
        later[path] = sorted(set(find_needed(path)) - known)
    assert later == {path: [] for path in TRAIL}


def test_what_is_looked_up_is_met():
    needed = {one for path in TRAIL for one in find_needed(path)}
    assert set(SHARED) <= needed


def test_a_class_name_means_one_thing():
    names = [node.name for path in TRAIL for node in parse(path).body if isinstance(node, ast.ClassDef)]
    assert {name for name, times in Counter(names).items() if times > 1} - ROLES == TWO_MEANINGS
