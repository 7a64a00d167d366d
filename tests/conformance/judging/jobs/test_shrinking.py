"""Jobs are made small, also where a fault shows only now and then; and no trouble hides another."""

from tidegate.conformance.engines.flink.jobs.engine import ABILITIES
from tidegate.conformance.judging.jobs.drawing import draw_job
from tidegate.conformance.judging.jobs.explanation import Wrong
from tidegate.conformance.judging.jobs.judging import Judged
from tidegate.conformance.judging.jobs.shrinking import MOST_RUNS, shrink_job
from tidegate.conformance.judging.verdicts import Status


def kinds_in(case):
    return {item.type for operator in case.config.operators for script in operator.scripts for item in script}


class Sometimes:
    """Shows a fault in so many runs of ten, if there is a watermark and a status, and timers can be interrupted."""

    abilities = ABILITIES

    def __init__(self, often):
        self.often, self.runs = often, 0

    def run(self, case):
        self.runs += 1
        is_right = kinds_in(case) >= {"watermark", "status"} and case.settings["interruptible_timers"]
        fails = is_right and 7 * self.runs % 10 < self.often
        return Judged(case, Status.FAIL if fails else Status.PASS)


def find_large():
    cases = (draw_job(0, index, ABILITIES) for index in range(1000))
    return next(
        case
        for case in cases
        if case.size > 40 and kinds_in(case) >= {"watermark", "status"} and case.settings["interruptible_timers"]
    )


def test_a_fault_that_shows_now_and_then_is_made_small_too():
    for often in (10, 5, 3):
        judge = Sometimes(often)
        small = shrink_job(judge, Judged(find_large(), Status.FAIL), lambda again: again.status is Status.FAIL)
        assert small.case.size == 2
        assert len(small.case.config.operators) <= 3, "a source and a sink alone might be one task, which shows nothing"
        odd = {name for name, value in small.case.settings.items() if value != ABILITIES.settings[name][0]}
        assert odd == {"interruptible_timers"}
        assert judge.runs <= MOST_RUNS + 1


def test_a_fault_that_never_shows_again_leaves_the_job_as_it_is():
    first = Judged(find_large(), Status.FAIL)
    assert shrink_job(Sometimes(0), first, lambda again: again.status is Status.FAIL) is first


def test_every_trouble_of_a_job_is_told_once():
    wrongs = tuple(Wrong((name,), "seen") for name in ("TASK-7", "TIME-3", "TASK-7"))
    assert Judged(find_large(), Status.FAIL, wrongs).kinds == ("fail TASK-7", "fail TIME-3")
    assert Judged(find_large(), Status.PASS).kinds == ("pass",)
