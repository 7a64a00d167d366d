"""Recovery of whole jobs: exactly-once results under every schedule, and each rule of recovery is needed for them."""

import sys

import attrs
import pytest

from tests.reference.walking import last, refuses, state_after, walk
from tidegate.properties.cases.job import make_restored, make_restored_lines, rec
from tidegate.properties.explorer import schedules
from tidegate.reference.components import COMPONENTS
from tidegate.reference.gate import gate
from tidegate.reference.job import channels, checkpoints, restoring, step, tasks
from tidegate.reference.job.exactly_once import expect_results, is_as_expected
from tidegate.reference.job.programs import Barrier, Config, EndOfData, Function, Record, Recovery, Rescaled, Wire
from tidegate.reference.job.states import Completed, Progress, Snapshot
from tidegate.reference.model import InvalidInputError
from tidegate.reference.rules import all_rules
from tidegate.reference.tuples import replace

JOB = COMPONENTS["job"]
BARRIER = Barrier(1)
FAIL = step.Choice(step.Action.FAIL, 0)


def read(script):
    """`aBb`: a record of the key a, a barrier, a record of the key b; each record has a value of its own."""
    return tuple(BARRIER if letter == "B" else rec(letter, 2**place) for place, letter in enumerate(script))


def make(words, **options):
    """`aBb B`: a source with two scripts. One without a barrier has finished before the checkpoint."""
    return make_restored(*map(read, words.split(" ")), **options)


def find_broken(config):
    """The first claim that is broken under some schedule, if any; the states in which runs end; what was complete."""
    (state,) = step.start(config)
    known, waiting, ends, complete = set(), [state], set(), set()
    while waiting:
        state = waiting.pop()
        stands_for = forget(state)
        found = [] if stands_for in known else find_turns(state)
        known.add(stands_for)
        if not state.progress.restored and state.progress.complete not in complete:
            complete.add(state.progress.complete)
            found = [*found, FAIL]
        elif not step.enabled_turns(state):
            ends.add(state)
        for choice in found:
            (outcome,) = step.step(state, choice)
            if broken := find_broken_claims(state, choice, outcome):
                return broken[0], ends, complete
            waiting.append(outcome.state)
    return None, ends, complete


NOTHING = Snapshot(cursor=0, made=0, totals=(), collected=())
OPEN = attrs.evolve(NOTHING, open=(0,), done=True)


def forget(state):
    """What stands for a state: all that follows, but for a failure, is the same for all that it stands for.

    A failure leaves nothing but the complete checkpoint, so that it is enough to restore each of these once, whenever
    it is first seen; nothing else depends on what it holds. A job that was restored does not fail again: what the parts
    of its checkpoint hold makes no difference either, only which barriers are still to come.
    """
    progress = state.progress
    parts = tuple(map(forget_part, progress.parts)) if progress.restored else progress.parts
    complete = None if progress.complete is None else ()
    return attrs.evolve(state, progress=Progress(parts, complete, progress.restored))


def forget_part(part):
    return part and attrs.evolve(NOTHING, open=part.open, done=part.done, in_flight=((),) * len(part.in_flight))


def find_turns(state):
    return schedules.choose_among(state, step.enabled_turns(state))


def find_broken_claims(state, choice, outcome):
    broken = [one.name for one in JOB.properties if not one.holds(state, choice, outcome)]
    return broken + [one.name for one in JOB.invariants if not one.holds(outcome.state)]


def follow_everything(config):
    """The results of all runs, and the checkpoints that may be complete, without leaving anything out."""
    (state,) = step.start(config)
    known, waiting, ends, complete = {state}, [state], set(), set()
    while waiting:
        state = waiting.pop()
        choices = step.enabled(state)
        if not choices:
            ends.add(state)
        if not state.progress.restored:
            complete.add(state.progress.complete)
        after = {step.step(state, choice)[0].state for choice in choices} - known
        known |= after
        waiting += after
    return ends, complete


# --- every schedule -------------------------------------------------------------------------------------------


