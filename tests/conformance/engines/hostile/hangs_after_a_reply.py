"""Answers the bad case rightly, and reads nothing more."""

import time

from speaking import answer, serve


def misbehave(request):
    answer(request)
    time.sleep(600)


serve(misbehave)
