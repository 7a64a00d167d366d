"""Closes its standard input after its reply to the bad case, and lives on."""

import os
import time

from speaking import answer, serve


def misbehave(request):
    answer(request)
    os.close(0)
    time.sleep(600)


serve(misbehave)
