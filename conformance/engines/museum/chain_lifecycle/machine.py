"""The life cycle of a chain, CHAIN-30 … CHAIN-37, CHAIN-39 … CHAIN-41.

Everything that happens is a script: a list of calls, written down first and then played, by one of two players. One
stops at the first call that fails, the other goes on to the end.
"""

from collections.abc import Iterable

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.chain_lifecycle.calls import Call, read_parents, to_json

SEMANTICS = ("flink-2.3", "flink-1.10", "flink-1.5")
EXTENSIONS = ("finished",)

_STEPS = ("prepare", "snapshot", "complete", "abort", "subsume")
_FALLIBLE = ("init", "open", "end_input", "finish", *_STEPS, "close", "dispose")
_CALLS = (*_FALLIBLE, "create", "quiesce", "mail")
_ELEMENTS = ("record", "status", "latency_marker")
_THE_END: wire.Json = {"type": "watermark", "timestamp": str(wire.HIGHEST)}


class ChainLifecycle:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("lifecycle-")
        self.parents, self.lingers = read_parents(config.get("operators"))
        self.sources = wire.get_at_least(config, "sources", 0)
        self.inputs = wire.get_at_least(config, "inputs", 0)
        self.semantics = wire.get_semantics(config, SEMANTICS)
        self.old = self.semantics != "flink-2.3"
        if self.sources > self.inputs or (self.sources and self.old):
            raise wire.BadRequestError("there are no such chained sources")
        self.past = wire.get_extension(config, EXTENSIONS) is not None
        if self.past and self.old:
            raise wire.BadRequestError("such chains are restored by newer semantics")
        #: The inputs that have yet to say that event time is over, chained sources behind the others.
        self.silent = list(range(self.inputs))
        self.tail_first = self.order_of_creation()
        self.created = self.opened = self.finished = self.broken = self.closed = False
        self.ended: set[int] = set()
        self.mails: list[int] = []
        self.faults: set[Call] = set()

    def order_of_creation(self) -> list[int]:
        bug = self.bug
        children: dict[int, list[int]] = {index: [] for index in range(len(self.parents))}
        for index, parent in enumerate(self.parents[1:], start=1):
            children[parent].append(index)
        # Heads first with the last branch first, and then turned round.
        order, waiting = [], [0]
        while waiting:
            operator = waiting.pop()
            order.append(operator)
            waiting += children[operator][::-1] if bug == "last-branch-first" else children[operator]
        order.reverse()
        sources = list(range(len(self.parents), len(self.parents) + self.sources))
        if bug == "sources-created-first":
            return sources + order
        return order + (sources[::-1] if bug == "last-source-first" else sources)

    def step(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "create":
                return self.on_create()
            case "open":
                return self.on_open()
            case "end_input":
                return self.on_end_input(wire.get_integer(event, "input"))
            case "mail":
                return self.on_mail(wire.get_integer(event, "operator"))
            case "finish":
                return self.on_finish(drain=wire.get_boolean(event, "drain"))
            case "checkpoint":
                return self.on_checkpoint(wire.get_choice(event, "step", _STEPS))
            case "close":
                return self.on_close()
            case "fault":
                return self.on_fault(event)
            case "watermark" if self.past:
                timestamp = wire.get_long(event, "timestamp")
                return self.on_watermark(wire.get_integer(event, "input"), timestamp)
            case "element" if self.past:
                return self.on_element(wire.get_integer(event, "input"), wire.get_choice(event, "kind", _ELEMENTS))
        raise wire.unknown_type(event)

    # --- a chain that had finished before

    def has_input(self, index: int) -> bool:
        return self.is_running() and 0 <= index < self.inputs - self.sources and index not in self.ended

    def on_watermark(self, index: int, timestamp: int) -> wire.Observations:
        bug = self.bug
        if not self.has_input(index) or (index not in self.silent and bug != "past-end-said-twice"):
            return wire.rejected()
        if timestamp != wire.HIGHEST and bug != "past-takes-any-watermark":
            return wire.rejected()
        if index in self.silent:
            self.silent.remove(index)
        if bug == "past-first-end-is-enough":
            return [_THE_END] if len(self.silent) == self.inputs - 1 else []
        if bug == "past-says-nothing":
            return []
        waits = [one for one in self.silent if bug != "past-sources-not-awaited" or one < self.inputs - self.sources]
        return [] if waits else [_THE_END]

    def on_element(self, index: int, kind: str) -> wire.Observations:
        if self.has_input(index) and self.bug == "past-statuses-ignored" and kind == "status":
            return []
        return wire.rejected()

    def finish_again(self, *, drain: bool) -> wire.Observations:
        """What its beginnings have to say, in the end."""
        bug = self.bug
        if bug == "past-finishes-again" and drain:
            return self.play(self.write_end())
        if bug == "past-sources-silent" or not (drain or bug == "past-stop-ends-time"):
            return []
        if bug == "past-end-said-in-any-case":
            return [_THE_END]
        begins = self.sources > 0 or self.inputs == 0
        return [_THE_END] if begins and all(one >= self.inputs - self.sources for one in self.silent) else []

    def save_channels(self) -> wire.Observations:
        bug = self.bug
        parts = [(self.tail_first[0], "outputs"), (0, "inputs")]
        if bug == "past-parts-of-the-head":
            parts[0] = (0, "outputs")
        if parts[0][0] == 0:
            parts.reverse()
        if bug == "past-inputs-not-saved":
            parts.remove((0, "inputs"))
        saved = [] if bug == "past-nothing-saved" else parts
        return [{"type": "channel_state", "operator": operator, "side": side} for operator, side in saved]

    # --- playing

    def fails(self, call: Call) -> bool:
        return (call[0], call[1].partition(":")[0]) in self.faults

    def play(self, script: list[Call]) -> wire.Observations:
        """Up to the first call that fails."""
        out: wire.Observations = []
        for call in script:
            out.append(to_json(call))
            if self.fails(call):
                return [*out, {"type": "failed", "operator": call[0], "suppressed": []}]
        return out

    def play_all(self, script: list[Call]) -> wire.Observations:
        bug = self.bug
        out = [to_json(call) for call in script]
        errors = [call[0] for call in script if self.fails(call)]
        if not errors or bug == "errors-swallowed":
            return out
        if bug == "last-error-raised":
            errors.reverse()
        later = [] if bug == "later-errors-lost" else errors[1:]
        return [*out, {"type": "failed", "operator": errors[0], "suppressed": later}]

    def is_failure(self, out: wire.Observations) -> bool:
        return bool(out) and out[-1]["type"] == "failed"

    # --- events

    def on_fault(self, event: wire.Json) -> wire.Observations:
        operator, call = wire.get_integer(event, "operator"), wire.get_choice(event, "call", _CALLS)
        failing = wire.get_boolean(event, "failing")
        if call not in _FALLIBLE:
            raise wire.BadRequestError(f"{call} does not fail")
        if operator not in self.tail_first:
            return wire.rejected()
        (self.faults.add if failing else self.faults.discard)((operator, call))
        return []

    def on_create(self) -> wire.Observations:
        if self.created:
            return wire.rejected()
        self.created = True
        order = self.tail_first[::-1] if self.bug == "created-head-first" else self.tail_first
        return [to_json((operator, "create")) for operator in order]

    def on_open(self) -> wire.Observations:
        bug = self.bug
        if not self.created or self.opened or (self.broken and bug != "opens-after-failure") or self.closed:
            return wire.rejected()
        order = self.tail_first[::-1] if bug == "opens-head-first" else self.tail_first
        if self.semantics == "flink-1.5" or bug == "restores-all-first":
            script = [(operator, call) for call in ("init", "open") for operator in order]
        else:
            script = [(operator, call) for operator in order for call in ("init", "open")]
        if bug == "opens-before-restoring":
            script = [(operator, "open" if call == "init" else "init") for operator, call in script]
        if self.past and bug != "past-opens":
            script = [one for one in script if one[1] == "init" and bug == "past-restores"]
        out = self.play_all(script) if bug == "opens-on-after-failure" else self.play(script)
        self.broken = self.is_failure(out)
        self.opened = not self.broken
        return out

    def is_running(self) -> bool:
        return self.opened and not (self.finished or self.broken or self.closed)

    def on_end_input(self, index: int) -> wire.Observations:
        bug = self.bug
        if not self.is_running() or not 0 <= index < self.inputs:
            return wire.rejected()
        if index in self.ended and bug != "input-ends-twice":
            return wire.rejected()
        self.ended.add(index)
        if self.semantics == "flink-1.5" or (self.past and bug != "past-head-told"):
            return []
        if bug == "head-told-of-last-input-only" and len(self.ended) < self.inputs:
            return []
        told = self.tail_first[::-1] if bug == "all-told-at-once" else [0]
        out = self.play([(operator, f"end_input:{index}") for operator in told if operator < len(self.parents)])
        self.broken = self.is_failure(out)
        return out

    def on_mail(self, operator: int) -> wire.Observations:
        if not self.is_running() or self.semantics == "flink-1.5" or operator not in self.tail_first:
            return wire.rejected()
        if self.past and self.bug != "past-takes-mails":
            return wire.rejected()
        self.mails.append(operator)
        return []

    def on_finish(self, *, drain: bool) -> wire.Observations:
        bug = self.bug
        if not self.is_running() or (drain and len(self.ended) < self.inputs and bug != "drains-too-early"):
            return wire.rejected()
        if not drain and self.semantics == "flink-1.5":
            return wire.rejected()
        if self.past:
            out = self.finish_again(drain=drain)
            self.broken = self.is_failure(out)
            self.finished = not self.broken
            return out
        if self.old:
            script = self.write_old_end()
        elif drain or bug == "stop-finishes":
            script = self.write_end()
        else:
            script = self.write_stop()
        out = self.play(script)
        self.mails.clear()
        self.broken = self.is_failure(out)
        self.finished = not self.broken
        return out

    def run_mails(self, mails: Iterable[int]) -> list[Call]:
        return [(operator, "mail") for operator in mails]

    def linger(self, operator: int) -> list[Call]:
        return [(operator, "mail")] if operator < len(self.parents) and self.lingers[operator] else []

    def write_end(self) -> list[Call]:
        bug = self.bug
        script: list[Call] = []
        order = self.tail_first if bug == "finishes-tail-first" else self.tail_first[::-1]
        waiting = self.run_mails(self.mails)
        late: list[Call] = []
        for operator in order:
            is_source = operator >= len(self.parents)
            told = [] if operator == 0 or is_source else [(operator, "end_input:0")]
            if bug == "source-ends-input-of-head" and is_source:
                told = [(0, f"end_input:{operator - len(self.parents)}")]
            quiet: list[Call] = [(operator, "quiesce"), *waiting]
            if bug == "mails-before-quiescence":
                quiet.reverse()
            if bug == "mails-run-after-finish":
                script += [*told, (operator, "quiesce"), (operator, "finish"), *waiting, *self.linger(operator)]
            elif bug == "left-mails-run-last":
                script += [*told, *quiet, (operator, "finish")]
                late += self.linger(operator)
            elif bug == "left-mails-behind-next-end":
                script += [*told, *late, *quiet, (operator, "finish")]
                late = self.linger(operator)
            elif bug == "finishes-before-told":
                script += [*quiet, (operator, "finish"), *told, *self.linger(operator)]
            else:
                script += [*told, *quiet, (operator, "finish"), *self.linger(operator)]
            waiting = []
        if bug == "all-inputs-end-first":
            script.sort(key=lambda call: not call[1].startswith("end_input"))
        return script + late

    def write_stop(self) -> list[Call]:
        bug = self.bug
        script: list[Call] = [(operator, "quiesce") for operator in self.tail_first[::-1]]
        if bug == "stop-drops-mails":
            return script
        place = len(script) if bug == "stop-runs-mails-last" else 1
        script[place:place] = self.run_mails(self.mails)
        if bug == "stop-ends-inputs":
            chained = [operator for operator in self.tail_first[::-1] if 0 < operator < len(self.parents)]
            script += [(operator, "end_input:0") for operator in chained]
        return script

    def write_old_end(self) -> list[Call]:
        has_mailbox = self.semantics == "flink-1.10"
        script: list[Call] = []
        late = self.run_mails(self.mails)
        for operator in self.tail_first[::-1]:
            if operator and has_mailbox:
                script.append((operator, "end_input:0"))
            script.append((operator, "close"))
            late += self.linger(operator)
        if self.bug == "old-ends-told-first":
            script.sort(key=lambda call: call[1] == "close")
        return script + (late if has_mailbox else [])

    def on_checkpoint(self, what: str) -> wire.Observations:
        bug = self.bug
        if not self.opened or (what in {"abort", "subsume"} and self.old):
            return wire.rejected()
        if self.past and bug != f"past-{what}-told":
            return self.save_channels() if what == "snapshot" else []
        if self.closed and not self.old and not self.is_told_when_closed(what):
            return []
        order = self.tail_first
        if what == "prepare":
            order = order[::-1] if bug != "prepares-tail-first" else order
            order = [operator for operator in order if operator < len(self.parents) or bug == "prepares-sources"]
        elif bug == f"{what}-head-first":
            order = order[::-1]
        script = [(operator, what) for operator in order]
        tells_all = what in {"complete", "abort", "subsume"} and not self.old and bug != "told-up-to-an-error"
        if bug == "snapshots-all-the-same" and what == "snapshot":
            tells_all = True
        return self.play_all(script) if tells_all else self.play(script)

    def is_told_when_closed(self, what: str) -> bool:
        if self.bug == "closed-operators-told":
            return True
        return what == "abort" and self.bug != "closed-operators-never-told"

    def on_close(self) -> wire.Observations:
        bug = self.bug
        if not self.created:
            return wire.rejected()
        if self.closed:
            return wire.rejected() if bug == "second-close-refused" else []
        self.closed = bug != "closes-again"
        self.mails.clear()
        order = self.tail_first[::-1] if bug == "closes-head-first" else self.tail_first
        if self.past and bug != "past-closes":
            return []
        if not self.old:
            script = [(operator, "close") for operator in order]
            return self.play(script) if bug == "closes-up-to-an-error" else self.play_all(script)
        script = [(operator, "dispose") for operator in order]
        if not self.finished:
            return [to_json(call) for call in script]
        careful = self.play(script)
        if not self.is_failure(careful) or bug == "disposes-up-to-an-error":
            return careful
        return [*careful[:-1], *[to_json(call) for call in script], careful[-1]]


make = ChainLifecycle
