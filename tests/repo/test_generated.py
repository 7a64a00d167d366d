"""What is written from the specification is not stale: golden traces, documentation, and the README's commands."""

import json
import re

import pytest

from tests.paths import ROOT
from tidegate.conformance.documents.pages import make_documents
from tidegate.conformance.judging.golden import digest, golden_folder, make_golden, read_golden, write_golden
from tidegate.reference.components import COMPONENTS

PAGES = ("semantics/index.md", "semantics/rules.md", "flink-tests.md", *(f"semantics/{name}.md" for name in COMPONENTS))
MANIFEST = json.loads((golden_folder() / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def documents():
    return make_documents()


@pytest.mark.parametrize("component", sorted(COMPONENTS))
def test_golden_traces_are_what_the_reference_writes(component):
    """If this fails, the specification changed its meaning: look at the difference, then `make golden`."""
    assert list(read_golden(component)) == make_golden(component)


def test_the_manifest_tells_an_altered_file():
    assert set(MANIFEST) == {f"{component}.jsonl.gz" for component in COMPONENTS}
    for name, entry in MANIFEST.items():
        assert digest(golden_folder() / name) == entry["sha256"], name


def test_golden_traces_are_small():
    assert sum(path.stat().st_size for path in golden_folder().iterdir()) <= 2_000_000


def test_writing_golden_traces_writes_a_manifest_that_fits(tmp_path, monkeypatch):
    monkeypatch.setattr("tidegate.conformance.judging.golden.COMPONENTS", {"wiring": COMPONENTS["wiring"]})
    manifest = write_golden(tmp_path)
    assert manifest["wiring.jsonl.gz"] == MANIFEST["wiring.jsonl.gz"]
    assert json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8")) == manifest


@pytest.mark.parametrize("name", PAGES)
def test_documentation_is_not_stale(name, documents):
    """If this fails: `make docs`."""
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == documents[name]


def test_no_page_is_left_over(documents):
    assert set(PAGES) == set(documents)
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs" / "semantics").iterdir()}
    assert pages | {"flink-tests.md"} == set(documents)


def test_the_readme_names_commands_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        named = set(re.findall(r"^make ([a-z-]+)|`make ([a-z-]+)`", page.read_text(encoding="utf-8"), re.MULTILINE))
        assert {name for pair in named for name in pair if name} <= targets, page


def test_links_of_the_documentation_lead_somewhere():
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "examples" / "README.md",
    ]
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"
