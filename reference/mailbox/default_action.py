"""What the default action of a stream task decides after it has processed its input once.

It goes on while there is input and room for output; otherwise it is suspended until what is missing is there. The
end of the data finishes the operators and the loop goes on, for mails are still to come; the end of the input ends it.

Choices. StreamTask.processInput. The mailbox sees only that the action suspends itself or completes, so this is a
plain function beside it.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product

from tidegate.reference.claims import law
from tidegate.reference.input.network_input.values import InputStatus


class Decision(StrEnum):
    AGAIN = "again"
    WAIT_FOR_OUTPUT = "wait_for_output"
    WAIT_FOR_INPUT = "wait_for_input"
    WAIT_FOR_CHANGELOG = "wait_for_changelog"
    FINISH_WITHOUT_DRAIN = "finish_without_drain"
    FINISH_WITH_DRAIN = "finish_with_drain"
    COMPLETE = "complete"


def compute_decision(status: InputStatus, *, output: bool, more_input: bool, changelog: bool = True) -> Decision:
    """MBOX-13: what to do; `output`, `more_input` and `changelog` say what is available by now."""
    if status is InputStatus.MORE_AVAILABLE and output and changelog:
        return Decision.AGAIN
    if status is InputStatus.STOPPED:
        return Decision.FINISH_WITHOUT_DRAIN
    if status is InputStatus.END_OF_DATA:
        return Decision.FINISH_WITH_DRAIN
    if status is InputStatus.END_OF_INPUT:
        return Decision.COMPLETE
    if not output:
        return Decision.WAIT_FOR_OUTPUT
    if not more_input:
        return Decision.WAIT_FOR_INPUT
    if not changelog:
        return Decision.WAIT_FOR_CHANGELOG
    return Decision.AGAIN


WAITS = {
    Decision.WAIT_FOR_OUTPUT: "output",
    Decision.WAIT_FOR_INPUT: "more_input",
    Decision.WAIT_FOR_CHANGELOG: "changelog",
}


def all_situations() -> Iterator[tuple[InputStatus, bool, bool, bool]]:
    yield from product(InputStatus, (False, True), (False, True), (False, True))


@law("MBOX-13", samples=all_situations)
def waits_for_what_is_missing(status: InputStatus, *there: bool) -> bool:
    """The default action waits only for what is missing, the output first, and never at the end of its input."""
    output, more_input, changelog = there
    available = {"output": output, "more_input": more_input, "changelog": changelog}
    decision = compute_decision(status, output=output, more_input=more_input, changelog=changelog)
    if status in (InputStatus.STOPPED, InputStatus.END_OF_DATA, InputStatus.END_OF_INPUT):
        return decision not in (*WAITS, Decision.AGAIN)
    if decision is Decision.AGAIN:
        return output and changelog and (more_input or status is InputStatus.MORE_AVAILABLE)
    missing = [name for name, is_there in available.items() if not is_there]
    return bool(missing) and WAITS[decision] == missing[0]
