"""Answers the bad case with a step too few."""

from speaking import answer, right, serve

serve(lambda request: answer(request, ok={"steps": right(request)[1:]}))
