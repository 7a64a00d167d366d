"""The short forms of events of barriers."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "barriers": (
        Form("barrier", "{channel:int}b{checkpoint:long}", (("mode", "aligned"), ("created", "0"))),
        Form("barrier", "{channel:int}t{checkpoint:long}", (("mode", "timeout"), ("created", "0"))),
        Form("barrier", "{channel:int}u{checkpoint:long}", (("mode", "unaligned"), ("created", "0"))),
        Form("barrier", "{channel:int}b{checkpoint:long}@{created:long}", (("mode", "aligned"),)),
        Form("barrier", "{channel:int}t{checkpoint:long}@{created:long}", (("mode", "timeout"),)),
        Form("barrier", "{channel:int}u{checkpoint:long}@{created:long}", (("mode", "unaligned"),)),
        Form("announcement", "{channel:int}n{checkpoint:long}#{sequence:int}@{created:long}"),
        Form("cancel", "{channel:int}c{checkpoint:long}"),
        Form("end_of_partition", "{channel:int}e"),
        Form("advance", "+{milliseconds:int}"),
        Form("delay", "late+{milliseconds:int}"),
        Form("processed", "processed{bytes:int}"),
        Form("measure", "measure"),
        Form("close", "close"),
    ),
}
