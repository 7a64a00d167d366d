"""The settings of a vertex: what the operators of a chain are said to be, made into one task.

A chain runs as one, so what is said of one operator may hold for all of them, or only if it is said of all.

Choices. StreamGraphGenerator and StreamingJobGraphGenerator of Flink 2.3. The chain is given; how it is found is
`chaining`. All of its operators have the parallelism of the job, and it is only asked who has set it.
"""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference.chaining.chains import check_max_parallelism
from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import Count, Length, MaxParallelism, Position, Subtasks, at_least
from tidegate.reference.model import Component, InvalidInputError, Outcome, rejected

#: Each is an input of the head, and an operator has no more of these.
MOST_SOURCES = 63

# --- config ---------------------------------------------------------------------------------------------------

#: Nobody has decided it yet.
OPEN = -1


@attrs.frozen
class Config:
    """What the job says: its parallelism, its max parallelism (-1: nothing), whether the graph is dynamic, whether
    there are checkpoints.
    """

    parallelism: Annotated[Subtasks, "That of the job, which all operators have."] = attrs.field(validator=at_least(1))
    max_parallelism: Annotated[MaxParallelism, "That of the job; -1 if it says nothing."] = attrs.field(
        validator=check_max_parallelism
    )
    dynamic: Annotated[bool, "The parallelism of vertices may still be decided while the job runs."]
    checkpoints: Annotated[bool, "The job takes checkpoints."]


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """Nothing is remembered from one vertex to the next."""

    config: Config


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Operator:
    """`above` is the place of the operator that it is chained to; the head has none, whatever it says.

    `configured`: its parallelism was set by hand. `concurrent`: two attempts of it may run at a time. `selects`: it
    selects the input that it reads.
    """

    description: Annotated[str, "What it does."] = attrs.field(validator=Length(1))
    above: Annotated[
        Position,
        "The place of the operator that it is chained to, which precedes it; a `bad_request` otherwise. The head "
        "has none.",
    ] = attrs.field(default=0, validator=at_least(0))
    configured: Annotated[bool, "Its parallelism was set by hand."] = False
    concurrent: Annotated[bool, "Two attempts of it may run at a time."] = True
    selects: Annotated[bool, "It selects the input that it reads."] = False


@attrs.frozen
class ChainedSource:
    """A source that runs in the task of the head."""

    description: Annotated[str, "What it does."] = attrs.field(validator=Length(1))
    configured: Annotated[bool, "Its parallelism was set by hand."] = False
    concurrent: Annotated[bool, "Two attempts of it may run at a time."] = True


@attrs.frozen
class MakeVertex:
    """The operators of a chain, its head first, are made into a vertex. Without chained sources the head is a source.

    `max_parallelism` is what the operators say, -1 if nothing.
    """

    type: ClassVar[str] = "make"
    operators: Annotated[tuple[Operator, ...], "The operators of the chain, the head first."] = attrs.field(
        validator=Length(1)
    )
    sources: Annotated[
        tuple[ChainedSource, ...],
        "Sources that run in the task of the head, at most 63. Without any the head is a source itself.",
        Length(0, 63),
    ] = ()
    max_parallelism: Annotated[MaxParallelism, "That of the operators; -1 if they say nothing."] = attrs.field(
        default=OPEN, validator=check_max_parallelism
    )

    def __attrs_post_init__(self) -> None:
        if len(self.sources) > MOST_SOURCES:
            raise InvalidInputError(f"there may be at most {MOST_SOURCES} chained sources, not {len(self.sources)}")
        for place, operator in enumerate(self.operators):
            if place and operator.above >= place:
                raise InvalidInputError(f"operator {place} is chained to {operator.above}, which does not precede it")


Event = MakeVertex

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Vertex:
    """What the vertex is said to be. A parallelism of -1 is still to be decided."""

    type: ClassVar[str] = "vertex"
    description: Annotated[str, "What the operators of the chain are called, together.", Length(1)]
    parallelism: Annotated[int, "-1 if it is still to be decided.", at_least(-1)]
    configured: Annotated[bool, "The parallelism was asked for, and not taken from the job."]
    max_parallelism: MaxParallelism
    concurrent: Annotated[bool, "Several attempts of a subtask may run at once."]
    coordinators: Count


Observation = Vertex

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    config = state.config
    if config.checkpoints and any(operator.selects for operator in event.operators):
        return rejected(state, "VERT-6")
    members = members_of(event)
    configured = any(member.configured for member in members)
    vertex = Vertex(
        description=describe(event, 0),
        parallelism=OPEN if config.dynamic and not configured else config.parallelism,
        configured=configured,
        max_parallelism=event.max_parallelism if event.max_parallelism != OPEN else config.max_parallelism,
        concurrent=all(member.concurrent for member in members),
        coordinators=max(1, len(event.sources)),
    )
    rules = ("VERT-1", "VERT-3", "VERT-4", "VERT-5", "VERT-7")
    return (Outcome(state, (vertex,), ("VERT-2", *rules) if config.dynamic else rules),)


def members_of(event: Event) -> tuple[Operator | ChainedSource, ...]:
    return (*event.operators, *event.sources)


def describe(event: Event, place: int) -> str:
    """VERT-5: the tree below an operator, in one line."""
    text = event.operators[place].description
    if not place and event.sources:
        text += f" [{', '.join(source.description for source in event.sources)}]"
    below = [describe(event, number) for number, one in enumerate(event.operators) if number and one.above == place]
    if not below:
        return text
    return f"{text} -> {below[0]}" if len(below) == 1 else f"{text} -> ({' , '.join(below)})"


# --- claims ---------------------------------------------------------------------------------------------------


def vertices_of(outcome: Outcome[State, Observation]) -> list[Vertex]:
    return [seen for seen in outcome.observations if isinstance(seen, Vertex)]


@always("VERT-1", "VERT-2")
def what_was_set_is_kept(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A parallelism that somebody has set is never left open."""
    set_ = [vertex for vertex in vertices_of(outcome) if vertex.configured]
    return all(vertex.parallelism == before.config.parallelism for vertex in set_)


@always("VERT-5")
def every_description_is_there(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The description of a vertex has those of all operators and sources."""
    said = [member.description for member in members_of(event)]
    return all(one in vertex.description for vertex in vertices_of(outcome) for one in said)


@sometimes("VERT-2")
def a_parallelism_is_left_open(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """In a dynamic graph the parallelism of a vertex may be decided later."""
    return any(vertex.parallelism == OPEN for vertex in vertices_of(outcome))


@sometimes("VERT-4")
def one_operator_speaks_for_all(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """One operator that may not run twice keeps the others from it."""
    concurrent = [operator.concurrent for operator in event.operators]
    return True in concurrent and any(not vertex.concurrent for vertex in vertices_of(outcome))


COMPONENT = Component.of(__name__, title="The settings of a vertex")
