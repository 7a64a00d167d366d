"""The short forms of events of gates."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "gate": (
        Form("arrive", "{channel:int}data", (("item", "data"),)),
        Form("arrive", "{channel:int}end", (("item", "end_of_data"),)),
        Form("arrive", "{channel:int}over", (("item", "end_of_partition"),)),
        Form("poll", "poll"),
    ),
    "priority_gate": (
        Form("arrive", "{channel:int}data", (("item", "data"),)),
        Form("arrive", "{channel:int}end", (("item", "end_of_data"),)),
        Form("arrive", "{channel:int}over", (("item", "end_of_partition"),)),
        Form("arrive", "{channel:int}priority", (("item", "priority"),)),
        Form("arrive", "{channel:int}barrier", (("item", "barrier"),)),
        Form("notify", "{channel:int}notify"),
        Form("notify_priority", "{channel:int}urgent{sequence:int}"),
        Form("force", "{channel:int}force"),
        Form("poll", "poll"),
        Form("close", "close"),
        Form("ask_unfinished", "unfinished"),
    ),
    "union_gate": (
        Form("arrive", "{member:int}.{channel:int}data", (("item", "data"),)),
        Form("arrive", "{member:int}.{channel:int}end", (("item", "end_of_data"),)),
        Form("arrive", "{member:int}.{channel:int}stop", (("item", "stop"),)),
        Form("arrive", "{member:int}.{channel:int}over", (("item", "end_of_partition"),)),
        Form("poll", "poll"),
    ),
}
