"""Answers the bad case under the id of the next."""

from speaking import right, say, serve

serve(lambda request: say({"id": request["id"] + 1, "ok": {"steps": right(request)}}))
