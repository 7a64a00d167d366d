"""The mailbox: `TaskMailboxImpl` and `MailboxProcessor`, driven by the thread that made them and by another one.

The processor gets its mails through a mailbox that passes every call on, records control mails, and throws where the
real one would wait: that leaves the loop. The default action throws as well, after it was recorded. Neither
changes what is queued. A Java assertion of `runMailboxLoop` says that the loop needs an open mailbox;
assertions are off in production, so the adapter checks this itself.
"""

import queue
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

TASKS = "org.apache.flink.streaming.runtime.tasks."
MAILBOX = f"{TASKS}mailbox."
OPTIONS = "org.apache.flink.api.common.operators.MailboxExecutor$MailOptions"
URGENT_IN_ORDER, LATEST_URGENT_FIRST = "flink-35051", "flink-14304"
#: Flink's descriptions of its own mails: the one that resumes the default action, and those that stop the loop.
CONTROL = ("poison mail", "resume default action")
LEAST_PRIORITY, MOST_PRIORITY = -1, 2**31 - 1
EXTENSIONS = ("failures",)


def declare(jvm: Jvm) -> wire.Json | None:
    """Deferrable mails came in 1.19, urgent ones that keep their order in 2.1."""
    if not jvm.has(OPTIONS, "deferrable"):
        return None
    semantics = URGENT_IN_ORDER if jvm.has(OPTIONS, "urgent") else LATEST_URGENT_FIRST
    return {"semantics": [semantics], "extensions": list(EXTENSIONS)}


def make(jvm: Jvm, config: wire.Json) -> "Mailbox":
    wire.get_extension(config, EXTENSIONS)
    return Mailbox(jvm, wire.get_semantics(config, (URGENT_IN_ORDER, LATEST_URGENT_FIRST)))


class OtherThread:
    """A thread other than the mailbox's, which does one thing at a time while the caller waits."""

    def __init__(self, jvm: Jvm) -> None:
        self.jvm = jvm
        self.tasks: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        self.results: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        threading.Thread(target=self.work, daemon=True).start()

    def work(self) -> None:
        self.jvm.cls("java.lang.Thread").attachAsDaemon()
        while True:
            task = self.tasks.get()
            try:
                task()
            except Exception as error:  # noqa: BLE001 - it belongs to whoever asked
                self.results.put(error)
            else:
                self.results.put(None)

    def do(self, task: Callable[[], Any]) -> None:
        self.tasks.put(task)
        error = self.results.get()
        if error is not None:
            raise error


@cache
def other_thread(jvm: Jvm) -> OtherThread:
    return OtherThread(jvm)


class Leave:
    """Thrown to leave the loop; its message distinguishes it from a failure of Flink."""

    MESSAGE = "the loop is left"

    def __init__(self, jvm: Jvm) -> None:
        self.error = jvm.cls("java.lang.IllegalStateException")

    def __call__(self) -> None:
        raise self.error(self.MESSAGE)

    def is_why(self, error: Exception) -> bool:
        while error is not None and str(error.getMessage()) != self.MESSAGE:  # type: ignore[attr-defined]
            error = error.getCause()  # type: ignore[attr-defined]
        return error is not None


@cache
def mailbox_methods(jvm: Jvm) -> frozenset[str]:
    return frozenset(str(one.getName()) for one in jvm.cls(f"{MAILBOX}TaskMailbox").class_.getMethods())


@cache
def takes_no_executor(jvm: Jvm) -> bool:
    """Since 2.0 a mail needs no executor."""
    return any(
        one[0] == OPTIONS and not any(name.endswith("Executor") for name in one)
        for one in jvm.parameters(f"{MAILBOX}Mail")
    )


