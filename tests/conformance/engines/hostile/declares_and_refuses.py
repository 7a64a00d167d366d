"""Declares the valve and refuses the bad case, in colour."""

from speaking import answer, serve

serve(lambda request: answer(request, error={"kind": "unsupported", "message": "\x1b[31mnot today"}))
