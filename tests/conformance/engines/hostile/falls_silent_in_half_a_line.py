"""Writes half of its reply to the bad case, and then nothing."""

import time

from speaking import serve, write


def misbehave(request):
    write(f'{{"id":{request["id"]},"ok":{{"steps":[')
    time.sleep(600)


serve(misbehave)
