"""Answers the bad case rightly, twice."""

from speaking import answer, serve


def misbehave(request):
    answer(request)
    answer(request)


serve(misbehave)
