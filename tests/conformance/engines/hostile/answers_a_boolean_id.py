"""Answers the bad case under an id that equals 1 in some languages."""

from speaking import right, say, serve

serve(lambda request: say({"id": True, "ok": {"steps": right(request)}}))
