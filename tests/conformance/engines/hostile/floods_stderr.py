"""Writes a gigabyte to standard error before it answers the bad case, rightly."""

import os

from speaking import answer, serve


def misbehave(request):
    for _ in range(512):
        os.write(2, b"x" * 1024 * 1024)
        os.write(2, b"warning: still thinking\n" * 43_690)
    answer(request)


serve(misbehave)
