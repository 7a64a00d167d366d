"""Answers the bad case with five million objects, which would take a gigabyte once parsed."""

from speaking import answer_literally, serve

MANY = "{}," * 5_000_000

serve(lambda request: answer_literally(request, f"[[],[],[{MANY}{{}}]]"))
