"""Writes a gigabyte without a newline in the bad case."""

from speaking import serve, write


def misbehave(request):
    for _ in range(1024):
        write(b"x" * 1024 * 1024)


serve(misbehave)
