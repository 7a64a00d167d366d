"""Closes its standard output in the bad case, and lives on."""

import os
import time

from speaking import serve


def misbehave(request):
    os.close(1)
    time.sleep(600)


serve(misbehave)
