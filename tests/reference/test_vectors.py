"""The reference reproduces what the real classes of Flink 2.3.0 were seen to do."""

from pathlib import Path

import pytest

from tidegate.conformance.judging.judge import allowed_outcomes
from tidegate.conformance.judging.judge_fast import Judge
from tidegate.conformance.judging.reference_engine import ReferenceEngine
from tidegate.conformance.judging.verdicts import Passed
from tidegate.traces.codec import encode_case
from tidegate.traces.files import read_traces

FILES = sorted((Path(__file__).parent.parent / "vectors" / "flink-2.3.0").glob("*.jsonl.gz"))


def test_every_file_is_here():
    assert len(FILES) == 14
    assert sum(len(read_traces(file, strict=True)[1]) for file in FILES) == 670


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.removesuffix(".jsonl.gz"))
def test_reference_reproduces_flink(file):
    for case in read_traces(file, strict=True)[1]:
        if case.expect is None:
            continue
        states = case.model.start(case.config)
        for index, (event, observed) in enumerate(zip(case.events, case.expect, strict=True)):
            outcomes = allowed_outcomes(case.model.step, states, event)
            states = tuple(outcome.state for outcome in outcomes if outcome.observations == observed)
            assert states, f"{case.name}, step {index}: {event} gave {observed}, allowed {outcomes[0].observations}"


def test_free_channels_are_judged():
    """Every choice that the reference engine makes, with any seed, is one that the judge allows."""
    (file,) = [file for file in FILES if "partitioner_free" in file.name]
    for seed, case in enumerate(read_traces(file)[1]):
        (answer,) = ReferenceEngine(seed).replay([encode_case(case)])
        assert isinstance(Judge().judge(case, answer["steps"]), Passed)
