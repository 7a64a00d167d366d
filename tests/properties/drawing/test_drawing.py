"""Drawing in bulk: fast, and what Python's own source of randomness gives for the seed."""

from random import Random

import pytest

from tidegate.properties.drawing.values import among
from tidegate.properties.drawing.walk import Dice


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 9, 100])
def test_dice_give_what_random_gives(size):
    dice, random = Dice(f"{size}"), Random(f"{size}")
    weights = {str(number): number % 3 + 0.2 for number in range(size)}
    for _ in range(50):
        assert dice.choice(range(size)) == random.choice(range(size))
        assert among(dice, weights)() == random.choices(list(weights), list(weights.values()))[0]
        assert dice.sample(range(size), size) == random.sample(range(size), size)


def test_there_is_nothing_to_choose_from_nothing():
    with pytest.raises(IndexError):
        Dice("0").choice([])
