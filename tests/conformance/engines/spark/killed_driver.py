"""A driver whose JVM is killed behind the write of its second micro-batch: `python -m … FOLDER`."""

import os
import signal
import sys
from pathlib import Path

from tests.conformance.engines.spark.test_faults import keep_a_copy
from tidegate.conformance.engines.spark.session import SHORT_LIVED, make_session
from tidegate.conformance.engines.spark.streaming.query import Folder, Options, run_query


def main(path):
    folder = Folder(Path(path))
    spark = make_session("local[2]", "to be killed", SHORT_LIVED)
    jvm = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()

    def kill_the_jvm(number):
        keep_a_copy(folder, number)
        if number == 1:
            os.kill(jvm, signal.SIGKILL)

    run_query(spark, folder, Options(hook=kill_the_jvm))


if __name__ == "__main__":
    main(sys.argv[1])
