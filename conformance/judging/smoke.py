"""A first look at an engine: the handshake, one case of each component, and the protocol itself.

The cases go through the harness, as in a run. Then the wire is read directly (`bare_wire`).
"""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

import attrs

from tidegate.conformance.engines import base
from tidegate.conformance.engines.processes.process import ProcessEngine
from tidegate.conformance.engines.text import printable
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.bare_wire import Level, Remark, by_hand, lint_wire
from tidegate.conformance.judging.golden import read_golden
from tidegate.conformance.judging.run import Candidate
from tidegate.conformance.judging.suite import Planned, accepts
from tidegate.conformance.judging.trial import Encoder, Runner, Trial
from tidegate.conformance.judging.verdicts import UNDETERMINED, VIOLATIONS, Status, Verdict
from tidegate.conformance.reports.findings import Finding, describe
from tidegate.conformance.reports.summary import Summary, Told
from tidegate.properties.drawing.cases import NothingAcceptedError, draw_case
from tidegate.properties.drawing.directed import directed
from tidegate.reference.components import COMPONENTS
from tidegate.reference.elements import types_of
from tidegate.reference.model import AnyComponent
from tidegate.traces.cases import Case
from tidegate.traces.codec import DecodeError, decode_case

REFUSAL_HINT = 'check the whole case first, and answer {"id":…,"error":{"kind":"bad_request","message":"…"}}'


@attrs.frozen
class Smoked(Told):
    """The findings. `untried` are components whose declaration leaves no case to try."""

    CONCLUSIONS = {  # noqa: RUF012 - nobody changes it
        Exit.CONFORMANT: "the smoke test is passed",
        Exit.VIOLATIONS: "the smoke test is failed",
        Exit.UNDETERMINED: "undetermined",
    }
    engine: str
    description: base.Description
    verdicts: tuple[Verdict, ...]
    untried: tuple[str, ...]
    remarks: tuple[Remark, ...]
    strict: bool = False

    @property
    def exit_code(self) -> Exit:
        bad = {Level.ERROR, Level.WARNING} if self.strict else {Level.ERROR}
        if any(one.status in VIOLATIONS for one in self.verdicts) or any(one.level in bad for one in self.remarks):
            return Exit.VIOLATIONS
        if not self.verdicts or self.untried or any(one.status in UNDETERMINED for one in self.verdicts):
            return Exit.UNDETERMINED
        return Exit.CONFORMANT

    def findings(self) -> Iterator[tuple[Finding, str]]:
        """Each case that went wrong, with the shell line that shows it without the harness."""
        for verdict in self.verdicts:
            if verdict.status in VIOLATIONS:
                finding = describe(verdict, self.engine)
                if verdict.violation is None:
                    # No step failed, and the case was not shrunken to the one that matters: no rule is to blame yet.
                    finding = attrs.evolve(finding, rules=(), trail=())
                yield finding, by_hand(self.engine, Encoder().request(verdict.case))

    def notes(self) -> list[str]:
        said = [one.text() for one in self.remarks]
        if not self.verdicts and not self.untried:
            said.append("Nothing was tried: the engine declares nothing that the specification knows.")
        return said + [f"{name}: not tried: no case has the declared kinds and semantics." for name in self.untried]

    def summary(self) -> Summary:
        about = self.description
        counts = {"component": len(self.verdicts)}
        counts |= {level: sum(one.level == level for one in self.remarks) for level in ("error", "warning")}
        shown = ", ".join(f"{count} {what}{'s' * (count != 1)}" for what, count in counts.items())
        return Summary(
            title=f"Smoke test of {printable(self.engine)}",
            header=("component", "case", "events", "verdict"),
            rows=tuple(tuple(as_row(one).values()) for one in self.verdicts),
            findings=tuple(
                finding.text() + (f"\n  by hand   {line}" if line else "") for finding, line in self.findings()
            ),
            notes=tuple(self.notes()),
            conclusion=f"{about.name} {about.version} ({about.language}): {self.conclusion}, {shown}",
            exit_code=self.exit_code,
        )

    def json(self) -> dict[str, Any]:
        return {
            "engine": self.engine,
            "implementation": self.description.implementation,
            "declared": list(self.description.components),
            "conclusion": self.conclusion,
            "exit": int(self.exit_code),
            "cases": [as_row(one) for one in self.verdicts],
            "not_tried": list(self.untried),
            "findings": [{**attrs.asdict(finding), "by_hand": line} for finding, line in self.findings()],
            "remarks": [attrs.asdict(one) for one in self.remarks],
        }


def as_row(verdict: Verdict) -> dict[str, Any]:
    case = verdict.case
    return {"component": case.component, "case": case.name, "events": len(case.events), "verdict": str(verdict.status)}


def smoke(candidate: Candidate) -> Smoked:
    """Check an engine. The harness is never strict here: it would refuse to send the probes, which break the
    schemas on purpose.
    """
    with attrs.evolve(candidate, strict=False).make() as engine:
        return look_at(engine, candidate.name, strict=candidate.strict)


