"""What is kept of a component is believed as long as nothing has changed that has a say in it."""

import subprocess
import sys

import pytest

from tidegate.conformance.engines.museum.catalog import find
from tidegate.conformance.judging import made_of

MATRIX = "tidegate.conformance.judging.kill_matrix"
EXAMINE = """
import sys
from tidegate.conformance.engines.museum.engines import Engine
Engine().describe()
known = {*sys.modules}
from tidegate.conformance.judging import kill_matrix, suite
kill_matrix.examine(sys.argv[1], suite.Budget(cases=20), every=True)
print(*(sys.modules[name].__file__ for name in {*sys.modules} - known if name.startswith("tidegate.")))
"""


@pytest.mark.parametrize("mutant", ["valve-never-flushes", "virtual-channels-names-are-swapped"])
def test_all_that_has_a_say_is_in_the_digest(mutant, monkeypatch):
    """Whatever is imported when a wrong engine is tried; other machines of the museum say what they are, no more."""
    followed = []
    follow = made_of.follow
    monkeypatch.setattr(made_of, "follow", lambda modules: followed.extend(follow(modules)) or followed)
    made_of.digest_sources(find(mutant).component, MATRIX)
    ran = subprocess.run([sys.executable, "-c", EXAMINE, mutant], capture_output=True, text=True, check=True)
    imported = {made_of.Path(text) for text in ran.stdout.split()}
    assert {path for path in imported if made_of.is_wanted(path)} - {*followed} == set()


def test_another_component_has_no_say():
    names = {path.stem for path in made_of.follow(["tidegate.conformance.engines.museum.valve", MATRIX])}
    assert "valve" in names
    assert "gate" not in names
