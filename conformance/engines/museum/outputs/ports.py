"""One output of an operator: how it is configured, and how it takes a thing or fails to."""

from tidegate.conformance.engines import wire

_CHANGES = ("nothing", "value", "record")

#: The id of a side output and the type of its records.
Tag = tuple[str, str]


class FailedError(Exception):
    """An output failed; `seen` is what the operator gets."""

    def __init__(self, seen: wire.Json) -> None:
        super().__init__(str(seen))
        self.seen = seen


def read_tag(obj: wire.Json) -> Tag:
    tag = obj["tag"]
    if type(tag) is not dict or not wire.get_string(tag, "id"):
        raise wire.BadRequestError("a tag has an id that is not empty")
    return wire.get_string(tag, "id"), wire.get_string(tag, "of")


def read_ports(outputs: object, bug: str, *, old: bool, selects: bool) -> "list[Port]":
    if type(outputs) is not list or not all(type(output) is dict for output in outputs):
        raise wire.BadRequestError("outputs must be a list of objects")
    ports = [Port(index, output, bug) for index, output in enumerate(outputs)]
    for port in ports:
        if port.has_names != selects:
            raise wire.BadRequestError("names belongs to an operator with selectors, and to no other")
        if old and (port.unaligned or port.subpartitions is not None):
            raise wire.BadRequestError("flink-1.5 has no unaligned checkpoints, and knows the number of consumers")
    return ports


class Port:
    def __init__(self, index: int, config: wire.Json, bug: str) -> None:
        self.index = index
        self.bug = bug
        self.is_network = wire.get_choice(config, "type", ("network", "chained")) == "network"
        self.unaligned = self.is_network and wire.get_boolean(config, "unaligned")
        self.keyed = not self.is_network and wire.get_boolean(config, "keyed")
        self.changes = "nothing" if self.is_network else wire.get_choice(config, "changes", _CHANGES)
        self.subpartitions: int | None = None
        if self.is_network and "subpartitions" in config:
            self.subpartitions = wire.get_at_least(config, "subpartitions", 1)
        self.tag = read_tag(config) if "tag" in config else None
        self.has_names = "names" in config
        self.names: list[str] = config.get("names", [])
        if type(self.names) is not list or not all(type(name) is str for name in self.names):
            raise wire.BadRequestError("names must be a list of names")
        self.active = True
        #: Whether no status was announced yet.
        self.fresh = True
        self.watermark = wire.LOWEST
        self.hops = 0

    def wants(self, tag: Tag | None) -> bool:
        bug = self.bug
        if bug == "tags-compared-with-types":
            return self.tag == tag
        if bug == "tagged-take-the-main-stream" and tag is None:
            return True
        if bug == "main-stream-takes-side-records" and self.tag is None:
            return True
        return (self.tag or ("",))[0] == (tag or ("",))[0]

    def fail(self, error: str, wrapped: int) -> FailedError:
        return FailedError({"type": "failed", "output": self.index, "error": error, "wrapped": wrapped})

    def give(self, out: wire.Observations, *things: wire.Json) -> None:
        """A writer fails before it has written; a chained operator somewhere behind the call, once for each hop."""
        bug = self.bug
        if self.hops and self.is_network and bug != "writer-fails-afterwards":
            raise self.fail("io", 0 if bug == "io-errors-bare" else 1)
        out += [{"type": thing["type"], "output": self.index, **thing} for thing in things]
        if self.hops and self.is_network:
            raise self.fail("io", 1)
        if self.hops:
            raise self.fail("chained", 1 if bug == "wrapped-once" else self.hops)

    def broadcast(self, out: wire.Observations, event: wire.Json) -> None:
        """What the task itself sends; its errors are not wrapped."""
        if self.hops:
            raise self.fail("io", 1 if self.bug == "event-errors-wrapped" else 0)
        out.append({"output": self.index, **event})

    def write(self, out: wire.Observations, content: int) -> None:
        self.give(out, {"type": "write", "content": content})

    def process(self, out: wire.Observations, record: int, value: int, content: int, *, tells_key: bool) -> None:
        bug = self.bug
        given = {"type": "process", "record": record, "value": value, "content": content}
        calls = [given]
        if self.keyed or tells_key or bug == "keys-told-to-all":
            calls = [{"type": "key_context"}, given]
        if bug == "key-after-record":
            calls.reverse()
        elif bug == "keys-never-told":
            calls = [given]
        self.give(out, *calls)

    def emit_watermark(self, out: wire.Observations, timestamp: int) -> None:
        bug = self.bug
        mark = {"type": "watermark", "timestamp": str(timestamp)}
        if self.subpartitions is None or bug == "unknown-consumers-get-a-broadcast":
            self.give(out, mark)
            return
        count = 1 if bug == "first-subpartition-only" else self.subpartitions
        self.give(out, *[{**mark, "subpartition": subpartition} for subpartition in range(count)])
