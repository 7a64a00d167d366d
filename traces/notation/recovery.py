"""The short forms of events of recovery."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "handed_over": (
        Form("request", "request"),
        Form("data", "data"),
        Form("barrier", "barrier"),
        Form("tell", "tell"),
        Form("poll", "poll"),
        Form("count", "count"),
    ),
    "rescaling": (
        Form("producer", "p{subtask:int}"),
        Form("consumer", "c{subtask:int}"),
        Form("saved", "in{producer:int},{consumer:int}", (("side", "input"),)),
        Form("saved", "out{producer:int},{consumer:int}", (("side", "output"),)),
    ),
    "virtual_channels": (Form("select", "select{subtask:int},{channel:int}"),),
    "recovered_channel": (
        Form("recovered", "{channel:int}r"),
        Form("finish", "finish"),
        Form("convert", "convert"),
        Form("data", "{channel:int}d"),
        Form("event", "{channel:int}event"),
        Form("complete", "{channel:int}complete"),
        Form("barrier", "{channel:int}u{checkpoint:long}"),
        Form("poll", "{channel:int}poll"),
        Form("mark", "mark{checkpoint:long}"),
        Form("start", "start{checkpoint:long}"),
        Form("stop", "stop{checkpoint:long}"),
    ),
}
