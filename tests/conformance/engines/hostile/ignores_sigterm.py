"""Hangs in the bad case, leaves a sign that it does, and does not leave when asked."""

import os
import signal
import time
from pathlib import Path

from speaking import serve


def misbehave(_request):
    Path(os.environ["HOSTILE_SCRATCH"], "hangs").touch()
    time.sleep(600)


signal.signal(signal.SIGTERM, signal.SIG_IGN)
serve(misbehave)