@pytest.mark.rule("RST-8", "RST-7", "RST-1", "RST-2", "RST-3")
@pytest.mark.parametrize("after", [1, 2, 3])
def test_results_are_exact_with_an_aligned_checkpoint(after):
    broken, ends, complete = find_broken(make("aBc cBa", after=after))
    assert broken is None
    assert {is_as_expected(step.compute_results(end), expect_results(end.config), end.config) for end in ends} == {True}
    assert len(complete) == 2, "none, and the one that there is"


@pytest.mark.rule("RST-8", "RST-4", "RST-5", "RST-6")
def test_results_are_exact_with_an_unaligned_checkpoint():
    broken, ends, complete = find_broken(make("aB B", after=1, unaligned=True))
    assert broken is None
    assert ends
    in_flight = {any(any(part.in_flight) for part in parts) for parts in complete - {None}}
    assert in_flight == {True, False}


@pytest.mark.rule("RST-8")
@pytest.mark.parametrize("after", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.parametrize("words", ["aB cB", "aBa cB", "aB Bc", "aBc cBa"])
def test_results_are_exact_with_larger_unaligned_checkpoints(words, after):
    broken, ends, complete = find_broken(make(words, after=after, unaligned=True))
    assert broken is None
    assert ends
    assert len(complete) > 2, "records are in flight, or are not"


@pytest.mark.rule("RST-9", "RST-10", "RST-11")
@pytest.mark.parametrize(("words", "after"), [("a cBa", 1), ("a cBa", 2), ("a cBa", 3), ("ac Ba", 2), (" aBc", 2)])
def test_results_are_exact_where_a_source_had_finished(words, after):
    broken, ends, complete = find_broken(make(words, after=after))
    assert broken is None
    assert {is_as_expected(step.compute_results(end), expect_results(end.config), end.config) for end in ends} == {True}
    assert len(complete) == 2, "none, and the one that there is"


@pytest.mark.rule("RST-9", "RST-10", "RST-11", "RST-4")
@pytest.mark.parametrize("words", ["a B", "c aBa"])
def test_results_are_exact_where_barriers_overtake_beside_what_had_finished(words):
    broken, ends, complete = find_broken(make(words, after=1, unaligned=True))
    assert broken is None
    assert ends
    in_flight = {any(any(part.in_flight) for part in parts) for parts in complete - {None}}
    assert in_flight == ({True, False} if "aB" in words else {False})


@pytest.mark.rule("RST-10", "RST-11")
@pytest.mark.parametrize("unaligned", [False, True])
def test_what_a_line_that_had_finished_has_collected_stands(unaligned):
    broken, ends, complete = find_broken(make_restored_lines(read("ab"), read("aBb"), unaligned=unaligned))
    assert broken is None
    assert {end.progress.restored for end in ends} == {True, False}
    assert {part.collected for parts in complete - {None} for part in parts} >= {(("a", 1), ("b", 2))}


@pytest.mark.rule("RST-9")
def test_rst_9_a_barrier_does_not_wait_for_the_end_of_a_source_that_has_one_too():
    """Only what has no barrier must have been read to its end."""
    config = make_restored_lines((), read("B"), read("B"))
    assert last("job", config, "emit4 emit0") == ("rejected", "RST-9")
    finished = "emit4 poll5 poll5 poll5"
    state = state_after("job", config, f"{finished} emit2 poll3 emit2")
    assert EndOfData() in state.channels[1].waiting
    assert step.Choice(step.Action.EMIT, 0) in step.enabled(state)


@pytest.mark.parametrize(("at", "rule"), [(-1, "CREDIT-30"), (1, "RST-9"), (2, "CREDIT-30")])
def test_rst_9_is_about_sources_that_there_are(at, rule):
    """Two sources, each with its sink in one task: the barrier of the last waits for the end of the first."""
    lines = make_restored_lines(read("B"), ())
    config = attrs.evolve(lines, edges=tuple(attrs.evolve(edge, partitioner=None) for edge in lines.edges))
    (before,) = step.start(config)
    assert [place.task.name for place in before.layout.places] == ["in1 -> out1", "in0 -> out0"]
    (outcome,) = step.step(before, step.Choice(step.Action.EMIT, at))
    assert outcome.rules == (rule,)


@pytest.mark.parametrize("words", ["aB B", "B aB", "a B", "a aB"])
def test_fewer_schedules_and_states_show_the_same_ends_and_checkpoints(words):
    """What is left out makes no difference."""
    config = make(words, before=1, after=1, unaligned=True)
    _, few_ends, few_complete = find_broken(config)
    all_ends, all_complete = follow_everything(config)
    assert few_complete == all_complete
    assert set(map(step.compute_results, few_ends)) == set(map(step.compute_results, all_ends))
    assert {end.progress.restored for end in few_ends} == {True, False}


# --- each rule is needed --------------------------------------------------------------------------------------


def sources_begin_anew(right):
    return lambda *args, **named: {**right(*args, **named), **({"cursor": 0} if named["is_source"] else {})}


def ids_begin_anew(right):
    return lambda *args, **named: {**right(*args, **named), "made": 0}


def nothing(_right):
    return lambda *_args: ()


def stays_with_its_number(_right):
    return lambda place, parts: dict(parts)[place.number].totals if place.number in dict(parts) else ()


def given_to_all(_right):
    return lambda _place, parts: tuple(sorted(total for _number, part in parts for total in part.totals))


def all_that_waits(_right):
    return lambda channel, _is_met: tuple(one for one in channel.waiting if isinstance(one, Record))


def unchanged(_right):
    return lambda turn, *_args: turn


def never_closed(right):
    def save(turn, number, payload):
        return right(turn, number, payload) if isinstance(payload, Record) else turn

    return save


def stays_in_line(_right):
    def arrive_in_line(turn, number, barrier):
        route = turn.layout.routes[number]
        turn = checkpoints.save_arrival(turn, number, barrier)
        (outcome,) = gate.step(turn.subtask(route.target).gate, gate.Arrive(route.place, gate.Item.DATA))
        turn = turn.with_channel(number, waiting=(*turn.channel(number).waiting, barrier))
        return turn.with_subtask(route.target, gate=outcome.state)

    return arrive_in_line


def backwards(right):
    return lambda *args: reversed(list(right(*args)))


def always(_right):
    return lambda *_args: True


def same_number(_right):
    return lambda old, route: (old.producer, old.consumer) == (route.producer, route.consumer)


def complete_at_once(_right):
    def finish(turn, subtask, checkpoint):
        del subtask
        empty = Snapshot(0, 0, (), ())
        parts = tuple(part or empty for part in turn.state.progress.parts)
        done = Progress((None,) * len(parts), parts, turn.state.progress.restored)
        return turn.with_progress(done).observe(Completed(checkpoint))

    return finish


def forgets_its_checkpoint(right):
    return lambda fresh, before, _parts, checkpoint: right(fresh, before, None, checkpoint)


def twice_in_a_restored_job(right):
    """Every record counts twice behind a failure; everything that was saved is restored as it should be."""

    def run_operator(turn, subtask, number, record):
        is_sum = turn.layout.operators[number].function is Function.SUM
        turn = right(turn, subtask, number, record)
        return right(turn, subtask, number, record) if is_sum and turn.state.progress.restored else turn

    return run_operator


def not_in_a_restored_job(right):
    """Behind a failure nothing is collected any more."""

    def run_operator(turn, subtask, number, record):
        is_sink = turn.layout.operators[number].function is Function.SINK
        progress = turn.state.progress
        return turn if is_sink and progress and progress.restored else right(turn, subtask, number, record)

    return run_operator


def of_the_first_channel(right):
    """An aligned task takes its part with the first barrier."""

    def on_barrier(turn, route, barrier):
        if turn.state.progress is None:
            return right(turn, route, barrier)
        if not turn.subtask(route.target).aligned and len(turn.layout.places[route.target].channels) > 1:
            turn = checkpoints.take_part(turn, route.target)
            kept = turn.state.progress.parts[route.target]
            after = right(turn, route, barrier)
            return after if after.state.progress.complete else checkpoints.with_part(after, route.target, kept)
        parts = turn.state.progress.parts[route.target]
        after = right(turn, route, barrier)
        if parts is None or after.state.progress.complete is None:
            return after
        complete = list(after.state.progress.complete)
        complete[route.target] = attrs.evolve(parts, done=True)
        return after.with_progress(attrs.evolve(after.state.progress, complete=tuple(complete)))

    return on_barrier


def takes_no_part(right):
    return lambda *args: attrs.evolve(right(*args), done=False)


def stands_for_nothing(right):
    """The end of a channel does not count for the checkpoint that is under way."""

    def on_end_of_partition(turn, route):
        met = turn.subtask(route.target).aligned
        after = right(turn.with_subtask(route.target, aligned=()), route)
        return after.with_subtask(route.target, aligned=met)

    return on_end_of_partition


def says_nothing(right):
    """A source that had finished is over, and does not send its end."""

    def restore_subtask(place, parts, length, *, is_source):
        restored = right(place, parts, length, is_source=is_source)
        return {**restored, "cursor": dict(parts)[place.number].cursor} if is_source else restored

    return restore_subtask


ALIGNED, UNALIGNED, IN_ORDER = ("aBc cBa", 1, False), ("aB B", 1, True), ("aaB", 1, True)
BEHIND, MORE, FEWER = ("Ba", 1, True), ("cB", 3, True), ("acB", 1, True)
#: The rule, who breaks it and how, and a job that shows it.
FAULTS = [
    ("RST-1", restoring, "restore_subtask", sources_begin_anew, ALIGNED),
    ("RST-1", restoring, "restore_subtask", ids_begin_anew, ("aBa", 1, True)),
    ("RST-2", restoring, "restore_totals", nothing, ALIGNED),
    ("RST-2", restoring, "restore_collected", nothing, ALIGNED),
    ("RST-2", tasks, "on_barrier", of_the_first_channel, ("aB aB", 1, False)),
    ("RST-3", restoring, "restore_totals", stays_with_its_number, ALIGNED),
    ("RST-3", restoring, "restore_totals", given_to_all, ("aB", 3, False)),
    ("RST-4", checkpoints, "find_in_flight", nothing, UNALIGNED),
    ("RST-4", checkpoints, "find_in_flight", all_that_waits, BEHIND),
    ("RST-4", channels, "save_arrival", unchanged, ("B aB", 1, True)),
    ("RST-4", checkpoints, "save_arrival", never_closed, ("B Ba", 1, True)),
    ("RST-4", channels, "overtake", stays_in_line, ("aB B", 1, True)),
    ("RST-5", restoring, "find_restored", nothing, UNALIGNED),
    ("RST-5", restoring, "find_restored", backwards, IN_ORDER),
    ("RST-6", restoring, "is_wanted", always, MORE),
    ("RST-6", restoring, "is_heir", same_number, MORE),
    ("RST-6", restoring, "is_heir", same_number, FEWER),
    ("RST-7", tasks, "finish_part", complete_at_once, ALIGNED),
    ("RST-7", step, "restore", forgets_its_checkpoint, ALIGNED),
    ("RST-8", tasks, "run_operator", twice_in_a_restored_job, ALIGNED),
    ("RST-8", tasks, "run_operator", not_in_a_restored_job, UNALIGNED),
    ("RST-9", step, "may_begin", always, ("a aB", 1, False)),
    ("RST-9", step, "may_begin", always, ("a B", 1, True)),
    ("RST-10", tasks, "find_ended", nothing, ("a aB", 1, False)),
    ("RST-10", checkpoints, "take_last", takes_no_part, ("a aB", 1, False)),
    ("RST-10", tasks, "on_end_of_partition", stands_for_nothing, ("a B", 1, True)),
    ("RST-11", restoring, "restore_subtask", sources_begin_anew, ("a Ba", 1, False)),
    ("RST-11", restoring, "restore_subtask", says_nothing, ("a Ba", 1, False)),
]


@pytest.mark.parametrize(
    ("rule", "module", "function", "break_it", "job"),
    FAULTS,
    ids=[f"{rule}-{function}-{break_it.__name__}" for rule, _module, function, break_it, _job in FAULTS],
)
def test_a_rule_of_recovery_that_is_removed_is_found(monkeypatch, rule, module, function, break_it, job):
    words, after, unaligned = job
    monkeypatch.setattr(module, function, break_it(getattr(module, function)))
    broken, _ends, _complete = find_broken(make(words, after=after, unaligned=unaligned))
    assert broken is not None, f"nobody notices that {rule} is broken"


def test_every_rule_of_recovery_is_removed_once():
    assert {rule for rule, *_ in FAULTS} == {rule for rule in all_rules() if rule.startswith("RST-")}


def test_nobody_else_notices_that_results_are_not_exact(monkeypatch):
    """RST-8 says more than the rules that it follows from: without its claim such a job would pass."""
    monkeypatch.setattr(tasks, "run_operator", twice_in_a_restored_job(tasks.run_operator))
    claims = [one for one in JOB.claims if "RST-8" not in one.rules]
    monkeypatch.setattr(sys.modules[__name__], "JOB", attrs.evolve(JOB, claims=tuple(claims)))
    assert find_broken(make("aBc cBa", after=1))[0] is None


# --- claims ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("collected", "totals", "with_sum", "without"),
    [
        ((("a", 3),), ((2, "a", 3),), True, True),
        ((("a", 1),), ((2, "a", 3),), True, False),
        ((("a", 1), ("a", 3)), ((2, "a", 3),), False, False),
        ((("b", 3),), ((2, "a", 3),), False, False),
        ((("a", 3),), ((2, "a", 1),), False, False),
    ],
)
def test_what_a_sum_emits_on_the_way_depends_on_the_order(collected, totals, with_sum, without):
    """All else must be as expected."""
    expected = step.Results((("a", 3),), ((2, "a", 3),))
    summing = make("aB")
    passing = attrs.evolve(
        summing,
        operators=tuple(
            attrs.evolve(one, function=Function.MAP) if one.function is Function.SUM else one
            for one in summing.operators
        ),
    )
    results = step.Results(collected, totals)
    assert [is_as_expected(results, expected, config) for config in (summing, passing)] == [with_sum, without]


