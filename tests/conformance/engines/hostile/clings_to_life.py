"""Hangs in its first case, with a child in its group and one out of it, all of them deaf to whoever asks them to leave.

Run as `env -i PYTHON clings_to_life.py FOLDER`: nobody can tell by its environment whose it is. Leaves its process
numbers and those of its children in the folder.
"""

import os
import signal
import sys
import time
from pathlib import Path

from speaking import HELLO, answer, requests

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
for request in requests():
    if request["op"] == "hello":
        answer(request, ok={**HELLO, "components": {"valve": {}, "gate": {}}})
    elif request["op"] == "replay":
        me = os.getpid()
        for out_of_group in (False, True):
            if os.fork() == 0 and out_of_group:
                os.setsid()
                if os.fork():
                    os._exit(0)  # whose parent is gone, is an orphan
        Path(sys.argv[1], f"{me} {os.getpid()}").touch()
        time.sleep(600)
