"""Hangs in the bad case."""

import time

from speaking import serve

serve(lambda _: time.sleep(600))