def test_a_restore_from_another_checkpoint_than_the_complete_one_is_refused():
    begun = "emit0 emit0 poll2 poll2"
    for trace, right, wrong in ((begun, None, 1), (f"{begun} poll1", 1, None)):
        before = state_after("job", make("aB"), trace)
        (outcome,) = step.step(before, FAIL)
        assert outcome.observations[0].checkpoint == right
        other = attrs.evolve(outcome, observations=(attrs.evolve(outcome.observations[0], checkpoint=wrong),))
        assert refuses("job", "restored-from-what-is-complete", before, FAIL, other)


@pytest.mark.parametrize("spoil", [lambda parts: parts[:-1], lambda parts: (*parts[:-1], OPEN)])
def test_a_checkpoint_that_lacks_something_is_not_complete(spoil):
    *_, before, outcome = walk("job", make("aB"), "emit0 emit0 poll2 poll2 poll1")
    assert Completed(1) in outcome.observations
    progress = outcome.state.progress
    spoilt = attrs.evolve(outcome.state, progress=attrs.evolve(progress, complete=spoil(progress.complete)))
    choice = step.Choice(step.Action.POLL, 1)
    assert not refuses("job", "complete-parts-are-closed", before.state, choice, outcome)
    assert refuses("job", "complete-parts-are-closed", before.state, choice, attrs.evolve(outcome, state=spoilt))


