"""The short forms of events of a chain; graphs have their own notation (`graphs`)."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "chain_lifecycle": (
        Form("create", "create"),
        Form("open", "open"),
        Form("end_input", "{input:int}end"),
        Form("mail", "{operator:int}mail"),
        Form("finish", "drain", (("drain", True),)),
        Form("finish", "stop", (("drain", False),)),
        Form("checkpoint", "prepare", (("step", "prepare"),)),
        Form("checkpoint", "snapshot", (("step", "snapshot"),)),
        Form("checkpoint", "complete", (("step", "complete"),)),
        Form("checkpoint", "abort", (("step", "abort"),)),
        Form("checkpoint", "subsume", (("step", "subsume"),)),
        Form("close", "close"),
        Form("watermark", "{input:int}w{timestamp:long}"),
        Form("element", "{input:int}record", (("kind", "record"),)),
        Form("element", "{input:int}status", (("kind", "status"),)),
        Form("element", "{input:int}latency_marker", (("kind", "latency_marker"),)),
    ),
}
