"""The parts of a job on Spark, without Spark: what becomes of a program, where keys go, what a subtask does."""

from collections import defaultdict
from random import Random

import pytest

from tidegate.conformance.documents.spark_page.jobs import BUGS, CORNERS, draw_jobs, encode_jobs, find_wrongs_of
from tidegate.conformance.engines.spark.streaming.campaign import slice_scripts
from tidegate.conformance.engines.spark.streaming.elements import OUT
from tidegate.conformance.engines.spark.streaming.layout import make_layout
from tidegate.conformance.engines.spark.streaming.logs import make_outcome
from tidegate.conformance.engines.spark.streaming.memory import Memory
from tidegate.conformance.engines.spark.streaming.routing import choose_consumer, compute_consumers, compute_key_groups
from tidegate.conformance.engines.spark.streaming.subtask import Subtask
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.partitioning import keygroups, wiring
from tidegate.reference.partitioning.keys import StringKey
from tidegate.reference.partitioning.partitioner import Config, Partitioner, compute_channel_of_key


def test_a_program_becomes_the_tasks_and_channels_of_the_specification():
    for config in draw_jobs(300, seed=11):
        wanted, made = compute_layout(config), make_layout(encode_jobs({"run": config})["run"])
        tasks = [(task.name, task.head, sorted(task.operators), task.parallelism, task.first) for task in made.tasks]
        assert tasks == [
            (one.name, one.head, sorted(one.operators), one.parallelism, one.first) for one in wanted.tasks
        ]
        edges = [
            (one.number, one.operator, one.input, one.partitioner, one.pattern, one.key_groups) for one in made.edges
        ]
        assert edges == [(e.number, e.source, e.input, e.kind, e.pattern, e.max_parallelism) for e in wanted.edges]
        for number, place in enumerate(wanted.places):
            task = next(index for index, one in enumerate(made.tasks) if one.name == place.task.name)
            channels = [(one.edge, one.producer) for one in made.channels(task, place.number)]
            routes = [wanted.routes[channel] for channel in place.channels]
            assert channels == [(route.edge.number, route.producer) for route in routes], number


@pytest.mark.parametrize("pattern", ["pointwise", "all_to_all"])
def test_producers_are_wired_to_consumers_as_specified(pattern):
    for producers in range(1, 8):
        for consumers in range(1, 8):
            [state] = wiring.start(wiring.Config(wiring.Pattern(pattern), producers, consumers))
            [outcome] = wiring.step(state, wiring.Wire())
            reads = sorted((seen.producer, seen.subpartition, seen.consumer) for seen in outcome.observations)
            wired = [[consumer for at, _, consumer in reads if at == producer] for producer in range(producers)]
            assert compute_consumers(pattern, producers, consumers) == wired


def test_keys_go_where_the_specification_says():
    random = Random(3)
    keys = ["", "a", "ä", "😀", *("".join(random.choices("abcxyzäß😀", k=random.randrange(12))) for _ in range(500))]
    for consumers in (1, 2, 3, 7, 100):
        groups = compute_key_groups(consumers)
        assert groups == keygroups.compute_default_max_parallelism(consumers)
        config = Config(Partitioner.HASH, consumers, groups)
        assert [choose_consumer(key, consumers, groups) for key in keys] == [
            compute_channel_of_key(config, StringKey(key)) for key in keys
        ]


# --- jobs, batch by batch -------------------------------------------------------------------------------------


class Shuffled:
    """What the query does, without Spark: rows come in any order, and what is remembered is rows between batches."""

    def __init__(self, layouts, seed, bugs=()):
        self.layouts, self.random, self.bugs = layouts, Random(seed), dict(bugs)
        self.memories, self.clocks, self.held, self.totals = {}, {}, defaultdict(list), defaultdict(dict)
        self.lines = []

    def feed(self, lines, incarnation):
        for level in range(max(layout.levels for layout in self.layouts.values())):
            groups = defaultdict(list)
            for line in sorted((one for one in lines if one.level == level), key=lambda _: self.random.random()):
                groups[line.run, line.task, line.subtask].append(line)
            lines = [line for line in lines if line.level != level]
            for at, arrived in groups.items():
                lines += self.run(at, arrived, incarnation)
        assert {line.level for line in lines} <= {OUT}
        self.lines += lines

    def run(self, at, arrived, incarnation):
        bug = self.bugs.get(at[0], "")
        subtask = Subtask(self.layouts[at[0]], *at, self.totals[at], bug)
        if at in self.memories:
            subtask.memory = Memory.of_row(self.memories[at])
            if not (bug == "valve-forgets-on-restart" and self.clocks[at][0] < incarnation):
                subtask.clock.restore(self.clocks[at])
        self.held[at] = subtask.read([*self.held[at], *arrived])
        if bug == "forgets-held":
            self.held[at] = []
        self.memories[at] = subtask.memory.to_row(incarnation)
        self.clocks[at] = subtask.clock.to_row(incarnation)
        return subtask.lines

    def outcome(self, run):
        return make_outcome(run, self.layouts[run], [line for line in self.lines if line.run == run])


def run_without_spark(configs, seed, bugs=()):
    jobs = encode_jobs(configs)
    shuffled = Shuffled({run: make_layout(job) for run, job in jobs.items()}, seed, bugs)
    for number, lines in enumerate(slice_scripts(jobs, seed)):
        shuffled.feed(lines, number // 2)
    return shuffled


@pytest.mark.parametrize("seed", range(3))
def test_subtasks_do_as_specified(seed):
    configs = CORNERS | {f"job {number}": config for number, config in enumerate(draw_jobs(150, seed))}
    done = run_without_spark(configs, seed)
    wrongs = {run: find_wrongs_of(config, done.outcome(run)) for run, config in configs.items()}
    assert not {run: found for run, found in wrongs.items() if found}


@pytest.mark.parametrize("bug", BUGS)
def test_a_subtask_that_does_otherwise_is_found_out(bug):
    configs = {f"job {number}": config for number, config in enumerate(draw_jobs(60, seed=5))}
    done = run_without_spark(configs, 5, dict.fromkeys(configs, bug))
    wrongs = [wrong for run, config in configs.items() for wrong in find_wrongs_of(config, done.outcome(run))]
    assert wrongs
