"""Answers the bad case with a hundred thousand lists within lists."""

from speaking import answer_literally, serve

DEEP = "[" * 100_000 + "]" * 100_000

serve(lambda request: answer_literally(request, f"[[],[],{DEEP}]"))
