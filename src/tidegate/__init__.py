"""An executable specification of how a streaming dataflow engine moves data between tasks, with a conformance suite.

    import tidegate

    result = tidegate.run("exec:./my-engine", components=["valve"])
    print(result)
    raise SystemExit(result.exit_code)

`run`, `replay`, `explore` and `audit` do what the verbs of the command line do, and give values in place of text; a
value prints itself as text and gives itself as JSON. `components` and `rule` are the specification. docs/library.md
has examples. `state_machine` and `strategies` are for tests with Hypothesis: docs/hypothesis.md. Everything is imported
when it is asked for: `import tidegate` costs nothing.
"""

from importlib import import_module

TYPE_CHECKING = False  # typing is half of what it would cost to begin
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

#: The types of what is given and raised, and where they are defined.
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
    """Hold an engine to the specification.

    Parameters
    ----------
    engine
        What `--engine` takes (`"exec:./my-engine"`, `"python:package.module:Name"`, `"flink:2.3.0"`, `"reference"`),
        or an object with `describe()` and `replay(cases)`, which then runs in this process. An engine that runs whole
        jobs alone, such as `"bytewax"`, is refused: `tidegate jobs` runs and judges its jobs.
    components
        Only these; all that the engine declares, if none is named.
    cases, seed
        How many generated cases per component (as many as `tidegate run` tries, if none is said), and where they come
        from: the same seed gives the same cases.
    stages
        Only these of `directed`, `golden`, `complete`, `generated` and `metamorphic`.
    thorough, extra_states
        Larger scopes in the complete stage, and how many states more than the specification the engine may have there.
    semantics
        Hold the engine to this dated semantics, such as `flink-40475`, although it declares another.
    floor
        A rule that was exercised less often leaves the result undetermined.
    expect
        A file of known failures: one `case PATTERN -- reason` or `rule ID -- reason` per line.
    report
        A folder for report.jsonl, junit.xml and summary.md. One that cannot be written is warned of.
    jobs
        How many components to try at once, each in a process of its own with an engine of its own. More than one
        needs the usual `if __name__ == "__main__":` in a script.
    timeout, start_timeout
        Seconds for the answer to a case, and for the handshake.
    strict
        Check every message against the JSON Schemas of the protocol.

    Raises
    ------
    UnknownNameError
        There is no such component, stage or semantics.
    EngineError
        There is no such engine, or it cannot be started. What an engine does wrong from then on is in the result.
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
    """Replay one trace, in short notation, on an engine, and judge its answers: `replay(e, "valve", {…}, "0w1 1i")`.

    `times` plays it so often, one after the other: state that leaks from case to case shows the second time.

    Raises
    ------
    ValueError
        The component, the config or an event is none.
    EngineError
        There is no such engine, or it cannot be started.
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
    """Close over every state of a component on a small alphabet, and check its claims on every transition.

    `valve` takes `channels`, `timestamps` and `semantics`; `combiner` takes `inputs` and `multiplexer` takes `outputs`
    in place of channels. `credit_loop` takes `channels` and, each as the numbers to try, `exclusive` and `floating`
    buffers, `data` buffers and `barriers` to be written. `deserializer` takes `records`. All others are explored on
    their small scopes, and `job` on WordCount. With `symmetry`, states that differ only in the numbers of channels,
    inputs or outputs count as one. With `reduction`, only one order is followed of the choices of a job that do not
    touch each other.

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

    `only` names some invariants, such as `LOG-ORDER`; `show` is how many violations of each are shown with the events
    around them. `workers` are processes: more than one needs the usual `if __name__ == "__main__":` in a script. The
    command `tidegate audit` does the same on Spark. Needs PyArrow and NumPy, which `tidegate[audit]` brings.

    Raises
    ------
    ValueError
        There is no such invariant.
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
    """A Hypothesis state machine that holds an engine to the specification of a component, for a test file of yours.

        TestValve = tidegate.state_machine("valve", "exec:./my-engine").TestCase

    The engine is what `run` takes. It is started with the first example, and closed with the test case or at the end of
    the program. With `semantics` it is held to that dated semantics, although it declares another. `configs` is where
    configs come from; unless given, from those that the engine declares. Needs `tidegate[hypothesis]`.

    Raises
    ------
    hypothesis.errors.InvalidArgument
        There is no such component or semantics.
    EngineError
        There is no such engine, or it replays no cases: at once. It cannot be started, or does not declare the
        component: when the test runs.
    """
    from tidegate.conformance.judging import state_machines

    return state_machines.state_machine(component, engine, semantics=semantics, configs=configs)


def components() -> "dict[str, AnyComponent]":
    """Every component of the specification by its name, in the order in which a record travels.

    Each is executable: `start(config)` gives the states it may start in, `step(state, event)` the allowed outcomes.
    """
    from tidegate.reference.components import COMPONENTS

    return dict(COMPONENTS)


def rule(rule_id: str) -> "Rule":
    """A rule: its text, its reason, where it was learnt.

    Raises
    ------
    UnknownNameError
        There is no such rule.
    """
    from tidegate.conformance.judging.suite import check_names
    from tidegate.reference.rules import all_rules

    known = all_rules()
    prefix = rule_id.partition("-")[0]
    check_names("rule", [rule_id], [one for one in known if one.partition("-")[0] == prefix] or known)
    return known[rule_id]
