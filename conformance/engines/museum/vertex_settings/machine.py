"""The settings of a vertex, VERT-1 … VERT-7."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.graphs import get_most, read_members


class VertexSettings:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("vertex-settings-")
        self.parallelism = wire.get_at_least(config, "parallelism", 1)
        self.most = get_most({"max_parallelism": wire.get_integer(config, "max_parallelism")})
        self.dynamic = wire.get_boolean(config, "dynamic")
        self.checkpoints = wire.get_boolean(config, "checkpoints")

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") != "make":
            raise wire.unknown_type(event)
        bug = self.bug
        operators, sources = read_members(event, "operators"), read_members(event, "sources")
        if not operators:
            raise wire.BadRequestError("operators must not be empty")
        below: list[list[int]] = [[] for _ in operators]
        for place, operator in enumerate(operators[1:], start=1):
            if operator["above"] >= place:
                raise wire.BadRequestError(f"operator {place} is chained to one that does not precede it")
            below[operator["above"]].append(place)
        most = get_most(event)
        if self.checkpoints and bug != "selecting-with-checkpoints" and any(one["selects"] for one in operators):
            return wire.rejected()
        asked = operators[:1] if bug == "head-decides" else operators if bug == "sources-are-not-asked" else None
        if bug == "64-are-asked":
            asked = [*operators[:64], *sources]
        is_set = any(one["configured"] for one in asked or [*operators, *sources])
        twice = [one["concurrent"] for one in (operators[:1] if bug == "head-runs-twice" else [*operators, *sources])]
        if (most == -1 and bug != "nothing-is-inherited") or (bug == "job-wins" and self.most != -1):
            most = self.most
        return [
            {
                "type": "vertex",
                "description": self.describe(operators, sources, below, 0),
                "parallelism": -1 if self.dynamic and not is_set and bug != "job-is-never-open" else self.parallelism,
                "configured": is_set,
                "max_parallelism": most,
                "concurrent": any(twice) if bug == "one-is-enough" else all(twice),
                "coordinators": 1 if not sources or bug == "one-for-all-sources" else len(sources),
            }
        ]

    def describe(self, operators: list[wire.Json], sources: list[wire.Json], below: list[list[int]], place: int) -> str:
        text = str(operators[place]["description"])
        if sources and self.bug != "sources-left-out":
            text += " [" + ", ".join(one["description"] for one in sources) + "]"
        parts = [self.describe(operators, [], below, child) for child in below[place]]
        if len(parts) > 1:
            parts = ["(" + (", " if self.bug == "described-like-names" else " , ").join(parts) + ")"]
        return " -> ".join([text, *parts])


make = VertexSettings
