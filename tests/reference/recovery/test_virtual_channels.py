"""Virtual channels."""

import attrs
import pytest

from tests.reference.walking import walk
from tidegate.reference.elements import MIN, Long, Status, StatusChange, Watermark
from tidegate.reference.model import InvalidInputError, Rejected
from tidegate.reference.recovery.virtual_channels import Config, ReadBuffer, Record, SelectChannel

#: Two old consumers of which the second is filtered, and one old producer; of two subtasks the first has the key c.
CONFIG = Config((0, 1), (4,), (1,), 0, 2, 128)
FIRST, SECOND = SelectChannel(0, 4), SelectChannel(1, 4)
MINE, OTHER = Record("c"), Record("a")
IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)


def read(*elements, rest=False, begun=None):
    return ReadBuffer(rest, elements, begun)


def mark(timestamp):
    return Watermark(Long(timestamp))


def show(*events, config=CONFIG):
    """What the events show, one after the other."""
    return [list(outcome.observations) for outcome in walk("virtual_channels", config, events)]


@pytest.mark.rule("VIRT-1")
def test_every_buffer_has_a_connection():
    refused = [Rejected()]
    assert show(read(), SelectChannel(4, 0), FIRST, read(OTHER)) == [refused, refused, [], [OTHER]]
    for nothing in ({"old_consumers": ()}, {"old_producers": ()}):
        assert show(FIRST, read(OTHER), config=attrs.evolve(CONFIG, **nothing)) == [refused, refused]


@pytest.mark.rule("VIRT-2", "VIRT-3")
def test_a_record_goes_on_where_it_began():
    shown = show(FIRST, read(begun="x"), SECOND, read(begun="a"), read(MINE, rest=True), FIRST, read(OTHER, rest=True))
    assert shown[4:] == [[MINE], [], [Record("x"), OTHER]]
    assert show(FIRST, read(rest=True), read(begun="x"), read())[1::2] == [[Rejected()]] * 2


@pytest.mark.rule("VIRT-3")
def test_what_others_restore_too_is_filtered():
    assert show(FIRST, read(MINE, OTHER), SECOND, read(OTHER, MINE, OTHER)) == [[], [MINE, OTHER], [], [MINE]]


@pytest.mark.rule("VIRT-4")
def test_the_lowest_watermark_of_all():
    shown = show(FIRST, read(IDLE, mark(MIN), mark(7)), SECOND, read(mark(5), OTHER, mark(9)), FIRST, read(mark(6)))
    assert shown[1::2] == [[ACTIVE], [mark(5), mark(7)], [mark(6)]]


@pytest.mark.rule("VIRT-5")
def test_idle_when_all_are():
    shown = show(FIRST, read(IDLE, IDLE), SECOND, read(IDLE, ACTIVE), FIRST, read(ACTIVE, IDLE))
    assert shown[1::2] == [[ACTIVE, ACTIVE], [IDLE, ACTIVE], [ACTIVE, ACTIVE]]


@pytest.mark.parametrize(
    "changes",
    [
        {"old_consumers": (1, 1)},
        {"old_producers": (-1,)},
        {"old_consumers": tuple(range(129))},
        {"subtask": -1},
        {"parallelism": 0},
        {"parallelism": 1025},
        {"max_parallelism": 32769},
    ],
)
def test_what_is_no_config(changes):
    with pytest.raises(InvalidInputError):
        attrs.evolve(CONFIG, **changes)


@pytest.mark.parametrize(("most", "changes"), [(1024, {"parallelism"}), (128, {"old_consumers", "old_producers"})])
def test_numbers_have_bounds(most, changes):
    for name in changes:
        attrs.evolve(CONFIG, **{name: most if name == "parallelism" else tuple(range(most))})
        with pytest.raises(InvalidInputError):
            attrs.evolve(CONFIG, **{name: most + 1 if name == "parallelism" else tuple(range(most + 1))})
