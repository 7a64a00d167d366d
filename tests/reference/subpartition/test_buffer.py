"""The network buffer: claims, told of what is wrong."""

import attrs

from tests.reference.walking import broken_claims, refuses
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.buffer import values


def test_properties_notice_what_they_forbid():
    state = values.State(
        values.Config(4),
        b"ab",
        2,
        consumers=(values.Consumer(1, known_finished=False), values.Consumer(0, known_finished=False)),
    )
    read = attrs.evolve(state, consumers=(values.Consumer(2, known_finished=False, slices=1), state.consumers[1]))
    assert not broken_claims("buffer", state, values.Build(0), Outcome(read, (values.Slice(b"b"),), ()))
    again = Outcome(read, (values.Slice(b"ab"),), ())
    assert refuses("buffer", "reads-what-was-committed", state, values.Build(0), again)
    assert refuses("buffer", "readers-are-independent", state, values.Build(1), Outcome(read, (), ()))
    changed = Outcome(attrs.evolve(state, written=b"xb"), (), ())
    assert refuses("buffer", "append-only", state, values.Append(b""), changed)
    early = Outcome(state, (values.Recycled(),), ())
    assert refuses("buffer", "freed-once", state, values.CloseConsumer(0), early)
    believing = attrs.evolve(state, consumers=(values.Consumer(0, known_finished=True),))
    assert refuses("buffer", "believed-finished-is-finished", believing)
