"""Answers the bad case with an integer of a million digits."""

from speaking import answer_literally, serve

serve(lambda request: answer_literally(request, "[[],[],[" + "9" * 1_000_000 + "]]"))
