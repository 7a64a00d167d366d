"""Writes a gigabyte of lines that are no JSON in the bad case."""

from speaking import serve, write


def misbehave(request):
    for _ in range(1024):
        write(b"DEBUG tick\n" * 95_325)


serve(misbehave)
