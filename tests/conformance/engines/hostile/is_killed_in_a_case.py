"""Is killed by a signal in the bad case, in the middle of its reply."""

import os
import signal

from speaking import serve, write


def misbehave(request):
    write('{"id":')
    os.kill(os.getpid(), signal.SIGSEGV)


serve(misbehave)
