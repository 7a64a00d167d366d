"""Answers everything rightly, each case in a tenth of the time allowed and all of them in far more."""

import time

from speaking import HELLO, answer, requests

for request in requests():
    if request["op"] == "hello":
        answer(request, ok=HELLO)
    elif request["op"] == "replay":
        time.sleep(0.1)
        answer(request)
