"""Dies of the bad case, and cannot be started a second time."""

import os
import sys
from pathlib import Path

from speaking import serve

flag = Path(os.environ["HOSTILE_SCRATCH"], "started")
if flag.exists():
    sys.exit("the database is locked")
flag.touch()
serve(lambda _: os._exit(3))
