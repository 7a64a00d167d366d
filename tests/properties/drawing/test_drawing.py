"""Drawing in bulk: fast, and what Python's own source of randomness gives for the key."""

from collections import Counter
from itertools import pairwise
from math import sqrt
from random import Random

import pytest

from tidegate.properties.drawing.dice import Dice, key_of
from tidegate.properties.drawing.values import Race, among

DRAWS = 40_000


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 9, 100])
def test_dice_give_what_random_gives(size):
    dice, random = Dice(f"{size}"), Random(key_of(f"{size}"))
    for _ in range(50):
        assert dice.choice(range(size)) == random.choice(range(size))
        assert dice.sample(range(size), size) == random.sample(range(size), size)


def test_there_is_nothing_to_choose_from_nothing():
    with pytest.raises(IndexError):
        Dice("0").choice([])


def is_near(count, share, draws=DRAWS):
    """Within five standard deviations."""
    return abs(count - share * draws) < 5 * sqrt(draws * share * (1 - share))


def test_each_kind_comes_as_often_as_it_weighs_whatever_came_before():
    weights = {"data": 5.0, "event": 1.5, "barrier": 0.5, "never": 0.0}
    draw_kind = among(Dice("0"), weights)
    kinds = [draw_kind()[1] for _ in range(DRAWS)]
    shares = {kind: weight / sum(weights.values()) for kind, weight in weights.items() if weight}
    assert set(kinds) == set(shares)
    assert all(is_near(kinds.count(kind), share) for kind, share in shares.items())
    pairs = Counter(pairwise(kinds))
    assert all(is_near(pairs[one, other], shares[one] * shares[other]) for one in shares for other in shares)


def test_a_race_gives_each_option_its_chance_of_those_that_are_possible():
    options = ["a0", "a1", "b0", "c0"]
    weights = [1.0, 3.0, 2.0, 0.5]
    race = Race[str](Dice("0"), lambda option: option[0])
    drawn = [
        race.draw(options, weights) if number % 2 else race.draw(options[:3], weights[:3]) for number in range(DRAWS)
    ]
    for begin, some in ((0, weights[:3]), (1, weights)):
        counts = Counter(drawn[begin::2])
        assert all(
            is_near(counts[one], weight / sum(some), DRAWS // 2) for one, weight in zip(options, some, strict=False)
        )


def test_runs_are_of_one_kind():
    dice = Dice("0")
    dice.run = 12
    draw_kind = among(dice, {"data": 1.0, "event": 1.0, "barrier": 1.0})
    kinds = "".join(draw_kind()[1][0] for _ in range(1000))
    assert "d" * 12 in kinds
    assert "e" * 12 in kinds
