"""Answers the bad case with NaN, which is no JSON."""

from speaking import answer, serve

serve(lambda request: answer(request, ok={"steps": [[{"type": "watermark", "timestamp": float("nan")}]] * 3}))
