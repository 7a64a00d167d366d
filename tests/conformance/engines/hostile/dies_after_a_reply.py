"""Answers the bad case rightly, and exits."""

import os

from speaking import answer, serve


def misbehave(request):
    answer(request)
    os._exit(0)


serve(misbehave)
