"""Answers the bad case with a number beyond all floats."""

from speaking import answer_literally, serve

serve(lambda request: answer_literally(request, '[[{"type":"watermark","timestamp":1e400}],[],[]]'))
