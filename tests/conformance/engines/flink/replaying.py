"""What the tests of all adapters do: replay cases on the real classes, and let the judge look at the answers."""

from collections import Counter

from tests.paths import ROOT
from tidegate.conformance.engines.base import Refused, Request
from tidegate.conformance.judging.suite import Planned, is_declared
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.drawing.cases import draw_case
from tidegate.traces.files import read_traces

GOLDEN = ROOT / "traces" / "golden"


def replay_golden(engine, component):
    """How many golden cases passed; every one that the engine declares must."""
    _header, cases = read_traces(GOLDEN / f"{component}.jsonl.gz")
    return replay(engine, cases)


def replay_generated(engine, component, count, seed="adapter"):
    """The same for so many generated cases, of what the engine declares."""
    cases = (draw_case(component, seed, index) for index in range(10 * count))
    description = engine.start()
    declared = (case for case in cases if is_declared(description, case))
    return replay(engine, [case for case, _ in zip(declared, range(count), strict=False)])


def replay(engine, cases):
    declared = [case for case in cases if is_declared(engine.start(), case)]
    verdicts = list(Runner(engine).run(Planned("test", case) for case in declared))
    wrong = [verdict for verdict in verdicts if verdict.status is not Status.PASS]
    assert not wrong, f"{Counter(one.status for one in wrong)}, the first: {wrong[0]}"
    return len(verdicts)


def answer(engine, component, config, *events):
    """The engine's own answer to one case, unjudged: its steps, or how it was refused."""
    ((_request, reply),) = engine.replay([Request("case", component, config, list(events))])
    return reply if isinstance(reply, Refused) else reply.steps


def is_bad_request(engine, component, config, *events):
    reply = answer(engine, component, config, *events)
    return isinstance(reply, Refused) and reply.kind == "bad_request"
