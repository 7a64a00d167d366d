"""The short forms of events of records, buffers and bytes."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "serializer": (
        Form("record", "r{payload:hex}"),
        Form("flush", "flush"),
        Form("event", "event"),
        Form("finish", "finish"),
    ),
    "writer": (
        Form("record", "{channel:int}r{payload:hex}"),
        Form("broadcast", "r{payload:hex}"),
        Form("event", "event"),
        Form("hint", "{channel:int}size{size:int}"),
        Form("pool", "pool{available:sign}"),
        Form("flush", "flush"),
        Form("elapse", "+{milliseconds:int}"),
        Form("fail", "fail"),
        Form("finish", "finish"),
        Form("measure", "measure"),
    ),
    "deserializer": (
        Form("buffer", "b{data:hex}"),
        Form("clear", "clear"),
    ),
}