@pytest.mark.parametrize(("swapped", "is_refused"), [(0, True), (1, False)])
def test_the_order_of_the_channel_that_is_read_counts(swapped, is_refused):
    """What waits in another one comes out of order when that is read, and not before."""
    before = state_after("job", make("aaB aaB", before=1, after=1), "emit0 emit0 emit1 emit1")
    assert before.subtasks[2].gate.queue == (0, 1)
    first, second = before.channels[swapped].waiting
    channel = attrs.evolve(before.channels[swapped], waiting=(second, first))
    spoilt = attrs.evolve(before, channels=replace(before.channels, swapped, channel))
    choice = step.Choice(step.Action.POLL, 2)
    (outcome,) = step.step(spoilt, choice)
    assert refuses("job", "records-keep-their-order", spoilt, choice, outcome) is is_refused


def test_a_checkpoint_that_has_all_parts_is_not_pending():
    """What has finished takes no part, so that none is missing without it."""
    state = state_after("job", make_restored_lines((), read("B")), "emit2 poll3 poll3 poll3 emit0")
    source, sink = 0, 1
    assert [part is not None for part in state.progress.parts] == [True, False, False, False]
    assert not refuses("job", "no-checkpoint-waits-for-nobody", state)
    parts = replace(state.progress.parts, sink, state.progress.parts[source])
    spoilt = attrs.evolve(state, progress=attrs.evolve(state.progress, parts=parts))
    assert refuses("job", "no-checkpoint-waits-for-nobody", spoilt)


