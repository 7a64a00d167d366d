"""The short forms of events of a task."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "task": (
        Form("start", "start"),
        Form("proceed", "proceed"),
        Form("throw", "throw", (("cancelled", False),)),
        Form("throw", "throw-cancelled", (("cancelled", True),)),
        Form("cancel", "cancel{seen:text}"),
        Form("fail", "fail{seen:text}"),
        Form("end_of_data", "drain", (("drain", True),)),
        Form("end_of_data", "stop", (("drain", False),)),
        Form("acknowledge", "ack{output:int}"),
        Form("trigger", "trigger:{reply:word}"),
        Form("ask_for_room", "room", (("has_room", True),)),
        Form("ask_for_room", "no-room", (("has_room", False),)),
        Form("begin_checkpoint", "checkpoint{checkpoint:long}", (("stops", False),)),
        Form("begin_checkpoint", "savepoint{checkpoint:long}", (("stops", True),)),
        Form("complete_checkpoint", "complete{checkpoint:long}"),
        Form("abort_checkpoint", "abort{checkpoint:long}", (("completed", "0"),)),
        Form("abort_checkpoint", "abort{checkpoint:long}after{completed:long}"),
    ),
}
