"""An executable specification of how a streaming dataflow engine moves data between tasks, with a conformance suite.

    import tidegate

    result = tidegate.run("exec:./my-engine", components=["valve"])
    print(result)
    raise SystemExit(result.exit_code)

`run`, `replay`, `explore` and `audit` do the same as the commands, and return values; a value prints as text, and has
a method for JSON. `components` and `rule` are the specification. docs/library.md has examples. `state_machine` and
`strategies` are for tests with Hypothesis: docs/hypothesis.md. All imports are lazy: `import tidegate` costs nothing.
"""

from importlib import import_module

TYPE_CHECKING = False  # typing would be half of the import time
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike
    from typing import Any

    from hypothesis.stateful import RuleBasedStateMachine
    from hypothesis.strategies import SearchStrategy

    from tidegate.conformance.audit.result import AuditResult
    from tidegate.conformance.engines.base import Engine
    from tidegate.conformance.engines.errors import EngineError
    from tidegate.conformance.engines.python.batches import BatchEngine
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.exploring import Exploration
    from tidegate.conformance.judging.result import Counterexample, Result
    from tidegate.conformance.judging.suite import UnknownNameError
    from tidegate.conformance.judging.verdicts import Status, Verdict
    from tidegate.properties import strategies
    from tidegate.reference.model import AnyComponent
    from tidegate.reference.rules import Rule

__version__ = "0.1.0"

#: Public types and exceptions, with the modules that define them.
_TYPES = {
    "AuditResult": "conformance.audit.result",
    "Counterexample": "conformance.judging.result",
    "EngineError": "conformance.engines.errors",
    "Exit": "conformance.exits",
    "Exploration": "conformance.judging.exploring",
    "Result": "conformance.judging.result",
    "Rule": "reference.rules",
    "Status": "conformance.judging.verdicts",
    "UnknownNameError": "conformance.judging.suite",
    "Verdict": "conformance.judging.verdicts",
}

__all__ = [
    "AuditResult",
    "Counterexample",
    "EngineError",
    "Exit",
    "Exploration",
    "Result",
    "Rule",
    "Status",
    "UnknownNameError",
    "Verdict",
    "__version__",
    "audit",
    "components",
    "explore",
    "replay",
    "rule",
    "run",
    "state_machine",
    "strategies",
]


def __getattr__(name: str) -> "Any":
    if name == "strategies":
        return import_module("tidegate.properties.strategies")
    if name not in _TYPES:
        raise AttributeError(f"module 'tidegate' has no attribute {name!r}")
    return getattr(import_module(f"tidegate.{_TYPES[name]}"), name)


def run(
    engine: "str | Engine | BatchEngine",
    *,
    components: "Iterable[str]" = (),
    cases: int | None = None,
    seed: int = 0,
    stages: "Iterable[str]" = (),
    thorough: bool = False,
    extra_states: int = 0,
    semantics: str | None = None,
    floor: int = 1,
    expect: "str | PathLike[str] | None" = None,
    report: "str | PathLike[str] | None" = None,
    jobs: int = 1,
    timeout: float | None = None,
    start_timeout: float | None = None,
    strict: bool = False,
) -> "Result":
    """Check an engine against the specification.

    Parameters
    ----------
    engine
        What `--engine` takes (`"exec:./my-engine"`, `"python:package.module:Name"`, `"flink:2.3.0"`, `"reference"`),
        or an object with `describe()` and `replay(cases)`, which then runs in this process. An engine that only runs
        whole jobs, such as `"bytewax"`, is refused: use `tidegate jobs`.
    components
        Only these components. Default: all that the engine declares.
    cases, seed
        Generated cases per component (default: as in `tidegate run`), and their seed: the same seed gives the same
        cases.
    stages
        Only these stages, of `directed`, `golden`, `complete`, `generated` and `metamorphic`.
    thorough, extra_states
        Larger scopes in the complete stage, and how many more states than the specification the engine may have there.
    semantics
        Judge the engine by this dated semantics, such as `flink-40475`, whatever it declares.
    floor
        The result is undetermined if a rule was exercised less often.
    expect
        A file of known failures: one `case PATTERN -- reason` or `rule ID -- reason` per line.
    report
        A folder for report.jsonl, junit.xml and summary.md. A folder that cannot be written causes a warning.
    jobs
        How many components to run in parallel, each in its own process with its own engine. More than one needs the
        usual `if __name__ == "__main__":` in a script.
    timeout, start_timeout
        Seconds for the answer to a case, and for the handshake.
    strict
        Check every message against the JSON Schemas of the protocol.

    Raises
    ------
    UnknownNameError
        Unknown component, stage or semantics.
    EngineError
        Unknown engine, or it cannot be started. Errors of the engine after that are in the result.
    """
    from contextlib import ExitStack
    from pathlib import Path
    from warnings import warn

    from tidegate.conformance.judging import run as judging
    from tidegate.conformance.judging.expectations import read_expectations
    from tidegate.conformance.judging.suite import Budget
    from tidegate.conformance.reports.folder import Report

    limits = {"case_timeout": timeout, "start_timeout": start_timeout}
    candidate = judging.candidate_for(engine, semantics=semantics, strict=strict, limits=limits)
    budget = Budget(Budget().cases if cases is None else cases, seed, tuple(stages), thorough, extra_states)
    with ExitStack() as stack:
        observers = [stack.enter_context(Report(Path(report), candidate.name, seed))] if report is not None else []
        result = judging.run(
            candidate,
            budget,
            components=components,
            jobs=jobs,
            floor=floor,
            expectations=read_expectations(None if expect is None else Path(expect)),
            observers=observers,
        )
    for one in observers:
        if one.trouble:
            warn(f"the report is not complete: {one.trouble}", stacklevel=2)
    return result