# --- rules ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("unaligned", "rule"), [(False, "RST-2"), (True, "RST-4")])
def test_a_part_is_named_by_what_it_holds(unaligned, rule):
    """Of an unaligned task, also what was overtaken."""
    outcomes = walk("job", make("aB", unaligned=unaligned), "emit0 emit0 " + ("poll2" if unaligned else "poll2 poll2"))
    assert {"RST-2", "RST-4"} & {*outcomes[-1].rules} == {rule}


@pytest.mark.parametrize(
    ("after", "unaligned", "rules"), [(2, False, ""), (2, True, "RST-5"), (1, False, "RST-3"), (1, True, "RST-3 RST-6")]
)
def test_a_restore_is_named_by_what_it_does(after, unaligned, rules):
    polls = "poll2 poll1" if unaligned else "poll2 poll2 poll1"
    outcome = walk("job", make("aB", after=after, unaligned=unaligned), f"emit0 emit0 {polls} fail0")[-1]
    assert {"RST-3", "RST-5", "RST-6"} & {*outcome.rules} == {*rules.split()}


# --- what can be restored -------------------------------------------------------------------------------------


@pytest.mark.rule("RST-7")
@pytest.mark.parametrize(("trace", "may_fail"), [("", True), ("emit0 emit0", True), ("fail0", False)])
def test_a_failure_is_among_the_choices_until_it_has_come(trace, may_fail):
    state = state_after("job", make("aB"), trace)
    choices = step.enabled(state)
    assert (FAIL in choices) is may_fail
    assert {*choices} - {FAIL} == {*step.enabled_turns(state)}


