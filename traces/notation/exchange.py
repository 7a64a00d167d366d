"""The short forms of events of exchanges."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "exchange": (
        Form("register", "register"),
        Form("request", "{consumer:int}request"),
        Form("produce", "produce"),
        Form("flush", "flush"),
        Form("finish", "finish"),
        Form("pull", "{consumer:int}pull{credit:sign}"),
        Form("leave", "{consumer:int}leave"),
        Form("release", "release"),
        Form("end_job", "end_job"),
    ),
}
