"""Answers the bad case under an id that nobody gave."""

from speaking import right, say, serve

serve(lambda request: say({"id": request["id"] + 1_000_000, "ok": {"steps": right(request)}}))
