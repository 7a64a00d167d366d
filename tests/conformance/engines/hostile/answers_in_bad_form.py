"""Answers the bad case with observations that are strings."""

from speaking import answer, serve

serve(lambda request: answer(request, ok={"steps": [["watermark"] for _ in request["events"]]}))
