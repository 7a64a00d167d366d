"""Programs of jobs: what is none is refused, and says why; what is one is not."""

import attrs
import pytest

from tidegate.reference.chaining.chains import Exchange, Partitioner
from tidegate.reference.chaining.job_graph.edges import PartitionNode, SideOutputNode
from tidegate.reference.elements import Long, Watermark
from tidegate.reference.job.programs import (
    Barrier,
    Config,
    Edge,
    Function,
    Operator,
    Record,
    Recovery,
    Rescaled,
    Side,
    Wire,
    make_edge,
    rescale,
)
from tidegate.reference.model import InvalidInputError
from tidegate.reference.watermarks import valve

HASH = Partitioner.HASH
RECORD, BARRIER, MARK = Record("a", Long(1), Long(1)), Barrier(1), Watermark(Long(1))


def refused(message, make, *arguments, **more):
    with pytest.raises(InvalidInputError, match=message):
        make(*arguments, **more)


# --- operators ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "size", "lateness"),
    [
        (Function.MAP, 1, None),
        (Function.MAP, None, 0),
        (Function.MAP, 1, 0),
        (Function.WINDOW, None, None),
        (Function.WINDOW, None, 0),
    ],
)
def test_windows_have_a_size_and_others_have_none(function, size, lateness):
    refused("a window has a size", Operator, 1, "op", function, size=size, lateness=lateness)


@pytest.mark.parametrize("lateness", [None, 0, 1])
def test_a_window_may_have_a_lateness(lateness):
    assert Operator(1, "op", Function.WINDOW, size=1, lateness=lateness).lateness == lateness


def test_no_record_of_a_script_has_an_id():
    script = (BARRIER, RECORD, attrs.evolve(RECORD, id=Long(1)), MARK)
    refused("gets its id when it leaves", Operator, 1, "in", Function.SOURCE, 1, (script,))


@pytest.mark.parametrize("times", [(1, 2, 2), (2, 1, 3), (3, 2), (2**63 - 1,)])
def test_watermarks_of_a_script_increase_and_the_end_has_the_last(times):
    script = tuple(Watermark(Long(time)) for time in times)
    refused("the watermarks of a script increase", Operator, 1, "in", Function.SOURCE, 1, (script,))


def test_what_is_not_said_of_a_program():
    assert Operator(1, "op", Function.MAP).parallelism == 1
    assert make_timed().semantics == valve.SEMANTICS[0]
    assert Edge(1, 2) == Edge(1, 2, None, 0, None)
    assert Wire(1, 0, 1).output == 2
    assert Recovery() == Recovery(unaligned=False, rescaled=())


@pytest.mark.parametrize("bound", [{"parallelism": 0}, {"size": 0}, {"lateness": -1}])
def test_numbers_of_an_operator_have_bounds(bound):
    right = {"parallelism": 1, "size": 1, "lateness": 0}
    assert Operator(1, "op", Function.WINDOW, **right)
    refused(f"{next(iter(bound))} must be", Operator, 1, "op", Function.WINDOW, **right | bound)


@pytest.mark.parametrize("numbers", [(1, 1), (2, 1), (1, 3, 2)])
def test_barriers_of_a_script_increase(numbers):
    script = tuple(map(Barrier, numbers))
    operators = (Operator(1, "in", Function.SOURCE, 1, (script,)), Operator(2, "out", Function.SINK))
    refused("with numbers that increase", Config, operators, (Edge(1, 2),))


def test_an_edge_that_is_one_to_one_joins_as_many():
    operators = (Operator(1, "in", Function.SOURCE, 2, ((), ())), Operator(2, "out", Function.SINK))
    assert Config(operators, (Edge(1, 2),))
    refused("one to one", Config, operators, (Edge(1, 2, Partitioner.FORWARD),))


@pytest.mark.parametrize("wrong", [(0, 0, 1, 1), (1, -1, 1, 1), (1, 0, 0, 1), (1, 0, 1, 0)])
def test_a_wire_has_buffers_of_at_least_a_byte_for_each_side(wrong):
    assert attrs.evolve(make_timed(), wire=Wire(1, 0, 1, 1))
    refused("must be at least", Wire, *wrong)


def test_inputs_are_numbered_from_0():
    assert make_timed().edges[0].input == 0
    refused("input must be from 0 to 1", Edge, 1, 2, None, -1)


def test_nothing_is_rescaled_to_nothing():
    assert make_restored((2, 1), (3, 1))
    refused("parallelism must be at least 1", Rescaled, 1, 0)


# --- operators that know event time -----------------------------------------------------------------------------


