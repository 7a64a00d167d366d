"""Answers the bad case with five hundred lists within lists: enough to break whoever walks them."""

from speaking import answer_literally, serve

DEEP = "[" * 500 + "]" * 500

serve(lambda request: answer_literally(request, f'[[],[],[{{"type":"x","y":{DEEP}}}]]'))