def look_at(engine: base.Engine, name: str, *, strict: bool) -> Smoked:
    description = engine.start()
    remarks = list(lint_claims(description))
    picked = {one: pick_case(one, description.components[one]) for one in COMPONENTS if one in description.components}
    cases = [case for case in picked.values() if case is not None]
    verdicts = list(Trial(Runner(engine)).try_cases(Planned("smoke", case) for case in cases))
    # If the engine died, that is enough to report; on the bare wire nothing restarts it.
    safe = [one.case for one in verdicts if one.status not in (Status.TIMEOUT, Status.CRASH, Status.NOT_RUN)]
    remarks += probe(engine, name, safe)
    engine.close()
    if isinstance(engine, ProcessEngine):
        remarks += lint_wire(engine, safe, strict=strict)
    untried = tuple(component for component, case in picked.items() if case is None)
    return Smoked(name, description, tuple(verdicts), untried, tuple(dict.fromkeys(remarks)), strict)


def pick_case(component: str, claim: base.Claim) -> Case | None:
    """A case that the engine declares: written by hand, or from the golden traces, or generated."""
    for case in (*(one.case for one in directed(component)), *read_golden(component)):
        if accepts(claim, component, case.config):
            return case
    try:
        return draw_case(component, 0, 0, lambda config: accepts(claim, component, config))
    except NothingAcceptedError:
        return None


def lint_claims(description: base.Description) -> Iterator[Remark]:
    if not description.components:
        yield Remark(Level.WARNING, "hello", "no component is declared", 'for example "components":{"valve":{}}')
    for name, claim in description.components.items():
        place = f"hello, {name}"
        if name not in COMPONENTS:
            message = "this suite has no such component, so nothing of it is checked"
            yield Remark(Level.WARNING, place, message, suggest(name, COMPONENTS))
            continue
        yield from lint_names(place, "kinds", claim.kinds, list_kinds(COMPONENTS[name]))
        yield from lint_names(place, "semantics", claim.semantics, COMPONENTS[name].semantics)
        yield from lint_names(place, "extensions", claim.extensions, COMPONENTS[name].extensions)


def lint_names(place: str, what: str, declared: Iterable[str] | None, known: tuple[str, ...]) -> Iterator[Remark]:
    if declared is None:
        return
    names = sorted(declared)
    if not known:
        yield Remark(Level.WARNING, place, f"this component has no {what}", f'leave "{what}" out')
        return
    if not names:
        yield Remark(Level.WARNING, place, f"an empty list of {what} declares nothing", "leave it out, or name some")
    for name in names:
        if name not in known:
            yield Remark(Level.WARNING, place, f"{name} is not one of the {what}", suggest(name, known))


def list_kinds(component: AnyComponent) -> tuple[str, ...]:
    """The names that a config may give as its kind, or in the wiring as its pattern."""
    named = [kind for name, kind in types_of(component.config).items() if name in ("kind", "pattern")]
    return tuple(map(str, named[0])) if named else ()


def suggest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name.lower(), known, n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"


def probe(engine: base.Engine, name: str, cases: Iterable[Case]) -> Iterator[Remark]:
    """Malformed cases: the answer to each is `bad_request`."""
    for case in cases:
        probes = list(make_probes(Encoder().request(case)))
        replies = engine.replay(request for _what, request in probes)
        for (what, _), (request, reply) in zip(probes, list(replies), strict=True):
            if isinstance(reply, base.NotRun) or (isinstance(reply, base.Refused) and reply.kind == "bad_request"):
                continue
            level = Level.WARNING if isinstance(reply, base.Steps | base.Refused) else Level.ERROR
            message = f"{what} is not refused with bad_request: {describe_reply(reply)}"
            yield Remark(level, case.component, message, REFUSAL_HINT, by_hand(name, request))
            if isinstance(reply, base.TimedOut | base.Crashed):
                return  # each further one would take as long, and show nothing new


def make_probes(good: base.Request) -> Iterator[tuple[str, base.Request]]:
    """One of each sort, made from a valid case; the codec confirms that it is malformed."""
    made = set()
    for sort, what, config, events in malformed(good):
        request = base.Request(f"{good.case}-{sort}", good.component, config, events)
        try:
            decode_case(request.as_case())
        except DecodeError:
            if sort not in made:
                yield what, request
            made.add(sort)


def malformed(good: base.Request) -> Iterator[tuple[str, str, dict[str, Any], list[dict[str, Any]]]]:
    config, events = good.config, good.events
    for key, value in config.items():
        yield "config-without", f"a config without {key}", {k: v for k, v in config.items() if k != key}, events
        if type(value) is int:
            yield "config-zero", f"a config with {key} 0", {**config, key: 0}, events
    # The malformed event comes last: the engine must refuse the whole case, not only what follows.
    yield "event-type", "an event of an unknown type", config, [*events, {"type": "no_such_event"}]
    for event in events:
        for key, value in reversed(event.items()):
            less = {k: v for k, v in event.items() if k != key}
            yield "event-without", f"an event without {key}", config, [*events, less]
            if key != "type" and type(value) is str:
                yield "event-number", f"an event with the number 5 as {key}", config, [*events, {**event, key: 5}]


def describe_reply(reply: base.Steps | base.Refused | base.Broken | base.Crashed | base.TimedOut) -> str:
    if isinstance(reply, base.Steps):
        return "it was answered like a case"
    if isinstance(reply, base.Refused):
        return f"the answer was {reply.kind}, {reply.message}"
    return f"no answer in {reply.seconds:g} s" if isinstance(reply, base.TimedOut) else f"the engine {reply.message}"
