"""A finding as text: the rule, the trace, allowed and seen answers, and the command to reproduce it."""

import json
from typing import Any

import attrs

from tidegate.conformance.engines.text import command_line, printable
from tidegate.conformance.judging.expected import suspects
from tidegate.conformance.judging.verdicts import BROKEN, Status, Verdict, Violation
from tidegate.reference.components import COMPONENTS
from tidegate.reference.rules import all_rules
from tidegate.traces.codec import encode
from tidegate.traces.notation.text import write_event, write_observations, write_trace

#: How many rules of a finding are quoted; of the others only the ids appear.
RULES_IN_FULL = 2
#: A trace of this many characters is not repeated as JSON in a report.
LONG_TRACE = 100_000
#: Prefix of the name of an engine that was passed as an object: no text after `--engine` names it.
OBJECT = "object:"
#: What an engine does that gives no answer.
UNANSWERED: dict[str, str] = {Status.TIMEOUT: "hangs", Status.CRASH: "crashes"}


@attrs.frozen
class Finding:
    """Everything that is printed about a failing case, safe to show."""

    case: str
    component: str
    stage: str
    result: str
    message: str
    rules: tuple[tuple[str, str], ...]
    trail: tuple[str, ...]
    config: str
    #: Events as sent to an engine; empty if they are too long for a report.
    events: tuple[Any, ...] | None
    trace: str
    step: int | None
    event: str
    allowed: tuple[str, ...]
    seen: str
    reproduce: str
    stderr: tuple[str, ...] = ()
    #: Whether state from an earlier case makes it fail.
    leaks: bool = False

    @property
    def title(self) -> str:
        if self.result in UNANSWERED:
            return f"{self.component} {UNANSWERED[self.result]}"
        if self.breaks_protocol:
            return f"{self.component}: the protocol is broken"
        if self.leaks:
            return f"{self.component}: state leaks from case to case"
        if self.rules:
            return f"{self.component} breaks {self.rules[0][0]}"
        return f"{self.component}: {self.result}"

    @property
    def breaks_protocol(self) -> bool:
        """Whether it is about how the engine answers, not what."""
        return self.result == Status.ERROR and self.message.startswith(BROKEN)

    def text(self) -> str:
        lines = [self.title]
        rules = () if self.breaks_protocol else self.rules
        lines += [f"  {rule}: {text}" for rule, text in rules[:RULES_IN_FULL]]
        if rules[RULES_IN_FULL:]:
            lines.append(f"  also      {', '.join(rule for rule, _text in rules[RULES_IN_FULL:])}")
        if self.trail:
            lines.append(f"  earlier   {', '.join(self.trail)}")
        if self.message:
            lines.append(f"  {self.message}")
        lines += [f"  config    {self.config}", f"  trace     {self.trace}"]
        if self.step is not None:
            lines.append(f"  at step   {self.step + 1}, {self.event}" if self.event != self.trace else "  at step   1")
        if self.seen:
            lines.append(f"  allowed   {' | '.join(self.allowed[:6])}{' | …' if len(self.allowed) > 6 else ''}")
            lines.append(f"  seen      {self.seen}")
        lines += [f"  stderr    {line}" for line in self.stderr[-5:]]
        lines.append(f"  reproduce {self.reproduce}")
        return "\n".join(lines)

    def json(self) -> dict[str, Any]:
        """For programs; steps count from 1. `tidegate-report.json` describes the fields."""
        return {
            "case": self.case,
            "component": self.component,
            "stage": self.stage,
            "verdict": self.result,
            "message": self.message,
            "rules": [rule for rule, _text in self.rules],
            "earlier": list(self.trail),
            "config": json.loads(self.config),
            "events": None if self.events is None else list(self.events),
            "trace": self.trace,
            "step": None if self.step is None else self.step + 1,
            "allowed": list(self.allowed),
            "seen": self.seen,
            "reproduce": self.reproduce,
            "stderr": list(self.stderr),
        }


def describe(verdict: Verdict, engine: str, *, is_cut: bool = False, times: int | None = 1) -> Finding:
    """A verdict as text. `is_cut`: the case ends with the failing step, whatever the failure is.

    `times` is how often the case is replayed before it fails; None if other cases must come before it.
    """
    case, violation = verdict.case, verdict.violation
    step = violation.step if violation else len(case.events) - 1 if is_cut and verdict.status in UNANSWERED else None
    trace = write_trace(case.component, case.events, brief=case.brief)
    config = encode(case.config, brief=case.brief)
    known = all_rules()
    # One case alone shows neither a relation between two cases nor state that others have left.
    stage = verdict.stage if verdict.is_relation else ""
    return Finding(
        case=printable(case.name),
        component=case.component,
        stage=verdict.stage,
        result=str(verdict.status),
        message=printable(verdict.message),
        rules=tuple((rule, known[rule].text if rule in known else "") for rule in suspects(verdict)),
        trail=tuple(rule for rule in violation.trail if rule not in violation.rules) if violation else (),
        config=json.dumps(config),
        events=tuple(encode(event, brief=case.brief) for event in case.events) if len(trace) < LONG_TRACE else None,
        trace=printable(trace, limit=4000),
        step=step,
        event="" if step is None else printable(write_event(case.component, case.events[step], brief=case.brief)),
        allowed=tuple(printable(write_observations(one.observations)) for one in violation.allowed)
        if violation
        else (),
        seen=show_seen(violation) if violation else "",
        reproduce=reproduction(engine, case.component, config, trace, times)
        if times is not None and not verdict.is_relation
        else rerun(engine, case.component, stage),
        stderr=tuple(printable(line) for line in verdict.stderr),
        leaks=times != 1,
    )


def show_seen(violation: Violation) -> str:
    shown = printable(write_observations(violation.seen)) if violation.seen or not violation.more else ""
    return shown if not violation.more else f"{shown} … and {violation.more} more, too much to show".lstrip()


def reproduction(engine: str, component: str, config: Any, trace: str, times: int = 1) -> str:
    """The command that replays this trace, or the library call if the engine is an object."""
    words = ["tidegate", "replay", "--engine", engine, "--component", component]
    words += ["--config", json.dumps(config, separators=(",", ":")), "--trace", trace]
    semantics, known = config.get("semantics"), COMPONENTS[component].semantics
    # Without this, an engine that does not declare the semantics would skip the case; otherwise it changes nothing.
    more = {"semantics": semantics} if semantics is not None and semantics != known[0] else {}
    more |= {"times": times} if times > 1 else {}
    if engine.startswith(OBJECT):
        return call("replay", repr(component), repr(config), repr(trace), **more)
    return command_line([*words, *(word for name, value in more.items() for word in (f"--{name}", str(value)))])


def rerun(engine: str, component: str, stage: str) -> str:
    """The command or library call that runs the suite of a component again, or one stage of it."""
    if engine.startswith(OBJECT):
        return call("run", components=[component], **({"stages": [stage]} if stage else {}))
    words = ["tidegate", "run", "--engine", engine, "--component", component]
    return command_line([*words, *(("--stage", stage) if stage else ())])


def call(name: str, *words: str, **more: Any) -> str:
    """A library call for an engine that is an object."""
    said = ["engine", *words, *(f"{key}={value!r}" for key, value in more.items())]
    return printable(f"tidegate.{name}({', '.join(said)})", limit=LONG_TRACE)
