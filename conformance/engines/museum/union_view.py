"""Several subpartitions read as one, UNION-1 … UNION-5."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_ITEMS = ("partial", "whole", "event")
_AHEAD = 10


class UnionView:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        count = wire.get_at_least(config, "views", 1)
        if count > 6:
            raise wire.BadRequestError("there are at most 6 views")
        self.items: list[list[tuple[int, str]]] = [[] for _ in range(count)]
        self.written = [0] * count
        self.registered: set[int] = set()
        self.early: list[int] = []
        self.turns: list[int] = []
        self.last = -1
        self.midway = False
        self.fetched: list[tuple[int, int, str]] = []
        self.released = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind in ("write", "tell", "register"):
            return self.hear(kind, event)
        if kind == "release":
            return self.release()
        credit = wire.get_boolean(event, "credit") if kind == "query" else False
        if kind not in ("poll", "peek", "query"):
            raise wire.unknown_type(event)
        self.fetch()
        if kind == "peek":
            return [{"type": "next", "view": self.fetched[0][0] if self.fetched else -1}]
        if kind == "query":
            buffers = [one for one in self.fetched if one[2] != "event"]
            may = bool(self.fetched) and (credit or self.fetched[0][2] == "event")
            return [{"type": "available", "value": may, "backlog": len(buffers)}]
        if not self.fetched:
            return [{"type": "none"}]
        view, number, _ = self.fetched.pop(0)
        return [{"type": "got", "view": view, "number": number, "backlog": len(self.fetched)}]

    def hear(self, kind: str, event: wire.Json) -> wire.Observations:
        view = wire.get_integer(event, "view")
        item = wire.get_choice(event, "item", _ITEMS) if kind == "write" else ""
        if self.released or not 0 <= view < len(self.items):
            return wire.rejected()
        if kind == "write":
            self.items[view].append((self.written[view], item))
            self.written[view] += 1
            return []
        if kind == "tell":
            return [{"type": "woken"}] if self.tell(view) else []
        if view in self.registered:
            return wire.rejected()
        self.registered.add(view)
        if len(self.registered) < len(self.items):
            return []
        early, self.early = self.early, []
        woken = [self.tell(one) for one in early]
        return [{"type": "woken"}] if any(woken) else []

    def tell(self, view: int) -> bool:
        if view not in self.registered:
            self.early += [] if view in self.early else [view]
            return False
        if view in self.turns:
            return False
        self.turns.append(view)
        if self.fetched or len(self.registered) < len(self.items):
            return False
        self.fetch()
        return bool(self.fetched)

    def fetch(self) -> None:
        while len(self.fetched) < _AHEAD:
            if not self.midway:
                if not self.turns:
                    return
                view = self.turns.pop(0)
                if view == self.last:
                    self.turns.append(view)
                    view = self.turns.pop(0)
                self.last = view
            if not self.items[self.last]:
                self.turns = [one for one in self.turns if one != self.last]
                if self.midway or not self.turns:
                    return
                continue
            number, item = self.items[self.last].pop(0)
            if self.last not in self.turns:
                self.turns.append(self.last)
            self.midway = item == "partial"
            self.fetched.append((self.last, number, item))

    def release(self) -> wire.Observations:
        if self.released:
            return []
        self.released = True
        gone = sorted(self.registered | set(self.early))
        count = len(self.fetched)
        self.items = [[] for _ in self.items]
        self.fetched = []
        return [*({"type": "released", "view": view} for view in gone), {"type": "recycled", "count": count}]


make = UnionView

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("UNION-1")
class UnionViewRegistersAgain(UnionView):
    """A view is registered twice."""

    hear = changed(UnionView.hear, "view in self.registered", "False")


@wrong("UNION-2")
class UnionViewEarlyViewsForgotten(UnionView):
    """A view that had data before it was registered is never read."""

    hear = changed(UnionView.hear, "for one in early", "for one in ()")


@wrong("UNION-2")
class UnionViewWokenTooEarly(UnionView):
    """The reader is woken before all views are there."""

    tell = changed(UnionView.tell, " or len(self.registered) < len(self.items)", "")


@wrong("UNION-3")
class UnionViewCutsRecords(UnionView):
    """A view loses its turn in the middle of a record."""

    fetch = changed(UnionView.fetch, 'item == "partial"', "False")


@wrong("UNION-3")
class UnionViewStaysWithOne(UnionView):
    """A view that has something keeps its turn, and the others wait."""

    fetch = changed(
        UnionView.fetch, "view == self.last", "False", "self.turns.append(self.last)", "self.turns.insert(0, self.last)"
    )


@wrong("UNION-4")
class UnionViewEventsAreBacklog(UnionView):
    """Events count as backlog, and credit is asked for them."""

    step = changed(UnionView.step, 'one[2] != "event"', "True")


@wrong("UNION-5")
class UnionViewFetchedItemsLeak(UnionView):
    """What was fetched ahead is not given back."""

    release = changed(UnionView.release, "len(self.fetched)", "0")


@wrong("UNION-5")
class UnionViewEarlyViewsLeak(UnionView):
    """A view that was not registered yet is not released."""

    release = changed(UnionView.release, "self.early", "[]")