def make_timed(function=Function.TIMER, partitioner=HASH, output=None, extension="event_time"):
    """A source, an operator, and a sink for what comes out of it."""
    operators = (
        Operator(1, "in", Function.SOURCE, 1, ((RECORD,),)),
        Operator(2, "op", function),
        Operator(3, "out", Function.SINK),
    )
    return Config(operators, (Edge(1, 2, partitioner), Edge(2, 3, output=output)), extension=extension)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extension": None}, "belong to the extension event_time"),
        ({"partitioner": Partitioner.REBALANCE}, "reads by key"),
        ({"partitioner": None}, "reads by key"),
        ({"function": Function.MAP, "output": Side.LATE}, "has a late output"),
    ],
)
def test_event_time_needs_keys_and_its_extension(changes, message):
    assert make_timed(output=Side.LATE)
    assert make_timed(Function.MAP, None)
    refused(message, make_timed, **changes)


def test_what_is_late_is_read_by_a_side_output_before_it_is_partitioned():
    late, by_key = SideOutputNode(Side.LATE), PartitionNode(HASH, Exchange.UNDEFINED)
    assert make_edge(Edge(1, 2)).via == ()
    assert make_edge(Edge(1, 2, HASH)).via == (by_key,)
    assert make_edge(Edge(1, 2, output=Side.LATE)).via == (late,)
    assert make_edge(Edge(1, 2, HASH, output=Side.LATE)).via == (late, by_key)


# --- recovery ---------------------------------------------------------------------------------------------------


def make_restored(
    *rescaled, scripts=((RECORD, BARRIER),), functions=(Function.SUM, Function.SINK), edges=None, widths=(2, 2), **more
):
    """A source, and two operators behind it: a sum that reads by key, and a sink for its results."""
    operators = (
        Operator(1, "in", Function.SOURCE, len(scripts), scripts),
        *(
            Operator(number, f"op{number}", function, width)
            for number, function, width in zip((2, 3), functions, widths, strict=True)
        ),
    )
    recovery = Recovery(rescaled=tuple(Rescaled(*one) for one in rescaled))
    more = {"extension": "recovery", "recovery": recovery} | more
    return Config(operators, edges or (Edge(1, 2, HASH), Edge(2, 3)), **more)


def test_what_can_be_restored_is_not_refused():
    assert make_restored((2, 3), (3, 3))
    assert make_restored((2, 1), (3, 3), edges=(Edge(1, 2, HASH), Edge(2, 3, HASH)))
    assert make_restored((3, 3), edges=(Edge(1, 2, HASH), Edge(2, 3, HASH)))
    assert make_restored(scripts=((RECORD, BARRIER), (RECORD,)), extension="finished")
    # Nothing is rescaled: the operators may have different numbers of key groups.
    assert make_restored(widths=(2, 200), edges=(Edge(1, 2, HASH), Edge(2, 3, HASH)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"wire": Wire(64, 1, 1)}, "has no wire"),
        ({"functions": (Function.UNION, Function.SINK)}, "none but sources, maps, sums and sinks"),
        ({"edges": (Edge(1, 2), Edge(2, 3))}, "reads by key, and no other sum"),
        ({"edges": (Edge(1, 2), Edge(2, 3, HASH))}, "reads by key, and no other sum"),
        (
            {"functions": (Function.SUM, Function.SUM), "edges": (Edge(1, 2, HASH), Edge(2, 3, HASH))},
            "reads by key, and no other sum",
        ),
        ({"scripts": ((RECORD, BARRIER, Barrier(2)),)}, "has one checkpoint"),
        ({"scripts": ((RECORD,),)}, "has one checkpoint"),
        ({"scripts": ((RECORD,),), "extension": "finished"}, "has one checkpoint"),
        ({"scripts": ((RECORD, BARRIER), (RECORD,))}, "every script has the same barriers"),
        ({"scripts": ((MARK, BARRIER),)}, "scripts of records and barriers"),
        ({"extension": "finished"}, "a script without a barrier"),
        ({"extension": "event_time"}, "recovery belongs to the extensions"),
        ({"recovery": None}, "recovery belongs to the extensions"),
    ],
)
def test_what_cannot_be_restored_is_refused(changes, message):
    refused(message, make_restored, **changes)


@pytest.mark.parametrize(
    ("rescaled", "message"),
    [
        (((1, 1),), "a source is not"),
        (((4, 1),), "a source is not"),
        (((2, 3), (3, 3), (3, 3)), "rescaled once"),
        (((2, 3),), "read by key, and reads by key"),
        (((3, 3),), "read by key, and reads by key"),
        (((2, 3), (3, 4)), "read by key, and reads by key"),
        (((2, 200), (3, 200)), "key groups"),
    ],
)
def test_what_is_rescaled_reads_by_key_and_is_read_so(rescaled, message):
    refused(message, make_restored, *rescaled)


@pytest.mark.parametrize("unaligned", [False, True])
def test_a_program_is_restored_with_other_parallelisms_once(unaligned):
    before = make_restored((2, 3), (3, 3))
    before = attrs.evolve(before, recovery=attrs.evolve(before.recovery, unaligned=unaligned))
    after = rescale(before)
    assert [one.parallelism for one in after.operators] == [1, 3, 3]
    assert after.recovery == Recovery(unaligned=unaligned)
