"""The mailbox of Flink 2.3.0 does what the specification says."""

from tests.conformance.engines.flink.replaying import answer, is_bad_request

CONFIG = {"semantics": "flink-35051"}


def put(mail, kind="normal", thread="other", priority=0):
    return {"type": "put", "mail": mail, "priority": priority, "kind": kind, "thread": thread}


def test_urgent_mails_keep_their_order_since_21(flink):
    take = {"type": "take", "priority": -1}
    steps = answer(flink, "mailbox", CONFIG, put(1), put(2, "urgent"), put(3, "urgent"), take, take, take)
    assert [step[0]["mail"] for step in steps[3:]] == [2, 3, 1]
    assert flink.start().components["mailbox"].semantics == {"flink-35051"}


def test_the_loop_is_left_where_it_would_wait(flink):
    suspend = {"type": "suspend_default", "thread": "mailbox"}
    steps = answer(flink, "mailbox", CONFIG, suspend, put(1), {"type": "loop"}, {"type": "loop"})
    assert steps[2:] == [[{"type": "run", "mail": 1}, {"type": "wait"}], [{"type": "wait"}]]


def test_what_is_no_mail_is_a_bad_request(flink):
    assert is_bad_request(flink, "mailbox", CONFIG, put(1, "late"))
    assert is_bad_request(flink, "mailbox", CONFIG, put(1, thread="none"))
    assert is_bad_request(flink, "mailbox", CONFIG, put(1, priority=-2))
