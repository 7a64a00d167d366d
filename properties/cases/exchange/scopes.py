"""Scopes of push and pull exchange."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.exchange import values as exchange
from tidegate.reference.subpartition.values import Finish, Flush, Release


def make_scope(consumers: int, produced: int) -> Scope:
    def play(_config: exchange.Config, _state: exchange.State) -> Iterator[exchange.Event]:
        yield from (
            exchange.Register(),
            exchange.Produce(),
            Flush(),
            Finish(),
            Release(),
            exchange.EndJob(),
            exchange.Request(-1),
            exchange.Leave(consumers),
        )
        for consumer in range(consumers):
            yield from (
                exchange.Request(consumer),
                exchange.Pull(consumer, credit=True),
                exchange.Pull(consumer, credit=False),
                exchange.Leave(consumer),
            )

    return Scope(
        name=f"{consumers}x{produced}",
        component="exchange",
        configs=tuple(exchange.Config(result, consumers, limit=1) for result in exchange.ResultType),
        alphabet=play,
        covers=(
            f"every type of result, of which a bounded one holds 1 buffer; {counted(consumers, 'consumer')} that ask, "
            "pull with credit and without, and leave; buffers, flush, finish, release and the end of the job; refused: "
            "what comes out of turn, consumers out of range"
        ),
        cap=f"at most {counted(produced, 'item')} produced",
        expand=lambda state: state.produced <= produced,
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope(1, 3)
    yield make_scope(2, 2)
