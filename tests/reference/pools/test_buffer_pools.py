"""Buffer pools: choices, and claims told of what is wrong."""

import attrs
import pytest

from tests.reference.walking import claim, walk
from tidegate.reference.model import Outcome
from tidegate.reference.pools import buffer_pools as pools


def test_what_rounding_leaves_goes_to_any_pool():
    """POOL-2: of three segments that nobody requires two pools share; one of them gets two."""
    state = walk("buffer_pools", {"total": 5}, "create0:1-9")[-1].state
    outcomes = pools.step(state, pools.CreatePool(1, 1, 9))
    assert {tuple(one.size for one in outcome.state.pools) for outcome in outcomes} == {(2, 3), (3, 2)}


def test_any_of_those_that_wait_gets_the_segment():
    """POOL-5: two pools wait, and one segment comes back."""
    trace = "create0:1-1+2 0take 0take 0take create1:1-1 create2:1-1"
    state = walk("buffer_pools", {"total": 3}, trace)[-1].state
    outcomes = pools.step(state, pools.RecycleSegment(0))
    assert {outcome.observations for outcome in outcomes} == {(pools.Available(1),), (pools.Available(2),)}


POOL = pools.Pool(0, 1, 2, 1, None, (1,), 1, ready=1)
STATE = pools.State(pools.Config(2), 0, (POOL,))


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("no-segment-is-lost", attrs.evolve(STATE, free=1)),
        ("sizes-fit", attrs.evolve(STATE, pools=(attrs.evolve(POOL, size=3),))),
        ("sizes-fit", attrs.evolve(STATE, pools=(POOL, attrs.evolve(POOL, id=1, size=2)))),
        ("nothing-is-ready-beyond-the-size", STATE),
        (
            "nobody-is-short-while-segments-are-free",
            pools.State(pools.Config(2), 0, (attrs.evolve(POOL, ready=0, size=2),)),
        ),
        (
            "nobody-is-short-while-segments-are-free",
            pools.State(pools.Config(2), 1, (attrs.evolve(POOL, ready=0, size=2, waiting=True),)),
        ),
        (
            "recycling-is-enough",
            pools.State(
                pools.Config(2),
                0,
                (attrs.evolve(POOL, used=(0,), ready=2, size=2), attrs.evolve(POOL, id=1, used=(0,), ready=0)),
            ),
        ),
    ],
)
def test_invariant_refuses(name, state):
    assert not claim("buffer_pools", name)(state)


@pytest.mark.parametrize(
    ("name", "observations", "after"),
    [
        ("overdraft-is-bounded", [pools.Granted()], attrs.evolve(POOL, used=(3,), ready=0)),
        ("granted-means-one-more-in-use", [pools.Granted()], POOL),
        ("granted-means-one-more-in-use", [pools.Denied()], attrs.evolve(POOL, used=(2,), ready=0)),
    ],
)
def test_claim_refuses(name, observations, after):
    outcome = Outcome(attrs.evolve(STATE, pools=(after,)), tuple(observations), ())
    assert not claim("buffer_pools", name)(STATE, pools.RequestSegment(0), outcome)


@pytest.mark.parametrize(
    ("trace", "rules"),
    [
        ("create0:1-1 0take destroy0 destroy0", ("POOL-10",)),
        ("create0:1-1 0take destroy0", ("POOL-10", "POOL-2")),
        ("create0:1-1 0take 0listen destroy0", ("POOL-10", "POOL-9", "POOL-2")),
        ("create0:2-2+0/2x1 0.0take 0.0give", ("POOL-8", "POOL-7")),
        ("create0:1-1 0take 0give", ("POOL-8",)),
    ],
)
def test_all_the_rules_at_work_are_named(trace, rules):
    assert walk("buffer_pools", {"total": 2}, trace)[-1].rules == rules


# --- invariants, told of what is wrong ------------------------------------------------------------------------


def test_less_than_nothing_is_not_free():
    state = walk("buffer_pools", {"total": 2}, "create0:1-1 0take")[-1].state
    (pool,) = state.pools
    assert claim("buffer_pools", "no-segment-is-lost")(state)
    more = attrs.evolve(pool, used=(pool.used[0] + 2,))
    assert not claim("buffer_pools", "no-segment-is-lost")(attrs.evolve(state, free=-1, pools=(more,)))


def test_one_pool_that_does_not_wait_is_refused():
    trace = "create0:1-3 0take 0take 0take create1:1-1 create2:1-1"
    state = walk("buffer_pools", {"total": 3}, trace)[-1].state
    short = claim("buffer_pools", "nobody-is-short-while-segments-are-free")
    assert short(state)
    assert [one.waiting for one in state.pools] == [False, True, True]
    first, second, third = state.pools
    deaf = attrs.evolve(second, waiting=False)
    assert not short(attrs.evolve(state, pools=(first, deaf, third)))
