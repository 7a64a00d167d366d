"""Hangs in the bad case the first time that it sees it, and never again."""

import os
import time
from pathlib import Path

from speaking import answer, serve


def misbehave(request):
    flag = Path(os.environ["HOSTILE_SCRATCH"], "seen")
    if not flag.exists():
        flag.touch()
        time.sleep(600)
    answer(request)


serve(misbehave)
