"""Dies of every case."""

import os

from speaking import HELLO, answer, requests

for request in requests():
    if request["op"] == "replay":
        os._exit(3)
    answer(request, ok=HELLO)
