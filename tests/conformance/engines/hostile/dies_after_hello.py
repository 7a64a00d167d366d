"""Answers hello, and exits."""

from speaking import HELLO, answer, requests

answer(next(requests()), ok=HELLO)
