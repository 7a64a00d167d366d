"""Rows come back from their blocks: all of them, bucket by bucket, in order, and never too many at a time."""

import pytest

np = pytest.importorskip("numpy")
pyarrow = pytest.importorskip("pyarrow")

from tidegate.conformance.audit import blocks  # noqa: E402
from tidegate.conformance.audit.blocks import ORDER, ROW, make_blocks, make_cut, pack, read_buckets, tell_problem  # noqa: E402
from tidegate.properties.kernels.columns import Chunk  # noqa: E402
from tidegate.properties.kernels.numbering import MOST_MET  # noqa: E402

WILD = [-(2**63), -1, 2**40, 2**63 - 1]


def make_rows(channel, position, seed=3):
    random = np.random.default_rng(seed)
    count = len(position)
    numbers = {name: random.integers(-(2**62), 2**62, count) for name in ("step", "timestamp", "id", "value")}
    return Chunk(
        **numbers,
        subtask=random.integers(0, 50, count).astype(np.int32),
        channel=np.asarray(channel, dtype=np.int32),
        position=np.asarray(position, dtype=np.int64),
        what=(random.integers(0, 9, count) + 16 * random.integers(0, 2, count)).astype(np.uint8),
        key=np.full(count, -1, dtype=np.int32),
        keys=None,
    )


def deal(cut, chunk, size):
    """As several workers and Spark do: each makes blocks of its rows, and these are sorted."""
    rows = pack(chunk)
    pieces = [slice(at, at + size) for at in range(0, len(chunk), size)]
    batches = [make_blocks(0, cut, rows[one], chunk.channel[one], "position") for one in pieces]
    table = pyarrow.Table.from_batches(batches).sort_by([(name, "ascending") for name in ORDER])
    return table.to_batches(max_chunksize=3)


def read(cut, dealt):
    return [chunk for _run, chunk in read_buckets((cut,), "position", iter(dealt))]


def as_tuples(chunks):
    return [row.item() for chunk in chunks for row in pack(chunk)]


def shuffled(channels, positions, seed=1):
    """Every channel with so many positions, in any order."""
    order = np.random.default_rng(seed).permutation(channels * positions)
    return make_rows(order % channels, order // channels)


@pytest.mark.parametrize(("channels", "positions"), [(1, 3000), (7, 400), (1000, 3), (3000, 1)])
def test_all_rows_come_back_in_order(monkeypatch, channels, positions):
    """One channel of many buckets; some channels; more channels than parts, so that several share a block."""
    monkeypatch.setattr(blocks, "NUMBERS", 256)
    monkeypatch.setattr(blocks, "MOST_PARTS", 64)
    chunk = shuffled(channels, positions)
    cut = make_cut(channels, len(chunk))
    assert cut.width * cut.span <= 256
    found = read(cut, deal(cut, chunk, 500))
    assert sorted(as_tuples(found)) == sorted(as_tuples([chunk]))
    assert max(map(len, found)) <= 256
    last = {}
    for piece in found:
        for channel, position in zip(piece.channel.tolist(), piece.position.tolist(), strict=True):
            assert position == last.get(channel, -1) + 1
            last[channel] = position
    assert last == dict.fromkeys(range(channels), positions - 1)


def test_neighbours_share_blocks_where_channels_are_many():
    chunk = shuffled(40_000, 1)
    dealt = deal(make_cut(40_000, len(chunk)), chunk, len(chunk))
    assert sum(one.num_rows for one in dealt) <= blocks.MOST_PARTS


def test_no_block_is_large():
    chunk = shuffled(1, 20_000)
    dealt = deal(make_cut(1, len(chunk)), chunk, len(chunk))
    sizes = [len(rows.as_py()) for batch in dealt for rows in batch.column("rows")]
    assert sum(sizes) == 20_000 * ROW.itemsize
    assert max(sizes) <= blocks.MOST_OF_BLOCK * ROW.itemsize


def test_positions_that_cannot_be_make_no_buckets_of_their_own():
    position = np.random.default_rng(2).integers(-(2**63), 2**63 - 1, 5000)
    position[: len(WILD)] = WILD
    chunk = make_rows(np.zeros(5000), position)
    cut = make_cut(1, len(chunk))
    dealt = deal(cut, chunk, 1000)
    assert {key for batch in dealt for key in batch.column("bucket").to_pylist()} == {0}
    assert sorted(as_tuples(read(cut, dealt))) == sorted(as_tuples([chunk]))


def test_a_bucket_with_more_rows_than_it_can_have_is_not_held(monkeypatch):
    """Each piece but the last has too many rows to be right, so that the kernels refuse the first."""
    monkeypatch.setattr(blocks, "MOST_OF_BUCKET", 600)
    monkeypatch.setattr(blocks, "MOST_OF_BLOCK", 100)
    chunk = make_rows(np.zeros(5000), np.arange(5000) % 100)
    cut = make_cut(1, len(chunk))
    found = read(cut, deal(cut, chunk, 1000))
    assert sorted(as_tuples(found)) == sorted(as_tuples([chunk]))
    assert all(600 < len(piece) <= 700 for piece in found[:-1])
    assert len(found) > 5


def test_columns_may_be_narrow():
    chunk = shuffled(1, 100)
    chunk.position = chunk.position.astype(np.int8)
    cut = make_cut(1, 100_000)
    (found,) = read(cut, deal(cut, chunk, 50))
    assert found.position.tolist() == list(range(100))


def test_no_rows_are_no_blocks():
    cut = make_cut(0, 0)
    assert read(cut, [make_blocks(0, cut, pack(make_rows([], [])), np.empty(0, int), "position")]) == []


def test_rows_have_room_for_as_many_channels_as_a_run_may_have():
    chunk = make_rows([MOST_MET - 1], [5])
    cut = make_cut(MOST_MET, 10)
    assert as_tuples(read(cut, deal(cut, chunk, 1))) == as_tuples([chunk])


def test_a_problem_comes_through():
    cut = make_cut(1, 100)
    dealt = [tell_problem(0, "wörds"), *deal(cut, shuffled(1, 100), 50)]
    problem, chunk = read(cut, dealt)
    assert problem == "wörds"
    assert len(chunk) == 100
