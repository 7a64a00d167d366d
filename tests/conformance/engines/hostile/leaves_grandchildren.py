"""Starts a child in its group and a daemon out of it, both holding its streams, and dies in the bad case."""

import os
import signal
import subprocess
import sys

from speaking import serve

IDLE = [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"]


def misbehave(request):
    subprocess.Popen(IDLE)
    subprocess.Popen(IDLE, start_new_session=True)
    os._exit(3)


signal.signal(signal.SIGHUP, signal.SIG_IGN)
serve(misbehave)