class Mailbox:
    def __init__(self, jvm: Jvm, semantics: str) -> None:
        self.jvm, self.semantics = jvm, semantics
        self.leave = Leave(jvm)
        self.seen: wire.Observations = []
        self.mailbox = jvm.cls(f"{MAILBOX}TaskMailboxImpl")()
        self.handles: list[Any] = []
        self.in_loop = False
        self.executor = jvm.cls(f"{TASKS}StreamTaskActionExecutor").IMMEDIATE
        watched = self.watched_mailbox()
        self.processor = jvm.new(f"{MAILBOX}MailboxProcessor", self.default_action(), watched, self.executor)
        self.controller = jvm.new(f"{MAILBOX}MailboxProcessor$MailboxController", self.processor)
        self.handlers = {
            "put": self.on_put,
            "batch": self.on_batch,
            "take_from_batch": self.on_take_from_batch,
            "take": self.on_take,
            "loop": self.on_loop,
            "step": self.on_step,
            "suspend_default": self.on_suspend_default,
            "resume": self.on_resume,
            "complete": self.on_complete,
            "suspend_loop": self.on_suspend_loop,
            "quiesce": self.on_quiesce,
            "close": self.on_close,
            "drain": self.on_drain,
            "has_mail": self.on_has_mail,
            "put_failing": self.on_put_failing,
            "put_together": self.on_put_together,
            "ask_idle": self.on_ask_idle,
        }

    def default_action(self) -> Any:
        def run(_controller: Any) -> None:
            self.seen.append({"type": "default"})
            if self.in_loop:
                self.leave()

        return self.jvm.jpype.JProxy(f"{MAILBOX}MailboxDefaultAction", dict={"runDefaultAction": run})

    def watched_mailbox(self) -> Any:
        handlers = {name: getattr(self.mailbox, name) for name in mailbox_methods(self.jvm)}

        def noting(take: Any) -> Callable[..., Any]:
            def taking(*arguments: Any) -> Any:
                found = take(*arguments)
                if found.isPresent():
                    self.note_control(found.get())
                return found

            return taking

        def wait(_priority: Any) -> None:
            self.seen.append({"type": "wait"})
            self.leave()

        handlers |= {name: noting(handlers[name]) for name in ("tryTake", "tryTakeFromBatch")} | {"take": wait}
        return self.jvm.jpype.JProxy(f"{MAILBOX}TaskMailbox", dict=handlers)

    def note_control(self, mail: Any) -> None:
        if str(mail) in CONTROL:
            self.seen.append({"type": "control"})

    def step(self, event: wire.Json) -> wire.Observations:
        handler = self.handlers.get(event.get("type", ""))
        if handler is None:
            raise wire.unknown_type(event)
        self.seen = []
        try:
            handler(event)
        except self.jvm.JavaError:
            has_failed = bool(self.seen) and self.seen[-1]["type"] == "failed"
            return self.seen if has_failed else wire.rejected()
        return self.seen

    def on_thread(self, event: wire.Json, task: Callable[[], Any]) -> None:
        if wire.get_choice(event, "thread", ("mailbox", "other")) == "mailbox":
            task()
        else:
            other_thread(self.jvm).do(task)

    def run(self, mail: Any) -> None:
        self.note_control(mail)
        mail.run()

    def run_found(self, found: Any) -> None:
        if found.isPresent():
            self.run(found.get())
        else:
            self.seen.append({"type": "none"})

    # Mails

    def on_put(self, event: wire.Json) -> None:
        kind, number = (
            wire.get_choice(event, "kind", ("normal", "urgent", "deferrable")),
            wire.get_integer(event, "mail"),
        )
        options = self.jvm.cls(OPTIONS)
        put = self.mailbox.put
        if kind == "urgent" and self.semantics == LATEST_URGENT_FIRST:
            put, kind = self.mailbox.putFirst, "normal"
        made = {"normal": "options", "urgent": "urgent", "deferrable": "deferrable"}[kind]
        mail = self.make_mail(number, get_priority(event), getattr(options, made)())
        self.on_thread(event, lambda: put(mail))

    def make_mail(self, number: int, priority: int, options: Any, *, fails: bool = False) -> Any:
        def run() -> None:
            self.seen.append({"type": "failed" if fails else "run", "mail": number})
            if fails:
                raise self.jvm.cls("java.lang.RuntimeException")("a mail fails")

        command = self.jvm.jpype.JProxy("org.apache.flink.util.function.ThrowingRunnable", dict={"run": run})
        nothing = self.jvm.jpype.JArray(self.jvm.jpype.JObject)([])
        mail_class, executor = self.jvm.cls(f"{MAILBOX}Mail"), () if takes_no_executor(self.jvm) else (self.executor,)
        return mail_class(options, command, priority, *executor, str(number), nothing)

    def on_put_failing(self, event: wire.Json) -> None:
        options, number = self.jvm.cls(OPTIONS).options(), wire.get_integer(event, "mail")
        mail = self.make_mail(number, get_priority(event), options, fails=True)
        self.on_thread(event, lambda: self.mailbox.put(mail))

    def on_put_together(self, event: wire.Json) -> None:
        options, priority = self.jvm.cls(OPTIONS).options(), get_priority(event)
        mails = [self.make_mail(number, priority, options) for number in wire.get_integers(event, "mails")]
        if str(self.mailbox.getState()) != "OPEN":
            self.seen = wire.rejected()
            return

        def put_all() -> None:
            for mail in mails:
                self.mailbox.put(mail)

        together = self.jvm.jpype.JProxy("java.lang.Runnable", dict={"run": put_all})
        self.on_thread(event, lambda: self.mailbox.runExclusively(together))

    def on_ask_idle(self, _event: wire.Json) -> None:
        executor = self.processor.getMailboxExecutor(self.jvm.jpype.JInt(0))
        self.seen.append({"type": "idle", "value": bool(executor.isIdle())})

    def on_batch(self, _event: wire.Json) -> None:
        self.seen.append({"type": "batch", "available": bool(self.mailbox.createBatch())})

    def on_take_from_batch(self, _event: wire.Json) -> None:
        self.run_found(self.mailbox.tryTakeFromBatch())

    def on_take(self, event: wire.Json) -> None:
        self.run_found(self.mailbox.tryTake(get_priority(event)))

    def on_drain(self, _event: wire.Json) -> None:
        for mail in list(self.mailbox.drain()):
            self.run(mail)

    def on_has_mail(self, _event: wire.Json) -> None:
        self.seen.append({"type": "has_mail", "value": bool(self.mailbox.hasMail())})

    # The processor

    def on_loop(self, _event: wire.Json) -> None:
        if str(self.mailbox.getState()) != "OPEN":
            self.seen = wire.rejected()
            return
        self.in_loop = True
        try:
            self.processor.runMailboxLoop()
        except self.jvm.JavaError as error:
            if not self.leave.is_why(error):
                raise
        else:
            self.seen.append({"type": "stopped"})
        finally:
            self.in_loop = False

    def on_step(self, _event: wire.Json) -> None:
        if not self.processor.runMailboxStep():
            self.seen.append({"type": "none"})

    def on_suspend_default(self, event: wire.Json) -> None:
        self.on_thread(event, lambda: self.handles.append(self.controller.suspendDefaultAction()))
        self.seen.append({"type": "suspended", "handle": len(self.handles) - 1})

    def on_resume(self, event: wire.Json) -> None:
        handle = wire.get_integer(event, "handle")
        if not 0 <= handle < len(self.handles):
            self.seen = wire.rejected()
        else:
            self.on_thread(event, self.handles[handle].resume)

    def on_complete(self, event: wire.Json) -> None:
        self.on_thread(event, self.processor.allActionsCompleted)

    def on_suspend_loop(self, event: wire.Json) -> None:
        self.on_thread(event, self.processor.suspend)

    # The end

    def on_quiesce(self, event: wire.Json) -> None:
        self.on_thread(event, self.mailbox.quiesce)

    def on_close(self, event: wire.Json) -> None:
        dropped: list[Any] = []
        self.on_thread(event, lambda: dropped.extend(self.mailbox.close()))
        self.seen += [{"type": "dropped", "mail": int(str(mail))} for mail in dropped if str(mail) not in CONTROL]


def get_priority(event: wire.Json) -> int:
    priority = wire.get_integer(event, "priority")
    if not LEAST_PRIORITY <= priority <= MOST_PRIORITY:
        raise wire.BadRequestError(f"priority must be in {LEAST_PRIORITY}..{MOST_PRIORITY}, not {priority}")
    return priority
