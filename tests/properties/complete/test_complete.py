"""Complete suites: the theorem holds, on machines that are tried out one by one and on wrong engines."""

import re
from itertools import pairwise, product
from random import Random

import attrs
import pytest

from tests.sampling import some
from tidegate.conformance.engines.museum.catalog import all_mutants
from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.judging.expected import expect
from tidegate.conformance.judging.suite import Planned
from tidegate.conformance.judging.trial import Encoder, Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.cases.gate import make_scope as make_gate_scope
from tidegate.properties.cases.valve import make_scope as make_valve_scope
from tidegate.properties.complete.cover import EACH_STATE, Cover
from tidegate.properties.complete.identifiers import classify
from tidegate.properties.complete.mealy import Machine, NotDeterministicError
from tidegate.properties.complete.suite import build
from tidegate.properties.drawing.scopes import small
from tidegate.reference.model import Component, Outcome
from tidegate.traces.codec import encode

# --- machines made by hand --------------------------------------------------------------------------------------


def make_machine(table, alphabet="ab", expand=lambda _state: True):
    """A machine from `{(state, event): (target, answer)}`; it starts in state 0."""

    def step(state, event):
        target, answer = table[state, event]
        return (Outcome(target, (answer,), ()),)

    component = Component(
        name="table", title="", config=int, events=(), observations=(), start=lambda _config: (0,), step=step
    )
    return Machine(component, 0, lambda _state: alphabet, expand)


def play(table, word):
    state, answers = 0, []
    for event in word:
        state, answer = table[state, event]
        answers.append(answer)
    return answers


def words_of(cover):
    return ["".join(cover.machine.events[event] for event in word) for word in cover.words()]


def passes(table, reference, words):
    return all(play(table, word) == play(reference, word) for word in words)


def is_equivalent(table, reference):
    """Walks both together."""
    reached, queue = {(0, 0)}, [(0, 0)]
    for one, other in queue:
        for event in "ab":
            (target, answer), (other_target, other_answer) = table[one, event], reference[other, event]
            if answer != other_answer:
                return False
            if (target, other_target) not in reached:
                reached.add((target, other_target))
                queue.append((target, other_target))
    return True


def all_machines(states):
    """Every machine with so many states, two events and two answers."""
    places = list(product(range(states), "ab"))
    for rows in product(product(range(states), "xy"), repeat=len(places)):
        yield dict(zip(places, rows, strict=True))


#: `a` moves on and back, `b` tells where we are.
TOGGLE = {(0, "a"): (1, "x"), (0, "b"): (0, "x"), (1, "a"): (0, "x"), (1, "b"): (1, "y")}


def test_minimises_a_textbook_machine():
    """Parity of the number of `a`, told by `b`, with both states in two copies and one that is never reached."""
    table = {
        (0, "a"): (1, "x"),
        (1, "a"): (2, "x"),
        (2, "a"): (3, "x"),
        (3, "a"): (0, "x"),
        (4, "a"): (4, "y"),
        **{(state, "b"): (state, "xyxyx"[state]) for state in range(5)},
    }
    machine = make_machine(table)
    classes = classify(machine)
    assert len(machine.core) == 4
    assert classes.of[0] == classes.of[2] != classes.of[1] == classes.of[3]


def test_tells_states_apart_that_differ_late():
    """Only after three `a` do the states of a chain differ."""
    table = {(state, "a"): ((state + 1) % 5, "y" if state == 4 else "x") for state in range(5)}
    table |= {(state, "b"): (0, "x") for state in range(5)}
    classes = classify(make_machine(table))
    assert len(classes.first) == 5
    assert max(len(word) for words in classes.identifiers for word in words) == 4


@pytest.mark.parametrize("extra_states", [0, 1])
def test_kills_every_machine_within_its_bound(extra_states):
    """All 256 machines of two states, all 46,656 of three: who passes is equivalent."""
    words = words_of(Cover(make_machine(TOGGLE), extra_states))
    survivors = [table for table in all_machines(2 + extra_states) if passes(table, TOGGLE, words)]
    assert survivors
    assert all(is_equivalent(table, TOGGLE) for table in survivors)


