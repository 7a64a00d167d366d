"""Dies of the bad case the first time that it sees it, and never again."""

import os
from pathlib import Path

from speaking import answer, serve


def misbehave(request):
    flag = Path(os.environ["HOSTILE_SCRATCH"], "seen")
    if not flag.exists():
        flag.touch()
        os._exit(3)
    answer(request)


serve(misbehave)
