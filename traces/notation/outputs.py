"""The short forms of events of the outputs of an operator."""

from tidegate.traces.notation.forms import ACTIVE, IDLE, Form

FORMS: dict[str, tuple[Form, ...]] = {
    "outputs": (
        Form("record", "r{content:int}"),
        Form("watermark", "w{timestamp:long}"),
        Form("status", "i", IDLE),
        Form("status", "a", ACTIVE),
        Form("latency_marker", "m"),
        Form("record_attributes", "attributes"),
        Form("barrier", "barrier{unaligned:sign}"),
        Form("end_of_data", "end"),
        Form("fault", "{output:int}fault{hops:int}"),
        Form("read_metrics", "metrics"),
    ),
}
