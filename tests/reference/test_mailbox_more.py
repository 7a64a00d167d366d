"""The mailbox in corners that no trace comes to."""

from reference.mailbox import start, step
from reference.mailbox_values import (
    CompleteAll,
    Config,
    Kind,
    Loop,
    MailRun,
    Nothing,
    Put,
    Step,
    TakeFromBatch,
    Thread,
)


def play(*events):
    (state,) = start(Config())
    seen = []
    for event in events:
        (outcome,) = step(state, event)
        state = outcome.state
        seen.append(outcome.observations)
    return seen


def test_a_single_step_makes_a_batch_even_of_a_mailbox_that_has_come_to_its_end():
    mail = Put(7, 0, Kind.NORMAL, Thread.OTHER)
    *_, stepped, taken = play(CompleteAll(Thread.MAILBOX), Loop(), mail, Step(), TakeFromBatch())
    assert stepped == (Nothing(),)
    assert taken == (MailRun(7),)
