"""The short forms of events of buffer pools."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "buffer_needs": (
        Form("partition", "partition:{result:word}.x{subpartitions:int}"),
        Form("gate", "gate:{result:word}.x{channels:int}"),
    ),
    "buffer_pools": (
        Form("create", "create{pool:int}:{required:int}-{maximum:int}", (("overdraft", 0), ("channels", 0))),
        Form("create", "create{pool:int}:{required:int}-{maximum:int}+{overdraft:int}", (("channels", 0),)),
        Form(
            "create", "create{pool:int}:{required:int}-{maximum:int}+{overdraft:int}/{channels:int}x{per_channel:int}"
        ),
        Form("destroy", "destroy{pool:int}"),
        Form("request", "{pool:int}take"),
        Form("request", "{pool:int}.{channel:int}take"),
        Form("recycle", "{pool:int}give"),
        Form("recycle", "{pool:int}.{channel:int}give"),
        Form("listen", "{pool:int}listen"),
    ),
}
