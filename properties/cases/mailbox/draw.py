"""Cases for the mailbox: urgent mails into half-run batches, stale handles, poison from both sides, and the end."""

from random import Random

from tidegate.properties.cases.values import FAR_APART, among, swarm
from tidegate.properties.cases.walk import Walk
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
        weights |= {"failing": random.choice((0.3, 1)), "together": 0.5, "idle": 1}
    priorities = random.choice(((0,), (0, 1), (-1, 0, 1, 2), (0, 1, 2**31 - 1)))
    draw_kind = among(random, weights)
    # Mails have any numbers, some of which are the same in a byte or two.
    first = random.choice((0, 0, 0, *FAR_APART))
    walk = Walk(random, start(config), step)
    for _ in walk.up_to_end(lambda state: state.life is mailbox.Life.CLOSED or not state.running, 2, 6):
        walk.play(draw_events(random, draw_kind(), walk.state, priorities, first + walk.played))
    return config, walk.events


def draw_config(random: Random) -> mailbox.Config:
    extension = random.choice((None, None, None, mailbox.FAILURES))
    return mailbox.Config(random.choice((mailbox.SEMANTICS[0], mailbox.SEMANTICS[0], mailbox.SEMANTICS[1])), extension)


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
    """Normal and urgent mails of both threads in a row, with a batch begun in their midst."""
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
    """Mostly the present suspension, at times one that is over."""
    if not state.handles:
        return [mailbox.SuspendDefault(mailbox.Thread.MAILBOX)]
    present = state.suspension if state.suspension is not None else state.handles - 1
    return [mailbox.Resume(random.choice((present, present, present, random.randrange(state.handles))), thread)]


def draw_refused(random: Random, state: mailbox.State) -> mailbox.Event:
    """From the wrong thread, with a handle that nobody has, or suspended twice."""
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
    """Suspended or not, told to stop or not, quiesced or closed or both: and then all there is."""
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
    """The loop has ended, and the mailbox is still open: mails are put and taken as ever, urgent ones above all."""
    config = mailbox.Config(random.choice(mailbox.SEMANTICS), random.choice((None, mailbox.FAILURES)))
    kinds = ("put", "urgent", "urgent", "batch", "batch", "take_from_batch", "take", "step", "suspend", "ask")
    more = ("failing", "together", "idle") if config.extension is not None else ()
    walk = Walk(random, start(config), step)
    walk.play([mailbox.CompleteAll(mailbox.Thread.MAILBOX), mailbox.Loop()])
    for _ in range(random.randint(8, 25)):
        walk.play(draw_events(random, random.choice((*kinds, *more)), walk.state, (0, 1), walk.played))
    return config, walk.events


def draw_handles(random: Random) -> tuple[mailbox.Config, tuple[mailbox.Event, ...]]:
    """Suspended so often that a byte does not hold the handle; what an old one says has no effect."""
    own = mailbox.Thread.MAILBOX
    rounds: list[mailbox.Event] = []
    for handle in range(260):
        late: list[mailbox.Event] = [mailbox.Resume(handle - 256, own), mailbox.Loop()] if handle >= 256 else []
        rounds += [mailbox.SuspendDefault(own), *late, mailbox.Resume(handle, own)]
    return draw_config(random), (*rounds, mailbox.Loop())


AIMS = (draw_behind_the_end, draw_behind_the_loop)
ONCE = (draw_handles,)
