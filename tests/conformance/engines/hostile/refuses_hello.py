"""Answers hello with an error."""

from speaking import answer, requests

for request in requests():
    answer(request, error={"kind": "internal", "message": "no license \x1b]0;owned\x07"})
