"""The claims about an exchange, told of what is wrong."""

import attrs
import pytest

from reference.subpartition.exchange import TRAITS, traits_agree
from reference.subpartition.exchange_values import ResultType


@pytest.mark.parametrize("wrong", [{"repeatable": False}, {"may_be_early": True}])
def test_what_is_kept_beyond_the_job_is_complete_and_read_again(monkeypatch, wrong):
    persistent = ResultType.BLOCKING_PERSISTENT
    assert traits_agree(persistent)
    monkeypatch.setitem(TRAITS, persistent, attrs.evolve(TRAITS[persistent], **wrong))
    assert not traits_agree(persistent)
