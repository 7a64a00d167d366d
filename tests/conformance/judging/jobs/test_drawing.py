"""What is drawn by name stays what it is when there is more to draw."""

from collections import Counter

import attrs
import pytest

from tidegate.conformance.engines.base import QUERY, Abilities
from tidegate.conformance.engines.flink.jobs.engine import ABILITIES, ABILITIES_SPLITS
from tidegate.conformance.engines.jobs import weigh
from tidegate.conformance.judging.jobs import queries
from tidegate.conformance.judging.jobs.drawing import draw_job, has_twin_edges
from tidegate.conformance.judging.jobs.draws import Draws
from tidegate.conformance.judging.jobs.judging import Judge
from tidegate.conformance.judging.jobs.queries import draw_query
from tidegate.conformance.judging.jobs.reference_jobs import ReferenceJobs
from tidegate.conformance.judging.verdicts import Status

JOBS = range(150)
QUERIES = Abilities(
    operators=(QUERY,),
    partitioners=(),
    parallelism=3,
    settings={"batch": (0, 5), "order": ("up", "down", "none"), "reuse": (False, True)},
)


def draw_all(abilities, faults=0):
    return [draw_job(7, index, abilities, faults) for index in JOBS]


def with_setting(abilities, name, *values):
    return attrs.evolve(abilities, settings={name: values, **abilities.settings})


@pytest.mark.parametrize("faults", [0, 2])
def test_one_setting_more_changes_no_other_draw(faults):
    before = draw_all(ABILITIES, faults)
    after = draw_all(with_setting(ABILITIES, "aa_new", 1, 2), faults)
    assert {case.settings["aa_new"] for case in after} == {1, 2}
    for case in after:
        del case.settings["aa_new"]
    assert after == before


def test_one_value_more_changes_draws_of_its_setting_alone():
    for old, new in zip(draw_all(ABILITIES), draw_all(with_setting(ABILITIES, "padding", 0, 7, 8, 9, 10)), strict=True):
        assert (new.config, {**new.settings, "padding": 0}) == (old.config, {**old.settings, "padding": 0})


def test_ways_of_sources_are_drawn_for_themselves():
    for old, new in zip(draw_all(ABILITIES), draw_all(ABILITIES_SPLITS), strict=True):
        assert new.config == old.config
        assert {name: new.settings[name] for name in old.settings} == old.settings


def test_one_fault_more_changes_only_the_faults_that_it_becomes():
    before, after = draw_all(ABILITIES, 3), draw_all(attrs.evolve(ABILITIES, faults=("flood", *ABILITIES.faults)), 3)
    seen = Counter()
    for old, new in zip(before, after, strict=True):
        assert (new.config, new.settings) == (old.config, old.settings)
        for was, now in zip(old.faults, new.faults, strict=True):
            assert now in (was, {**was, "fault": "flood"})
            seen[now["fault"]] += 1
    assert seen["flood"] > sum(seen.values()) / 10


@pytest.mark.parametrize(("field", "new"), [("operators", "window"), ("partitioners", "rescale")])
def test_one_operator_or_partitioner_more_changes_only_jobs_that_have_it(field, new):
    fewer = attrs.evolve(ABILITIES, **{field: tuple(one for one in getattr(ABILITIES, field) if one != new)})
    changed = [
        (old, case) for old, case in zip(draw_all(fewer), draw_all(ABILITIES), strict=True) if old.config != case.config
    ]
    assert 0 < len(changed) < len(JOBS) / 2
    for old, case in changed:
        parts = [one.function for one in case.config.operators] + [one.partitioner for one in case.config.edges]
        assert new in parts
        assert case.settings == old.settings
    for old, case in zip(draw_all(fewer), draw_all(ABILITIES), strict=True):
        assert [one.scripts for one in old.config.operators if one.scripts] == [
            one.scripts for one in case.config.operators if one.scripts
        ]


def test_one_setting_more_changes_no_query_and_hardly_a_setting():
    """Of each query one setting is always unusual: where that is the new one, another falls back to what is usual."""
    more, fell_back = with_setting(QUERIES, "aa_new", 1, 2), 0
    for index in JOBS:
        old, new = draw_query(7, index, QUERIES), draw_query(7, index, more)
        assert (new.query, new.tables) == (old.query, old.tables)
        changed = [name for name, value in old.settings.items() if new.settings[name] != value]
        assert len(changed) <= 1
        assert not changed or new.settings["aa_new"] == 2
        fell_back += len(changed)
    assert fell_back < len(JOBS) / 4


def test_one_shape_more_changes_only_queries_of_it(monkeypatch):
    before = [draw_query(7, index, QUERIES) for index in JOBS]
    monkeypatch.setitem(queries.SHAPES, "everything", lambda _random: "SELECT * FROM a")
    after = [draw_query(7, index, QUERIES) for index in JOBS]
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert {case.shape for case in changed} == {"everything"}
    for old, new in zip(before, after, strict=True):
        assert new.settings == old.settings


def test_shares_are_kept():
    drawn = Counter(Draws(str(number)).weigh("what", {"a": 1, "b": 3, None: 4}) for number in range(4000))
    assert [round(drawn[one] / 500) for one in ("a", "b", None)] == [1, 3, 4]
    assert weigh("no", {"no": 3, "yes": 1}) == ("no", "no", "no", "no", "yes")


def test_twin_edges_are_drawn_for_engines_that_can_tell_them_apart():
    """Flink's hosts cannot, and nobody else misses such programs for their sake."""
    judge = Judge(ReferenceJobs())
    assert not any(has_twin_edges(draw_job(3, index, ABILITIES).config) for index in range(600))
    twins = [case for case in (judge.draw(3, index, 0) for index in range(600)) if has_twin_edges(case.config)]
    assert twins
    judged = [judge.run(case) for case in twins]
    assert all(one.status is Status.PASS and one.explained for one in judged)