def test_one_state_more_may_escape_until_it_is_allowed_for():
    suites = [words_of(Cover(make_machine(TOGGLE), extra_states)) for extra_states in (0, 1)]
    wrong = [table for table in all_machines(3) if not is_equivalent(table, TOGGLE)]
    escaped = [table for table in wrong if passes(table, TOGGLE, suites[0])]
    assert escaped
    assert not [table for table in escaped if passes(table, TOGGLE, suites[1])]


def test_beyond_the_cap_only_the_answer_counts():
    counter = {(state, "a"): (state + 1, "x") for state in range(9)}
    counter |= {(state, "b"): (state, str(state)) for state in range(9)}
    machine = make_machine(counter, expand=lambda state: state <= 2)
    assert [machine.states[state] for state in machine.core] == [0, 1, 2]
    assert words_of(Cover(machine)) == ["aaa", "aabb", "abb", "bb"]


def test_states_that_differ_beyond_the_cap_are_told_apart():
    """Both 1 and 2 lead out of the cap, to 3 and 4, and only what follows there shows which it was."""
    table = {
        (0, "a"): (1, "x"),
        (0, "b"): (2, "x"),
        (1, "a"): (3, "x"),
        (1, "b"): (0, "y"),
        (2, "a"): (4, "x"),
        (2, "b"): (0, "y"),
        (3, "a"): (5, "x"),
        (3, "b"): (3, "x"),
        (4, "a"): (6, "x"),
        (4, "b"): (4, "x"),
        (5, "a"): (5, "x"),
        (5, "b"): (5, "x"),
        (6, "a"): (6, "x"),
        (6, "b"): (6, "y"),
    }
    classes = classify(make_machine(table, expand=lambda state: state <= 2))
    assert len(classes.first) == 3
    assert max(len(word) for words in classes.identifiers for word in words) == 3


def test_an_answer_may_be_free_but_the_next_state_may_not():
    def step(_state, event):
        return (Outcome(0, (event,), ()), Outcome(1 if event == "b" else 0, ("z",), ()))

    component = Component(
        name="free", title="", config=int, events=(), observations=(), start=lambda _config: (0,), step=step
    )
    assert Machine(component, 0, lambda _state: "a").core == [0]
    with pytest.raises(NotDeterministicError):
        Machine(component, 0, lambda _state: "ab")


# --- suites of components ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def valve_suite():
    return build(small("valve")[0])


@pytest.fixture(scope="module")
def valve_cover():
    scope = make_valve_scope(3, 2, "flink-7728", every=1)
    (start,) = scope.starts(scope.configs[0])
    return Cover(Machine(scope.model, start, lambda state: scope.alphabet(scope.configs[0], state)))


def test_valve_has_the_size_that_was_measured(valve_suite):
    assert (valve_suite.states, valve_suite.classes) == (378, 234)
    assert 10_000 < len(valve_suite.cases) < 30_000
    assert valve_suite.events == sum(len(case.events) for case in valve_suite.cases)


def test_identifiers_are_harmonised(valve_cover):
    """Any two classes have a word in common, a prefix of one of their identifiers, that tells them apart."""
    machine, classes = valve_cover.machine, valve_cover.classes

    def answers(state, word):
        said = []
        for event in word:
            state, answer = machine.row(state)[event]
            said.append(answer)
        return said

    beginnings = [{word[:end] for word in words for end in range(1, len(word) + 1)} for words in classes.identifiers]
    for number, other in product(range(0, len(classes.first), 7), range(len(classes.first))):
        if number != other:
            one, two = classes.first[number], classes.first[other]
            assert any(answers(one, word) != answers(two, word) for word in beginnings[number] & beginnings[other])


