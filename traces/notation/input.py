"""The short forms of events of the inputs of a task."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "input_channels": (
        Form("request_partitions", "request"),
        Form("update", "{channel:int}local", (("location", "local"),)),
        Form("update", "{channel:int}remote", (("location", "remote"),)),
        Form("register", "{channel:int}register"),
        Form("retry", "{channel:int}retry"),
        Form("not_found", "{channel:int}missing"),
        Form("arrive", "{channel:int}data{sequence:int}", (("item", "data"),)),
        Form("arrive", "{channel:int}empty{sequence:int}", (("item", "empty"),)),
        Form("arrive", "{channel:int}event{sequence:int}", (("item", "event"),)),
        Form("fail", "{channel:int}failed", (("cause", "producer_failed"),)),
        Form("fail", "{channel:int}lost", (("cause", "connection_lost"),)),
        Form("read", "{channel:int}read"),
        Form("task_event", "task{event:int}"),
        Form("close", "close"),
    ),
    "network_input": (
        Form("buffer", "{channel:int}b{data:hex}"),
        Form("event", "{channel:int}barrier", (("kind", "barrier"),)),
        Form("event", "{channel:int}end", (("kind", "end_of_data"),)),
        Form("event", "{channel:int}stop", (("kind", "stop"),)),
        Form("event", "{channel:int}over", (("kind", "end_of_partition"),)),
        Form("process", "call", (("batch", False),)),
        Form("process", "batch", (("batch", True),)),
    ),
    "channel_state": (
        Form("data", "{channel:int}d"),
        Form("event", "{channel:int}event"),
        Form("barrier", "{channel:int}b{checkpoint:long}", (("mode", "aligned"),)),
        Form("barrier", "{channel:int}t{checkpoint:long}", (("mode", "timeout"),)),
        Form("barrier", "{channel:int}u{checkpoint:long}", (("mode", "unaligned"),)),
        Form("poll", "{channel:int}poll"),
        Form("prioritize", "{channel:int}prioritize{sequence:int}"),
        Form("start", "start{checkpoint:long}"),
        Form("stop", "stop{checkpoint:long}"),
    ),
    "multiple_inputs": (
        Form("buffer", "{input:int}.{channel:int}b{data:hex}"),
        Form("event", "{input:int}.{channel:int}barrier", (("kind", "barrier"),)),
        Form("event", "{input:int}.{channel:int}end", (("kind", "end_of_data"),)),
        Form("event", "{input:int}.{channel:int}stop", (("kind", "stop"),)),
        Form("event", "{input:int}.{channel:int}over", (("kind", "end_of_partition"),)),
        Form("process", "call", (("batch", False),)),
        Form("process", "batch", (("batch", True),)),
        Form("select", "select{inputs:ints}"),
    ),
}
