"""Hangs in the bad case and does not leave when asked."""

import signal
import time

from speaking import serve

signal.signal(signal.SIGTERM, signal.SIG_IGN)
serve(lambda _: time.sleep(600))
