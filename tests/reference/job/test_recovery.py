"""Recovery of whole jobs: exactly-once results under every schedule, and each rule of recovery is needed for them."""

import sys

import attrs
import pytest

from tests.reference.walking import last
from tidegate.properties.cases.job.scopes import make_restored, rec
from tidegate.properties.explorer import schedules
from tidegate.reference.components import COMPONENTS
from tidegate.reference.gate import gate
from tidegate.reference.job import channels, checkpoints, restoring, step, tasks
from tidegate.reference.job.exactly_once import expect_results, is_as_expected
from tidegate.reference.job.programs import Barrier, Config, Function, Recovery, Rescaled, Wire
from tidegate.reference.job.states import Completed, Progress, Snapshot
from tidegate.reference.model import InvalidInputError
from tidegate.reference.rules import all_rules

JOB = COMPONENTS["job"]
BARRIER = Barrier(1)
FAIL = step.Choice(step.Action.FAIL, 0)


def read(script):
    """`aBb`: a record of the key a, a barrier, a record of the key b; each record has a value of its own."""
    return tuple(BARRIER if letter == "B" else rec(letter, 2**place) for place, letter in enumerate(script))


def make(words, **options):
    """`aBb B`: a source with two scripts."""
    return make_restored(*map(read, words.split()), **options)


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


@pytest.mark.parametrize("words", ["aB B", "B aB"])
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
    return lambda channel, _is_met: tuple(one for one in channel.waiting if not isinstance(one, Barrier))


def unchanged(_right):
    return lambda turn, *_args: turn


def never_closed(right):
    def save(turn, number, payload):
        return turn if isinstance(payload, Barrier) else right(turn, number, payload)

    return save


def stays_in_line(_right):
    def arrive_in_line(turn, number, barrier):
        route = turn.layout.routes[number]
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


# --- what can be restored -------------------------------------------------------------------------------------


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