@pytest.mark.rule("RST-7")
def test_a_job_that_is_done_does_not_fail():
    trace = "emit0 emit0 " + "poll1 poll2 " * 4 + "fail0"
    config = {
        "extension": "recovery",
        "recovery": {},
        "operators": [
            {"id": 1, "name": "in", "function": "source", "scripts": [[{"type": "barrier", "checkpoint": 1}]]},
            {"id": 2, "name": "out", "function": "sink", "parallelism": 2},
        ],
        "edges": [{"source": 1, "target": 2, "partitioner": "hash"}],
    }
    assert last("job", config, trace) == ("rejected", "RST-7")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extension": None}, "belongs to the extension"),
        ({"extension": "finished"}, "some source has a script without a barrier"),
        ({"recovery": None}, "belongs to the extension"),
        ({"wire": Wire(64, 1, 1)}, "has no wire"),
        ({"recovery": Recovery(rescaled=(Rescaled(1, 2),))}, "a source is not"),
        ({"recovery": Recovery(rescaled=(Rescaled(2, 1), Rescaled(2, 1)))}, "rescaled once"),
        ({"recovery": Recovery(rescaled=(Rescaled(2, 1),))}, "read by key"),
        ({"recovery": Recovery(rescaled=(Rescaled(2, 100), Rescaled(3, 100)))}, "key groups"),
    ],
)
def test_what_cannot_be_restored_is_no_input(changes, message):
    config = make("aB")
    given = {field.name: getattr(config, field.name) for field in attrs.fields(Config)}
    with pytest.raises(InvalidInputError, match=message):
        Config(**{**given, **changes})


@pytest.mark.parametrize("words", ["a", "aBB"])
def test_there_is_one_checkpoint(words):
    with pytest.raises(InvalidInputError):
        make(words)


def test_fail_belongs_to_the_extension():
    (state,) = step.start(attrs.evolve(make("aB"), extension=None, recovery=None))
    with pytest.raises(InvalidInputError, match="fail belongs to the extension recovery"):
        step.step(state, step.Choice(step.Action.FAIL, 0))
