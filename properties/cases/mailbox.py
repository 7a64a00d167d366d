"""Cases for the mailbox: urgent mails during batches, stale handles, poison mails of both threads, and the end."""

from collections.abc import Callable, Iterator
from random import Random

import attrs

from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import FAR_APART, among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.mailbox import values as mailbox
from tidegate.reference.mailbox.step import start, step


def draw(random: Random, config: mailbox.Config | None = None) -> tuple[mailbox.Config, tuple[mailbox.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random,
        put=5,
        urgent=3,
        deferrable=0.7,
        burst=0.5,
        batch=1.5,
        take_from_batch=2.5,
        take=2,
        step=1.5,
        loop=1.5,
        suspend=1,
        resume=1.3,
        poison=0.4,
        drain=0.2,
        ask=0.4,
        end=0.12,
        refused=0.2,
    )
    if config.extension is not None:
        weights |= {"failing": pick(random, "share of failing", (0.3, 1)), "together": 0.5, "idle": 1}
    priorities = random.choice(((0,), (0, 1), (-1, 0, 1, 2), (0, 1, 2**31 - 1)))
    draw_kind = among(random, weights)
    # Mails have any numbers, some of which are the same in a byte or two.
    first = random.choice((0, 0, 0, *FAR_APART))
    walk = Walk(random, start(config), step)
    for _ in walk.up_to_end(lambda state: state.life is mailbox.Life.CLOSED or not state.running, 2, 6):
        walk.play(draw_events(*draw_kind(), walk.state, priorities, first + walk.played))
    return config, walk.events


def draw_config(random: Random) -> mailbox.Config:
    extension = stream(random, "extension").choice((None, None, None, mailbox.FAILURES))
    newer, older = mailbox.SEMANTICS
    return mailbox.Config(stream(random, "semantics").choice((newer, newer, older)), extension)


def draw_events(
    random: Random, kind: str, state: mailbox.State, priorities: tuple[int, ...], number: int
) -> list[mailbox.Event]:
    thread = random.choice(list(mailbox.Thread))
    priority = random.choice(priorities)
    match kind:
        case "urgent":
            return [mailbox.Put(number, priority, mailbox.Kind.URGENT, thread)]
        case "deferrable":
            return [mailbox.Put(number, priority, mailbox.Kind.DEFERRABLE, thread)]
        case "failing":
            return [mailbox.PutFailing(number, priority, thread)]
        case "together":
            return [mailbox.PutTogether(tuple(range(number, number + random.choice((0, 1, 2, 3)))), priority, thread)]
        case "idle":
            return [mailbox.AskIdle()]
        case "burst":
            return draw_burst(random, priorities, number)
        case "batch":
            return [mailbox.MakeBatch()]
        case "take_from_batch":
            return [mailbox.TakeFromBatch()] * random.choice((1, 1, 1, len(state.batch), len(state.batch) + 1))
        case "take":
            return [mailbox.Take(random.choice((-1, *priorities)))]
        case "step":
            return [mailbox.Step()]
        case "loop":
            return [mailbox.Loop()] if state.life is mailbox.Life.OPEN or random.random() < 0.2 else [mailbox.Step()]
        case "suspend":
            return [mailbox.SuspendDefault(mailbox.Thread.MAILBOX)] if state.suspension is None else [mailbox.Loop()]
        case "resume":
            return draw_resume(random, state, thread)
        case "poison":
            return [random.choice((mailbox.CompleteAll, mailbox.SuspendLoop, mailbox.SuspendLoop))(thread)]
        case "drain":
            return [mailbox.Drain()]
        case "ask":
            return [mailbox.HasMail()]
        case "end":
            return [random.choice((mailbox.Quiesce, mailbox.Quiesce, mailbox.Close))(mailbox.Thread.MAILBOX)]
        case "refused":
            return [draw_refused(random, state)]
        case _:
            return [mailbox.Put(number, priority, mailbox.Kind.NORMAL, thread)]


def draw_burst(random: Random, priorities: tuple[int, ...], number: int) -> list[mailbox.Event]:
    """Normal and urgent mails of both threads in a row, with a batch started among them."""
    count = random.randint(2, 5)
    mails: list[mailbox.Event] = [
        mailbox.Put(
            number + offset,
            random.choice(priorities),
            random.choice((mailbox.Kind.NORMAL, mailbox.Kind.NORMAL, mailbox.Kind.URGENT)),
            random.choice(list(mailbox.Thread)),
        )
        for offset in range(count)
    ]
    mails.insert(
        random.randint(1, count), random.choice((mailbox.MakeBatch(), mailbox.TakeFromBatch(), mailbox.HasMail()))
    )
    return mails


def draw_resume(random: Random, state: mailbox.State, thread: mailbox.Thread) -> list[mailbox.Event]:
    """Mostly the current suspension, at times an old one."""
    if not state.handles:
        return [mailbox.SuspendDefault(mailbox.Thread.MAILBOX)]
    present = state.suspension if state.suspension is not None else state.handles - 1
    return [mailbox.Resume(random.choice((present, present, present, random.randrange(state.handles))), thread)]


def draw_refused(random: Random, state: mailbox.State) -> mailbox.Event:
    """From the wrong thread, with an unknown handle, or suspended twice."""
    choices: list[mailbox.Event] = [
        mailbox.SuspendDefault(mailbox.Thread.OTHER),
        mailbox.Quiesce(mailbox.Thread.OTHER),
        mailbox.Close(mailbox.Thread.OTHER),
        mailbox.Resume(state.handles, mailbox.Thread.MAILBOX),
        mailbox.Resume(-1, mailbox.Thread.OTHER),
    ]
    if state.suspension is not None:
        choices += [mailbox.SuspendDefault(mailbox.Thread.MAILBOX)] * 3
    return random.choice(choices)


# --- aims -----------------------------------------------------------------------------------------------------

KINDS = (
    "put", "urgent", "deferrable", "burst", "batch", "take_from_batch", "take", "step", "loop", "suspend", "resume",
    "poison", "drain", "ask", "end", "refused",
)  # fmt: skip


def draw_behind_the_end(random: Random) -> tuple[mailbox.Config, tuple[mailbox.Event, ...]]:
    """Suspended or not, stopped or not, quiesced or closed or both; then every event."""
    config = draw_config(random)
    kinds = [*KINDS, *(("failing", "together", "idle") if config.extension is not None else ())]
    walk = Walk(random, start(config), step)
    own = mailbox.Thread.MAILBOX
    ways: tuple[list[mailbox.Event], ...] = (
        [mailbox.Put(0, 0, mailbox.Kind.NORMAL, own)],
        [mailbox.SuspendDefault(own)],
        [
            random.choice((mailbox.CompleteAll, mailbox.SuspendLoop))(own),
            random.choice((mailbox.Loop(), mailbox.Step())),
        ],
        [mailbox.MakeBatch()],
        [mailbox.Quiesce(own)],
        [mailbox.Close(own)],
    )
    walk.play(event for way in random.sample(ways, random.randint(2, len(ways))) for event in way)
    for kind in random.sample(kinds, len(kinds)):
        walk.play(draw_events(random, kind, walk.state, (0, 1), 10 + walk.played))
    return config, walk.events


def draw_behind_the_loop(random: Random) -> tuple[mailbox.Config, tuple[mailbox.Event, ...]]:
    """The loop has ended, and the mailbox is still open: mails are put and taken as before, mostly urgent ones."""
    config = mailbox.Config(random.choice(mailbox.SEMANTICS), random.choice((None, mailbox.FAILURES)))
    kinds = ("put", "urgent", "urgent", "batch", "batch", "take_from_batch", "take", "step", "suspend", "ask")
    more = ("failing", "together", "idle") if config.extension is not None else ()
    walk = Walk(random, start(config), step)
    walk.play([mailbox.CompleteAll(mailbox.Thread.MAILBOX), mailbox.Loop()])
    for _ in range(random.randint(8, 25)):
        walk.play(draw_events(random, random.choice((*kinds, *more)), walk.state, (0, 1), walk.played))
    return config, walk.events


def draw_handles(random: Random) -> tuple[mailbox.Config, tuple[mailbox.Event, ...]]:
    """Suspended so often that the handle exceeds a byte; old handles have no effect."""
    own = mailbox.Thread.MAILBOX
    rounds: list[mailbox.Event] = []
    for handle in range(260):
        late: list[mailbox.Event] = [mailbox.Resume(handle - 256, own), mailbox.Loop()] if handle >= 256 else []
        rounds += [mailbox.SuspendDefault(own), *late, mailbox.Resume(handle, own)]
    return draw_config(random), (*rounds, mailbox.Loop())


AIMS = (draw_behind_the_end, draw_behind_the_loop)
ONCE = (draw_handles,)


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


MAILBOX, OTHER = mailbox.Thread.MAILBOX, mailbox.Thread.OTHER
LOW, HIGH = mailbox.Put(1, 0, mailbox.Kind.NORMAL, OTHER), mailbox.Put(2, 1, mailbox.Kind.NORMAL, MAILBOX)
OWN, FOREIGN = mailbox.Put(3, 0, mailbox.Kind.URGENT, MAILBOX), mailbox.Put(4, 1, mailbox.Kind.URGENT, OTHER)
DEFERRED = mailbox.Put(5, 1, mailbox.Kind.DEFERRABLE, MAILBOX)
TAKING: tuple[mailbox.Event, ...] = (
    mailbox.MakeBatch(),
    mailbox.TakeFromBatch(),
    mailbox.Take(-1),
    mailbox.Take(0),
    mailbox.Take(1),
    mailbox.HasMail(),
)

ORDERS: tuple[mailbox.Event, ...] = (LOW, HIGH, OWN, FOREIGN, DEFERRED, *TAKING, mailbox.Loop())
LOOPS: tuple[mailbox.Event, ...] = (
    LOW,
    OWN,
    *(mailbox.MakeBatch(), mailbox.TakeFromBatch(), mailbox.Take(1), mailbox.Loop(), mailbox.Step()),
    *(make(thread) for make in (mailbox.SuspendDefault, mailbox.CompleteAll) for thread in mailbox.Thread),
    mailbox.SuspendLoop(OTHER),
    *(mailbox.Resume(handle, thread) for handle in (0, 1) for thread in mailbox.Thread),
    mailbox.Resume(-1, OTHER),
)
ENDS: tuple[mailbox.Event, ...] = (
    LOW,
    FOREIGN,
    *(mailbox.MakeBatch(), mailbox.TakeFromBatch(), mailbox.Loop(), mailbox.Step(), mailbox.Drain()),
    *(make(thread) for make in (mailbox.Quiesce, mailbox.Close) for thread in mailbox.Thread),
)
LATE: tuple[mailbox.Event, ...] = (
    *(
        mailbox.SuspendDefault(MAILBOX),
        mailbox.CompleteAll(OTHER),
        mailbox.SuspendLoop(MAILBOX),
        mailbox.Quiesce(MAILBOX),
        mailbox.Close(MAILBOX),
    ),
    *(mailbox.Loop(), mailbox.Take(0), mailbox.HasMail()),
    *(mailbox.Resume(0, thread) for thread in mailbox.Thread),
)


FAILING: tuple[mailbox.Event, ...] = (
    LOW,
    mailbox.PutFailing(6, 0, OTHER),
    mailbox.PutTogether((7, 8), 0, MAILBOX),
    mailbox.SuspendDefault(MAILBOX),
    mailbox.Quiesce(MAILBOX),
    *(mailbox.Loop(), mailbox.Step(), mailbox.Drain(), mailbox.AskIdle()),
)

LATENESS = "the default action suspended and resumed, the loop stopped, both before and after it is quiesced or closed"


@attrs.frozen
class Part:
    """A part of the mailbox: the events, and how much may wait."""

    name: str
    events: tuple[mailbox.Event, ...]
    mails: int
    handles: int
    covers: str
    extension: str | None = None


def make_scope(part: Part, semantics: str) -> Scope:
    return Scope(
        name=f"{semantics}-{part.name}",
        component="mailbox",
        configs=(mailbox.Config(semantics, part.extension),),
        alphabet=lambda _config, _state: part.events,
        covers=f"{semantics}; {part.covers}",
        cap=f"at most {counted(part.mails, 'mail')} waiting and {counted(part.handles, 'suspension')} so far",
        expand=make_cap(part),
    )


def make_cap(part: Part) -> Callable[[mailbox.State], bool]:
    return lambda state: len(state.batch) + len(state.queue) <= part.mails and state.handles <= part.handles


def make_parts(orders: int, loops: int, handles: int, ends: int) -> Iterator[Part]:
    yield Part(
        "orders",
        ORDERS,
        orders,
        0,
        "mails of two priorities, deferrable ones, urgent ones of either thread; batches, takes of three priorities",
    )
    yield Part(
        "loops",
        LOOPS,
        loops,
        handles,
        "a normal and an urgent mail, the loop and single steps, the default action suspended and resumed, the loop "
        "stopped for now and for good, by either thread; refused: suspending twice or from outside, unknown handles",
    )
    yield Part("late", LATE, 1, 1, LATENESS)
    told = "mails that fail, mails that are put together, and whether the mailbox is idle; refused: what comes too late"
    yield Part("failing", FAILING, 2, 1, told, mailbox.FAILURES)
    yield Part(
        "ends",
        ENDS,
        ends,
        0,
        "a normal and an urgent mail, quiesced, drained and closed, by either thread; refused: what comes after that, "
        "and ending from outside",
    )


def make_scopes(orders: int, loops: int, handles: int, ends: int) -> Iterator[Scope]:
    for semantics in mailbox.SEMANTICS:
        yield from (make_scope(part, semantics) for part in make_parts(orders, loops, handles, ends))


def small() -> Iterator[Scope]:
    return make_scopes(orders=2, loops=1, handles=2, ends=2)


def thorough() -> Iterator[Scope]:
    return make_scopes(orders=3, loops=2, handles=2, ends=3)
