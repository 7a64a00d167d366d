"""Answers the bad case with the reply to the case before it, id and all."""

from speaking import HELLO, answer, is_bad, requests

previous = None
for request in requests():
    if request["op"] == "hello":
        answer(request, ok=HELLO)
    elif request["op"] == "bye":
        break
    elif is_bad(request) and previous:
        answer(previous)
    else:
        answer(request)
        previous = request
