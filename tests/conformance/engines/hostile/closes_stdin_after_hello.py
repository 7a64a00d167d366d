"""Answers hello, closes its standard input, and lives on."""

import os
import time

from speaking import HELLO, answer, requests

answer(next(requests()), ok=HELLO)
os.close(0)
time.sleep(600)