def test_no_case_begins_another(valve_cover):
    words = sorted(valve_cover.words())
    assert not [pair for pair in pairwise(words) if pair[1][: len(pair[0])] == pair[0]]


def test_cases_are_the_same_each_time():
    scope = make_valve_scope(2, 2, "flink-7728", every=3)
    first, second = build(scope), build(scope)
    assert list(first.cases) == list(first.cases) == list(second.cases)
    assert len(first.cases) == len(list(first.cases))
    names = [case.name for case in first.cases]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"valve-complete-2x2-\d{5}(-extremes|-around-2-(31|53))?", name) for name in names)


def test_covers_every_transition_of_every_state():
    scope = make_gate_scope(2, 2, EACH_STATE)
    suite = build(scope)
    played = set()
    for case in suite.cases:
        (state,) = scope.model.start(case.config)
        for event in case.events:
            played.add((state, event))
            state = scope.model.step(state, event)[0].state
    covered = {state for state, _event in played if scope.expand(state)}
    assert len(covered) == suite.states == 400
    assert all((state, event) in played for state in covered for event in scope.alphabet(scope.configs[0], state))


def test_other_timestamps_show_the_same_in_other_numbers():
    scope = make_valve_scope(2, 2, "flink-7728", every=1)
    cases = {case.name: case for case in build(scope).cases}
    numbers = {1: 2**53, 2: 2**53 + 1}
    for name, case in list(cases.items())[::40]:
        if re.search(r"\d{5}$", name) and f"{name}-around-2-53" in cases:
            steps, _rules = expect(case)
            renamed = tuple(
                tuple(
                    attrs.evolve(seen, timestamp=numbers[seen.timestamp]) if hasattr(seen, "timestamp") else seen
                    for seen in step
                )
                for step in steps
            )
            assert expect(cases[f"{name}-around-2-53"])[0] == renamed


def test_the_claim_is_exact(valve_suite):
    claim = valve_suite.claim
    for words in ("3 channels, 2 timestamps, flink-7728", "378 states", "at most 234 states", "1 case in 29"):
        assert words in claim
    assert "at most 236 states" in build(small("valve")[0], extra_states=2).claim
    capped = build(make_gate_scope(1, 2)).claim
    assert "at most 2 items waiting" in capped
    assert "not identified" in capped
    assert "equivalent" not in build(small("valve")[2]).claim


# --- wrong engines ----------------------------------------------------------------------------------------------

