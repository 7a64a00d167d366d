"""What an audit found, as what was planted is written down."""

from collections import Counter

from tidegate.conformance.synthetic.planning import read_planted
from tidegate.properties.kernels.run import Wanted

WANTED = Wanted(most=1000)


def found(outcomes):
    outcomes = list(outcomes)
    assert [one.problem for one in outcomes if one.problem] == []
    for outcome in outcomes:
        assert all(tally.violated == len(tally.findings) for tally in outcome.tallies.values())
    return Counter(
        (outcome.run, name, one.channel, str(one.direction), one.position)
        for outcome in outcomes
        for name, tally in outcome.tallies.items()
        for one in tally.findings
    )


def planted(folder):
    return Counter(read_planted(folder))


def checked(outcomes):
    return {(one.run, name): tally.checked for one in outcomes for name, tally in one.tallies.items()}
