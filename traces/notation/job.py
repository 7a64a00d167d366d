"""The short forms of events of a job: the choices of its scheduler."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "job": (
        Form("choice", "emit{at:int}", (("action", "emit"),)),
        Form("choice", "poll{at:int}", (("action", "poll"),)),
        Form("choice", "fire{at:int}", (("action", "fire"),)),
        Form("choice", "fail{at:int}", (("action", "fail"),)),
        Form("choice", "flush{at:int}", (("action", "flush"),)),
        Form("choice", "deliver{at:int}", (("action", "deliver"),)),
        Form("choice", "announce{at:int}", (("action", "announce"),)),
        Form("choice", "credit{at:int}", (("action", "deliver_credit"),)),
    ),
}
