"""Answers the bad case with an unpaired surrogate, which no report could be written with."""

from speaking import answer_literally, serve

serve(lambda request: answer_literally(request, r'[[],[],[{"type":"\ud800"}]]'))
