"""Which tests share a process when several run them: `pytest -n 2 --dist loadfile`."""

import pytest
from xdist.scheduler import LoadFileScheduling

#: What has a costly fixture that files share: all of these are run by one process, before all others.
TOGETHER = {
    "tests/conformance/engines/spark/": "spark",
    "tests/conformance/audit/test_spark.py": "spark",
    "tests/conformance/engines/flink/adapters/": "flink",
    "tests/conformance/engines/flink/test_defects.py": "flink",
}


def scope_of(nodeid):
    return next((name for start, name in TOGETHER.items() if nodeid.startswith(start)), nodeid.partition("::")[0])


class Scheduling(LoadFileScheduling):
    """A file is run by one process, for its fixtures' sake, and so are the files of a scope."""

    def _split_scope(self, nodeid):
        return scope_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # the order is made below: it knows what takes long
    return Scheduling(config, log)


def pytest_collection_modifyitems(items):
    """What takes long begins first, so that nothing long is left for the end."""
    items.sort(key=lambda item: scope_of(item.nodeid) not in TOGETHER.values())
