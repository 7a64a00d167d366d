"""Python engines for the tests: classes that import nothing of ours."""

import os
import sys
import time


class Echo:
    """Answers every case rightly, and prints while it does."""

    def describe(self):
        print("describing")
        implementation = {"name": "echo", "version": "1", "language": "python"}
        return {"implementation": implementation, "components": {"valve": {"semantics": ["flink-7728"]}}}

    def replay(self, cases):
        print("replaying", len(cases))
        os.write(1, b"from below\n")
        return [self.one(case) for case in cases]

    def one(self, case):
        return {"steps": [[{"type": "watermark", "timestamp": event["timestamp"]}] for event in case["events"]]}


class ReadsInput(Echo):
    """Reads standard input, which is not its own."""

    def replay(self, cases):
        assert sys.stdin.read() == ""
        return super().replay(cases)


class BareLists(Echo):
    """Answers with the bare list of steps."""

    def one(self, case):
        return super().one(case)["steps"]


class CountsBatches(Echo):
    """Shows in each observation how many cases came together."""

    def replay(self, cases):
        return [{"steps": [[{"type": "batch", "size": len(cases)}] for _ in case["events"]]} for case in cases]


class Refuses(Echo):
    """Refuses the bad case."""

    def one(self, case):
        if case["case"] == "bad":
            return {"error": {"kind": "unsupported", "message": "no"}}
        return super().one(case)


class Raises(Echo):
    """Raises in the bad case, whatever else is in its batch."""

    def one(self, case):
        if case["case"] == "bad":
            raise LookupError("no such channel")
        return super().one(case)


class LosesResults(Echo):
    """Gives no result for the bad case."""

    def replay(self, cases):
        return [self.one(case) for case in cases if case["case"] != "bad"]


class IsNoJson(Echo):
    """Answers the bad case with a set."""

    def one(self, case):
        return {"steps": [{1, 2}]} if case["case"] == "bad" else super().one(case)


class IsNoResult(Echo):
    """Answers the bad case with None."""

    def one(self, case):
        return None if case["case"] == "bad" else super().one(case)


class Hangs(Echo):
    """Hangs in the bad case."""

    def one(self, case):
        if case["case"] == "bad":
            time.sleep(600)
        return super().one(case)


class Exits(Echo):
    """Exits in the bad case."""

    def one(self, case):
        if case["case"] == "bad":
            os._exit(7)
        return super().one(case)


class ChangesItsCases(Echo):
    """Takes its list of cases apart, and each case with it; a batch with the bad case is too much for it."""

    def replay(self, cases):
        answers = []
        bad = any(case["case"] == "bad" for case in cases) and len(cases) > 1
        while cases:
            case = cases.pop(0)
            answers.append(self.one(case))
            case["events"].clear()
        if bad:
            raise LookupError("too much")
        return answers


class RaisesOddly(Echo):
    """Raises in the bad case what no handler of exceptions expects."""

    odd = SystemExit(3)

    def one(self, case):
        if case["case"] == "bad":
            raise self.odd
        return super().one(case)


class Speechless(BaseException):
    def __str__(self):
        raise ValueError("no words")


class RaisesSpeechless(RaisesOddly):
    odd = Speechless()


class RaisesInterrupt(RaisesOddly):
    odd = KeyboardInterrupt("not yours")


class AnswersWithTuples(Echo):
    """Answers as JSON would have it."""

    def one(self, case):
        return tuple(map(tuple, super().one(case)["steps"]))


class IsSlow(Echo):
    """Takes a while for every case: all of them together would look like a hang."""

    def one(self, case):
        time.sleep(0.1)
        return super().one(case)


class CannotBeMade:
    """Needs an argument that nobody gives."""

    def __init__(self, broker):
        self.broker = broker


class DescribesNothing(Echo):
    """Has nothing to say for itself."""

    def describe(self):
        return None
