"""Closes its standard input in the bad case, unanswered, and lives on."""

import os
import time

from speaking import serve


def misbehave(request):
    os.close(0)
    time.sleep(600)


serve(misbehave)