#: What no scope of the default run can show, and what it would take.
OUT_OF_SCOPE = {
    "channel-state-events-saved": "events that wait with the data",
    "channel-state-event-ends-saving": "events that wait with the data",
    "channel-state-minus-one-is-the-last": "a barrier at the first number of all",
    "barriers-delay-below-zero": "checkpoints that were created in the future",
    "inputs-ends-wait-for-selection": "inputs that end while others are selected",
    "job-graph-hybrids-kept-apart": "hybrid results that are shared",
    "job-graph-shared-stays-selective": "hybrid results that are shared",
    "job-graph-hybrid-in-own-slots": "slot sharing groups beside hybrid results",
    "job-graph-unasked-stays-forward": "dynamic graphs",
    "job-graph-any-forward-becomes-rescale": "dynamic graphs",
    "handed-over-one-barrier-per-notice": "two barriers at a time",
    "rescaling-sent-by-its-number": "three producers",
    "virtual-channels-groups-are-subtasks": "keys whose groups make a difference",
    "virtual-channels-lowest-is-a-watermark": "the lowest timestamp",
    "latency-markers-goes-on-when-closed": "time behind a close, where a source is like one that wants no markers",
    "receiving-connection-last-is-heard-first": "two channels on a connection",
    "receiving-connection-stops-at-a-released-one": "two channels on a connection",
    "valve-flush-in-four-lanes": "five channels",
    "valve-corrected-by-default": "a config that names no semantics",
    "valve-four-channel-mask": "five channels",
    "valve-257-channels-told-apart": "more than 257 channels",
    "valve-256-channels-count": "more than 256 channels",
    "statuses-257-channels-told-apart": "more than 257 channels",
    "generalized-table-of-257": "more than 257 channels",
    "input-1024-channels-told-apart": "more than 1,024 channels",
    "vertex-settings-64-are-asked": "65 operators",
    "wiring-256-consumers-read": "more than 256 consumers",
    "partition-broadcast-goes-on-behind-a-flush": "a flush between two broadcasts",
    "priority-channels-counted-in-a-byte": "256 channels with priority",
    "chaining-255-children": "more than 255 children",
    "chaining-inputs-counted-in-a-byte": "more than 256 inputs",
    "inputs-selection-of-eight": "nine inputs",
    "inputs-selection-in-32-bits": "33 inputs",
    "subpartition-numbers-in-two-bytes": "more than 32768 items",
    "subpartition-offset-in-two-bytes": "more than 65536 bytes in a buffer",
    "loop-resume-overtakes-credit": "two words under way to a sender",
    "loop-backlog-in-a-byte": "more than 256 buffers",
    "barriers-delay-in-32-bits": "times beyond 32 bits",
    "chaining-eight-sources": "nine sources",
    "combiner-flushes-the-first-eight": "nine inputs",
    "multiplexer-eight-decide": "nine outputs",
    "union-eight-members-finish": "nine members",
    "writer-eight-readers-decide": "nine channels",
    "connection-credit-in-a-byte": "256 credits",
    "sender-announces-in-a-byte": "a backlog of 256",
    "receiver-exclusive-in-a-byte": "256 exclusive buffers",
    "mailbox-handles-in-a-byte": "256 handles",
    "partitioner-string-hash-of-256": "keys of more than 256 characters",
    "outputs-tags-stripped": "tags with blanks around them",
    "channels-asks-on-behind-an-old-failure": "a channel behind one that has failed",
    "receiver-released-gets-its-own-back": "a buffer that is recycled behind the release",
    "multiplexer-every-advance-derives": "an advance below the combined watermark",
    "task-checkpoint-before-the-end-counts": "a checkpoint before the end, and another behind it",
    "writer-queued-counts-shared-bytes-once": "a measure of two channels",
    "writer-queued-is-that-of-all": "a measure of two channels",
    "partitioner-shuffle-always-first": "many records of a shuffle",
    "partitioner-shuffle-never-last": "many records of a shuffle",
    "partitioner-shuffle-takes-turns": "many records of a shuffle",
    "partitioner-turn-in-8-bits": "more than 256 channels",
    "partitioner-turn-in-16-bits": "more than 32768 channels",
    "partitioner-counts-in-16-bits": "more than 32768 records",
    "partitioner-counts-in-two-bytes": "more than 65536 records",
    "idleness-records-in-a-byte": "256 records between two checks",
    "pools-free-in-two-bytes": "more than 65536 segments",
    "pools-requirements-in-a-byte": "more than 256 segments",
    "source-ids-in-two-bytes": "ids beyond 65536",
    "alignment-samples-in-a-byte": "256 samples",
    "group-numbers-in-a-byte": "numbers of groups beyond 256",
    "partitioner-rebalance-drifts": "a counter of 32 states",
    "gate-queued-in-four-lanes": "five channels",
    "sender-sequence-in-5-bits": "more than 32 messages",
    "alignment-resume-before-pause": "two splits",
    "pools-one-is-woken-at-a-time": "three pools",
    "buffer-copy-believes-like-its-original": "two consumers",
    "buffer-copy-starts-over": "two consumers",
    "buffer-copy-skips-to-the-end": "two consumers",
    "buffer-readers-share-a-position": "two consumers",
    "buffer-first-consumer-frees": "two consumers",
    "priority-numbers-never-wrap": "numbers near the ends of 32 bits",
    "priority-first-notice-always-heeded": "numbers beyond half of 32 bits",
    "tracker-never-forgets": "51 checkpoints pending",
    "tracker-forgets-early": "50 checkpoints pending",
    "tracker-drops-the-newest": "51 checkpoints pending",
    "blocking-append-overwrites": "two bytes in an open buffer",
    "blocking-view-goes-on-where-another-was": "two views",
    "blocking-views-share-a-place": "two views",
    "blocking-numbers-go-on-across-views": "two views",
    "blocking-first-to-leave-deletes": "two views",
    "partition-first-listener-told-alone": "two subpartitions that are waited for",
    "partition-data-ends-for-the-first": "a reader of the second subpartition",
    "partition-first-reader-counts-for-all": "two subpartitions, one of them left",
    "partition-left-twice-counts-twice": "two subpartitions, one of them left",
    "partition-blocking-flush-finishes-nothing": "two buffers in a subpartition",
    "partition-first-is-flushed-alone": "a reader of the second subpartition",
    "partition-broadcast-kept-by-the-first": "a reader of the second subpartition",
    "exchange-pipelined-read-by-two": "two consumers",
    "exchange-next-may-follow": "two consumers",
    "exchange-blocking-read-once": "two consumers",
    "exchange-next-goes-on-where-another-was": "two consumers",
    "exchange-readers-share-a-place": "two consumers",
    "exchange-hybrid-read-once": "two consumers",
    "exchange-selective-read-again": "two consumers",
    "inputs-barrier-forgets-the-cut-record": "a barrier behind a part of a record",
    "inputs-statuses-pass-the-valve-by": "statuses",
    "inputs-over-is-no-end-of-data": "both ends, of data and of partitions",
    "channels-events-kept-backwards": "two task events held back",
    "channels-first-found-gets-the-events": "two channels",
    "channels-event-goes-to-the-first": "two channels",
    "channels-delays-pass-the-maximum": "a maximum that doubling passes",
    "channels-gives-up-below-the-maximum": "a maximum that doubling passes",
    "channels-asks-once-more": "a timeout that divides twice the maximum",
    "channels-asks-for-ever-without-timeout": "a timeout of zero",
    "channels-empty-buffer-ends-the-read": "two items waiting",
    "channels-more-looks-through": "two items waiting",
    "job-valves-swapped": "inputs with different numbers of channels",
    "job-channels-share-a-deserializer": "two channels with records that span buffers",
    "job-only-sources-stop": "three tasks on a wire",
    "job-only-the-first-output-stops": "two outputs on a wire",
    "job-backpressure-by-events": "two barriers on a wire",
    "writer-flush-reaches-the-first": "two channels without a flush after each record",
    "writer-zero-asks-for-the-least": "a reader that asks for a size of 0",
    "writer-largest-hint-decides": "two readers that ask for sizes",
    "writer-first-reader-decides": "two readers that ask for sizes",
    "writer-zero-left-out-of-the-smallest": "two readers that ask for sizes",
    "writer-timer-forgets-the-rest": "more time at once than the time-out",
    "writer-dead-flusher-flushes": "a flusher that fails",
    "writer-counter-reset-before-compared": "a flusher that fails",
    "writer-failure-one-emit-late": "a flusher that fails",
    "writer-failure-surfaces-once": "a flusher that fails",
    "writer-failed-emit-writes": "a flusher that fails",
    "writer-fails-twice": "a flusher that fails",
    "writer-fail-after-the-end": "a flusher that fails",
    "writer-marker-frees-the-shared-memory": "two channels without a flush after each record",
    "connection-credit-for-the-first": "two readers with credit",
    "connection-credit-for-everybody": "two readers with credit",
    "connection-barrier-blocks-the-connection": "two readers with barriers",
    "loop-barriers-take-buffers": "data behind a barrier that waits",
    "loop-pool-shared-by-producers": "data on two channels",
    "loop-sender-events-cost-credit": "a barrier, and credit for what follows it",
    "loop-sender-credit-replaces": "two credit messages",
    "loop-sender-announces-from-write-loop": "three data buffers",
    "loop-sender-resume-keeps-credit": "credit left over at a barrier",
    "loop-receiver-announces-one-by-one": "two floating buffers",
    "loop-receiver-one-hand-over-only": "data on two channels",
    "loop-receiver-decliner-keeps-waiting-flag": "data on two channels",
    "loop-receiver-barrier-keeps-floating": "floating buffers left over at a barrier",
    "vertex-settings-sources-are-not-asked": "a source that is chained to another operator's input",
    "vertex-settings-described-like-names": "two operators chained to the same one",
    "vertex-settings-one-for-all-sources": "two chained sources",
    "channel-requests-first-channel-is-told": "sizes announced to two channels",
    "recovered-channel-minus-one-is-the-last": "a channel number below zero",
    "recovered-channel-newest-stop-counts": "an older checkpoint that is stopped behind a newer one",
    "recovered-channel-blocked-tells-barriers": "a barrier behind one that blocks",
    "recovered-channel-newer-mark-will-do": "marks of two checkpoints",
    "recovered-channel-old-marks-stay": "marks of two checkpoints",
    "recovered-channel-older-starts-all-the-same": "two checkpoints",
    "tracker-any-trigger-ends-the-alignment": "two checkpoints that overlap, at least once",
    "job-ids-begin-anew": "a record behind a checkpoint that is complete",
    "job-overtaking-barrier-waits": "two channels with an unaligned barrier",
    "job-totals-stay-where-they-were": "totals at two parallelisms",
    "job-totals-everywhere": "totals at two parallelisms",
    "job-late-arrivals-lost": "two channels with an unaligned barrier",
    "job-saves-past-its-barrier": "two channels with an unaligned barrier",
    "job-in-flight-backwards": "two records in flight on a channel",
    "job-in-flight-stays": "records in flight at two parallelisms",
    "job-in-flight-to-all": "records in flight at two parallelisms",
    "job-parts-are-enough": "two channels with an unaligned barrier",
}
COMPONENTS = sorted({mutant.component for mutant in all_mutants()})
#: What a complete suite may take of the default run, in events.
MOST_EVENTS = {"valve": 600_000, "credit_receiver": 320_000, "job": 160_000}


