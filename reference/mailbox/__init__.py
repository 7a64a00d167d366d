"""The mailbox: one thread runs a default action over and over, and between two runs of it whatever others asked for.

Mails may be put by any thread; only the mailbox's own thread runs them. It takes the whole queue as a *batch*, runs
the batch, and then runs the default action once. What is put meanwhile waits for the next batch, so neither mails
that put new mails nor a busy default action can starve the other. Urgent mails go ahead of all others. A default
action that has nothing to do is suspended; then mails are run one by one until one of them resumes it.

Choices. `flink-35051` is Flink 2.1 and later (TaskMailboxImpl, MailboxProcessor): urgent mails are first come, first
served, and are let into a running batch. `flink-14304` is 1.10 to 2.0: they are put first, so that the latest is
served first, in the batch if the mailbox's own thread puts them, in the queue otherwise. The thread that an event
comes from is part of it. Entering the loop is one event, which ends where the default action has run once, where the
loop would wait, or where it was stopped; mails put in between are other events (`batch`, `take_from_batch`).
"""

from tidegate.reference.mailbox import claims, default_action, step, values
from tidegate.reference.model import Component

COMPONENT = Component.of(__name__, values, claims, step, default_action, title="The mailbox")
