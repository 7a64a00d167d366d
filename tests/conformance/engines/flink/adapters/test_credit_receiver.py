"""The credit receiver of Flink 2.3.0: who learns of a connection that broke, and who gets its buffers."""

from tests.conformance.engines.flink.replaying import answer

CONFIG = {"channels": 3, "exclusive": 0, "floating": 1, "extension": "failures"}


def on(channel, kind, **fields):
    return {"type": kind, "channel": channel, **fields}


def test_a_buffer_that_is_handed_over_fails_its_new_channel_and_goes_on_with_the_release(flink):
    taken = (on(0, "backlog", backlog=1), on(0, "announce"), on(0, "data", backlog=0))
    waiting = (on(1, "fail"), on(1, "backlog", backlog=1), on(2, "backlog", backlog=1))
    steps = answer(flink, "credit_receiver", CONFIG, *taken, *waiting, on(0, "recycle"), on(1, "release"))
    assert steps[6:] == [
        [{"type": "failed", "channel": 1, "told": "reader"}],
        [{"type": "notify", "channel": 2}],
    ]


def test_a_message_whose_credit_cannot_be_announced_fails(flink):
    steps = answer(flink, "credit_receiver", CONFIG, on(0, "fail"), on(0, "backlog", backlog=1))
    assert steps == [[], [{"type": "failed", "channel": 0, "told": "caller"}]]