def prepare(component):
    """Requests with the steps that are expected, in an order that shows most bugs early; and cases left to the judge.

    The judge would spend most of the time on what it has judged before.
    """
    encoded, steps_known, free = {}, [], []
    encoder = Encoder()
    for case in (case for scope in small(component) for case in build(scope).cases):
        steps, _rules = expect(case)
        if steps is None:
            free.append(case)
            continue
        for step in steps:
            if step not in encoded:
                encoded[step] = [encode(seen) for seen in step]
        steps_known.append((encoder.request(case).as_case(), [encoded[step] for step in steps]))
    Random(0).shuffle(steps_known)
    return steps_known, free


def is_caught(engine, steps_known, free):
    if any(engine.replay_case(case).get("steps") != steps for case, steps in steps_known):
        return True
    verdicts = Runner(InProcess(engine)).run(Planned("complete", case) for case in free)
    return any(verdict.status is not Status.PASS for verdict in verdicts)


@pytest.fixture(scope="module", params=some(COMPONENTS, 3))
def prepared(request):
    return request.param, prepare(request.param)


def test_default_run_stays_small(prepared):
    component, (steps_known, free) = prepared
    events = sum(len(steps) for _case, steps in steps_known) + sum(len(case.events) for case in free)
    assert 0 < events <= MOST_EVENTS.get(component, 150_000)


def test_catches_every_wrong_engine_within_its_scopes(prepared):
    component, cases = prepared
    assert not is_caught(Engine(None), *cases)
    wrong = [
        mutant.name for mutant in all_mutants() if mutant.component == component and mutant.name not in OUT_OF_SCOPE
    ]
    assert not [name for name in wrong if not is_caught(Engine(name), *cases)]
