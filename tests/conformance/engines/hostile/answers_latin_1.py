"""Answers the bad case in another encoding than UTF-8."""

from speaking import answer_literally, serve

serve(lambda request: answer_literally(request, '[[],[],[{"type":"über"}]]'.encode("latin-1")))
