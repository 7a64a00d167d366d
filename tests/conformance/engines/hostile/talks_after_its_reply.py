"""Prints to standard output after its reply to the bad case."""

from speaking import answer, serve, write


def misbehave(request):
    answer(request)
    write("done\n")


serve(misbehave)
