"""The settings of a vertex, VERT-1 … VERT-7."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.graphs import get_most, read_members
from tidegate.conformance.engines.museum.wrong import changed, wrong


class VertexSettings:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.parallelism = wire.get_at_least(config, "parallelism", 1)
        self.most = get_most({"max_parallelism": wire.get_integer(config, "max_parallelism")})
        self.dynamic = wire.get_boolean(config, "dynamic")
        self.checkpoints = wire.get_boolean(config, "checkpoints")

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") != "make":
            raise wire.unknown_type(event)
        operators, sources = read_members(event, "operators"), read_members(event, "sources")
        if not operators:
            raise wire.BadRequestError("operators must not be empty")
        below: list[list[int]] = [[] for _ in operators]
        for place, operator in enumerate(operators[1:], start=1):
            if operator["above"] >= place:
                raise wire.BadRequestError(f"operator {place} is chained to one that does not precede it")
            below[operator["above"]].append(place)
        most = get_most(event)
        if self.checkpoints and any(one["selects"] for one in operators):
            return wire.rejected()
        members = [*operators, *sources]
        is_set = any(one["configured"] for one in members)
        return [
            {
                "type": "vertex",
                "description": self.describe(operators, sources, below, 0),
                "parallelism": -1 if self.dynamic and not is_set else self.parallelism,
                "configured": is_set,
                "max_parallelism": self.most if most == -1 else most,
                "concurrent": all(one["concurrent"] for one in members),
                "coordinators": len(sources) or 1,
            }
        ]

    def describe(self, operators: list[wire.Json], sources: list[wire.Json], below: list[list[int]], place: int) -> str:
        text = str(operators[place]["description"])
        if sources:
            text += " [" + ", ".join(one["description"] for one in sources) + "]"
        parts = [self.describe(operators, [], below, child) for child in below[place]]
        if len(parts) > 1:
            parts = ["(" + " , ".join(parts) + ")"]
        return " -> ".join([text, *parts])


make = VertexSettings

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("VERT-1")
class VertexSettingsHeadDecides(VertexSettings):
    """Only the head is asked whether its parallelism was set."""

    step = changed(VertexSettings.step, '["configured"] for one in members', '["configured"] for one in operators[:1]')


@wrong("VERT-1")
class VertexSettingsSourcesAreNotAsked(VertexSettings):
    """A chained source that has set its parallelism is not obeyed."""

    step = changed(VertexSettings.step, '["configured"] for one in members', '["configured"] for one in operators')


@wrong("VERT-1", origin="tables of a fixed size")
class VertexSettings64AreAsked(VertexSettings):
    """Whether somebody has set the parallelism is kept in 64 bits: what the 65th operator says is not heard."""

    step = changed(
        VertexSettings.step,
        '["configured"] for one in members',
        '["configured"] for one in [*operators[:64], *sources]',
    )


@wrong("VERT-2")
class VertexSettingsJobIsNeverOpen(VertexSettings):
    """The parallelism of the job is used in a dynamic graph."""

    step = changed(VertexSettings.step, "-1 if self.dynamic and not is_set else self.parallelism", "self.parallelism")


@wrong("VERT-3")
class VertexSettingsJobWins(VertexSettings):
    """The max parallelism of the job is that of all operators."""

    step = changed(VertexSettings.step, "self.most if most == -1 else most", "most if self.most == -1 else self.most")


@wrong("VERT-3")
class VertexSettingsNothingIsInherited(VertexSettings):
    """The max parallelism of the job is forgotten."""

    step = changed(VertexSettings.step, "self.most if most == -1 else most", "most")


@wrong("VERT-4")
class VertexSettingsOneIsEnough(VertexSettings):
    """A vertex may run twice if one of its operators may."""

    step = changed(VertexSettings.step, "all(", "any(")


@wrong("VERT-4")
class VertexSettingsHeadRunsTwice(VertexSettings):
    """Only the head is asked whether it may run twice."""

    step = changed(VertexSettings.step, '["concurrent"] for one in members', '["concurrent"] for one in operators[:1]')


@wrong("VERT-5")
class VertexSettingsSourcesLeftOut(VertexSettings):
    """Chained sources are not described."""

    describe = changed(VertexSettings.describe, "if sources:", "if False:")


@wrong("VERT-5")
class VertexSettingsDescribedLikeNames(VertexSettings):
    """Several operators are separated as in a name."""

    describe = changed(VertexSettings.describe, '" , ".join', '", ".join')


@wrong("VERT-6")
class VertexSettingsSelectingWithCheckpoints(VertexSettings):
    """An operator that selects its inputs is accepted, and waits for a barrier that it does not read."""

    step = changed(VertexSettings.step, "self.checkpoints and", "False and")


@wrong("VERT-7")
class VertexSettingsOneForAllSources(VertexSettings):
    """All chained sources share a coordinator."""

    step = changed(VertexSettings.step, "len(sources) or 1", "1")
