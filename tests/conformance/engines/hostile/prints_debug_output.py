"""Prints to standard output in the bad case, before its reply."""

from speaking import answer, serve, write


def misbehave(request):
    write("now in \x1b[2Jthe bad case\n")
    answer(request)


serve(misbehave)
