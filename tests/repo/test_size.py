"""What each component brings along stays small: a thing is said once."""

import pytest

from tests.repo import size

#: A little above what there is. A commit that needs more says what for.
MOST_LINES, MOST_TRACKED, MOST_FILES = 91_500, 1_430, 7


@pytest.fixture(scope="module")
def measured():
    return size.measure()


def test_the_trees_stay_under_their_ceilings(measured):
    assert measured.repeated <= MOST_LINES
    assert measured.tracked <= MOST_TRACKED
    assert measured.of_a_small_component <= MOST_FILES


def test_every_component_is_counted_with_its_specification_and_its_cases(measured):
    for name in size.NAMES:
        assert measured.lines[name, "reference"] > 0, name
        assert measured.lines[name, "cases"] > 0, name


def test_a_file_belongs_to_the_longest_name_that_it_has():
    assert size.find_owner("properties/cases/buffer_pools.toml", "cases") == "buffer_pools"
    assert size.find_owner("conformance/engines/museum/valve.py", "museum") == "valve"
    assert size.find_owner("tests/reference/watermarks/test_valve_alone.py", "tests") == "valve"
    assert size.find_owner("reference/job/tasks.py", "reference") == "job"
    assert size.find_owner("reference/model.py", "reference") is None