def replay(
    engine: "str | Engine | BatchEngine",
    component: str,
    config: "Mapping[str, Any]",
    trace: str,
    *,
    times: int = 1,
    semantics: str | None = None,
    timeout: float | None = None,
    start_timeout: float | None = None,
    strict: bool = False,
) -> "Result":
    """Replay one trace in short notation on an engine, and judge its answers: `replay(e, "valve", {…}, "0w1 1i")`.

    `times` replays it several times in a row: state that leaks from case to case shows the second time.

    Raises
    ------
    ValueError
        The component, the config or an event is invalid.
    EngineError
        Unknown engine, or it cannot be started.
    """
    from tidegate.conformance.judging import run as judging
    from tidegate.traces.notation.text import read_case

    limits = {"case_timeout": timeout, "start_timeout": start_timeout}
    candidate = judging.candidate_for(engine, semantics=semantics, strict=strict, limits=limits)
    return judging.replay(candidate, [read_case(component, dict(config), trace)] * times)


def explore(
    component: str,
    *,
    channels: int | None = None,
    inputs: int | None = None,
    outputs: int | None = None,
    timestamps: int | None = None,
    records: int | None = None,
    exclusive: "Sequence[int] | None" = None,
    floating: "Sequence[int] | None" = None,
    data: "Sequence[int] | None" = None,
    barriers: "Sequence[int] | None" = None,
    semantics: str | None = None,
    symmetry: bool = True,
    reduction: bool = True,
    limit: int = 2_000_000,
) -> "Exploration":
    """Explore every state of a component on a small alphabet, and check its claims on every transition.

    `valve` takes `channels`, `timestamps` and `semantics`; `combiner` takes `inputs` and `multiplexer` takes `outputs`
    instead of channels. `credit_loop` takes `channels` and, each as a list of numbers, `exclusive` and `floating`
    buffers, `data` buffers and `barriers` to write. `deserializer` takes `records`. All others are explored on
    their small scopes, and `job` on WordCount. With `symmetry`, states that differ only in the numbers of channels,
    inputs or outputs count as one. With `reduction`, independent choices of a job are followed in one order only.

    Raises
    ------
    UnknownNameError
        The component cannot be explored, or has no such option or semantics.
    """
    from tidegate.conformance.judging.exploring import explore_component

    return explore_component(
        component,
        limit,
        symmetry=symmetry,
        reduction=reduction,
        channels=channels,
        inputs=inputs,
        outputs=outputs,
        timestamps=timestamps,
        records=records,
        exclusive=exclusive,
        floating=floating,
        data=data,
        barriers=barriers,
        semantics=semantics,
    )


def audit(
    *paths: "str | PathLike[str]",
    only: "Iterable[str]" = (),
    show: int = 3,
    workers: int = 1,
) -> "AuditResult":
    """Check run logs (Parquet files or folders of them) against the invariants of every run, in this process.

    `only` selects invariants, such as `LOG-ORDER`; `show` is how many violations of each are shown with the events
    around them. `workers` are processes: more than one needs the usual `if __name__ == "__main__":` in a script. The
    command `tidegate audit` does the same on Spark. Needs PyArrow and NumPy, which `tidegate[audit]` brings.

    Raises
    ------
    ValueError
        Unknown invariant.
    """
    from tidegate.conformance.audit.result import audit_here

    return audit_here(paths, only, show, workers)


def state_machine(
    component: str,
    engine: "str | Engine | BatchEngine",
    *,
    semantics: str | None = None,
    configs: "SearchStrategy[Any] | None" = None,
) -> "type[RuleBasedStateMachine]":
    """A Hypothesis state machine that checks an engine against the specification of a component, for your tests.

        TestValve = tidegate.state_machine("valve", "exec:./my-engine").TestCase

    The engine is as in `run`. It starts with the first example, and is closed with the test case or at the end of the
    program. `semantics` judges it by that dated semantics, whatever it declares. `configs` is a strategy for configs;
    by default they come from those that the engine declares. Needs `tidegate[hypothesis]`.

    Raises
    ------
    hypothesis.errors.InvalidArgument
        Unknown component or semantics.
    EngineError
        At once: unknown engine, or it replays no cases. When the test runs: it cannot be started, or does not declare
        the component.
    """
    from tidegate.conformance.judging import state_machines

    return state_machines.state_machine(component, engine, semantics=semantics, configs=configs)


def components() -> "dict[str, AnyComponent]":
    """All components of the specification by name, in the order in which a record travels.

    Each is executable: `start(config)` gives the possible start states, `step(state, event)` the allowed outcomes.
    """
    from tidegate.reference.components import COMPONENTS

    return dict(COMPONENTS)


def rule(rule_id: str) -> "Rule":
    """A rule: its text, its reason, its source.

    Raises
    ------
    UnknownNameError
        Unknown rule.
    """
    from tidegate.conformance.judging.suite import check_names
    from tidegate.reference.rules import all_rules

    known = all_rules()
    prefix = rule_id.partition("-")[0]
    check_names("rule", [rule_id], [one for one in known if one.partition("-")[0] == prefix] or known)
    return known[rule_id]
