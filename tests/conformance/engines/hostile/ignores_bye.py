"""Answers everything rightly, and stays when it is told to leave."""

import signal
import time

from speaking import answer, serve

signal.signal(signal.SIGTERM, signal.SIG_IGN)
serve(answer)
time.sleep(600)
