"""The short forms of events of the mailbox."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "mailbox": (
        Form("put", "put{mail:int}@{priority:int}", (("kind", "normal"), ("thread", "other"))),
        Form("put", "own{mail:int}@{priority:int}", (("kind", "normal"), ("thread", "mailbox"))),
        Form("put", "urgent{mail:int}@{priority:int}", (("kind", "urgent"), ("thread", "other"))),
        Form("put", "ownurgent{mail:int}@{priority:int}", (("kind", "urgent"), ("thread", "mailbox"))),
        Form("put", "later{mail:int}@{priority:int}", (("kind", "deferrable"), ("thread", "other"))),
        Form("put", "ownlater{mail:int}@{priority:int}", (("kind", "deferrable"), ("thread", "mailbox"))),
        Form("batch", "batch"),
        Form("take_from_batch", "next"),
        Form("take", "take{priority:int}"),
        Form("loop", "loop"),
        Form("step", "step"),
        Form("suspend_default", "suspend", (("thread", "mailbox"),)),
        Form("resume", "resume{handle:int}", (("thread", "other"),)),
        Form("resume", "ownresume{handle:int}", (("thread", "mailbox"),)),
        Form("complete", "complete", (("thread", "other"),)),
        Form("complete", "owncomplete", (("thread", "mailbox"),)),
        Form("suspend_loop", "leave", (("thread", "other"),)),
        Form("suspend_loop", "ownleave", (("thread", "mailbox"),)),
        Form("quiesce", "quiesce", (("thread", "mailbox"),)),
        Form("close", "close", (("thread", "mailbox"),)),
        Form("drain", "drain"),
        Form("has_mail", "mail?"),
        Form("put_failing", "fail{mail:int}@{priority:int}", (("thread", "other"),)),
        Form("put_failing", "ownfail{mail:int}@{priority:int}", (("thread", "mailbox"),)),
        Form("put_together", "together{mails:ints}@{priority:int}", (("thread", "other"),)),
        Form("put_together", "owntogether{mails:ints}@{priority:int}", (("thread", "mailbox"),)),
        Form("ask_idle", "idle?"),
    ),
}
