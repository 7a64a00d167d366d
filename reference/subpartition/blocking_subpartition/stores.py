"""Where a blocking subpartition keeps its data, and what that shows to whoever reads it.

All stores give the same bytes in the same order. They differ in what they remember of an event besides its bytes, and
in how many buffers a reader may hold at a time. Flink: FileChannelBoundedData, MemoryMappedBoundedData,
FileChannelMemoryMappedBoundedData, BoundedBlockingSubpartitionDirectTransferReader.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product

import attrs

from tidegate.reference.claims import law
from tidegate.reference.subpartition.queue import Item, ItemKind


class Store(StrEnum):
    """`file_region` is the plain file again, whose readers hand out regions of it instead of read buffers."""

    FILE = "file"
    FILE_REGION = "file_region"
    MMAP = "mmap"
    FILE_MMAP = "file_mmap"


#: SUBP-34: how many buffers a reader of a plain file has to read into.
READ_BUFFERS = 2

#: SUBP-37: from so many subpartitions on the sort-merge partition is used, by default, in these Flink releases.
SORT_MERGE_DEFAULTS = (("1.14", 2**31 - 1), ("1.15", 1), ("2.3", 1))


def choose_store(address_bits: int) -> Store:
    """SUBP-34: what `auto` means."""
    return Store.FILE_MMAP if address_bits == 64 else Store.FILE


def uses_sort_merge(subpartitions: int, threshold: int) -> bool:
    """SUBP-37: whether a blocking result is written by the sort-merge partition instead."""
    return subpartitions >= threshold


def remember(store: Store, kind: ItemKind) -> ItemKind:
    """SUBP-35: the kind that an item comes back with."""
    return ItemKind.EVENT if store is Store.MMAP and kind is not ItemKind.DATA else kind


@attrs.frozen
class Reader:
    """`position` is the item that is handed out next; `held` are buffers handed out and not recycled.

    `ahead` tells whether that item was read already: readers read one ahead, if they have a buffer for it.
    """

    position: int = 0
    held: int = 0
    ahead: bool = True
    released: bool = False


def look_ahead(store: Store, written: tuple[Item, ...], reader: Reader) -> Reader:
    """SUBP-34: read the next item, if there is one and a read buffer for it."""
    has_room = store is not Store.FILE or reader.held < READ_BUFFERS
    return attrs.evolve(reader, ahead=reader.position < len(written) and has_room)


def compute_next(store: Store, written: tuple[Item, ...], reader: Reader) -> ItemKind:
    """The kind that the next item is said to have; a reader of regions knows only how much is left of each kind."""
    if not reader.ahead:
        return ItemKind.NONE
    if store is Store.FILE_REGION:
        return ItemKind.DATA if compute_backlog(written, reader) else ItemKind.EVENT
    return remember(store, written[reader.position].kind)


def compute_backlog(written: tuple[Item, ...], reader: Reader) -> int:
    """SUBP-33: the data buffers that the reader has not handed out."""
    return sum(item.is_data for item in written[reader.position :])


# --- laws -----------------------------------------------------------------------------------------------------


@law("SUBP-34", samples=lambda: ((32,), (64,)))
def mapped_with_address_space(bits: int) -> bool:
    """Files are mapped for reading where addresses have 64 bits, and read plainly where they have 32.

    A file is mapped as a whole, which 32 bits of addresses have no room for.
    """
    maps = choose_store(bits) in (Store.MMAP, Store.FILE_MMAP)
    return maps == (2**bits > 2**40) and choose_store(bits) is not Store.MMAP


def all_defaults() -> Iterator[tuple[str, int, int]]:
    for (release, threshold), subpartitions in product(SORT_MERGE_DEFAULTS, (1, 2, 100)):
        yield release, threshold, subpartitions


@law("SUBP-37", samples=all_defaults)
def sort_merge_instead(release: str, threshold: int, subpartitions: int) -> bool:
    """By default each subpartition had a file up to 1.14; since 1.15 one file is sorted for all of them."""
    return uses_sort_merge(subpartitions, threshold) == (release != "1.14")


def all_kinds() -> Iterator[tuple[Store, ItemKind]]:
    yield from product(Store, (ItemKind.DATA, ItemKind.END_OF_DATA, ItemKind.END_OF_PARTITION))


@law("SUBP-35", samples=all_kinds)
def data_and_events_apart(store: Store, kind: ItemKind) -> bool:
    """Every store tells data from events; all but the mapped one tell which event it was."""
    back = remember(store, kind)
    return (back is ItemKind.DATA) == (kind is ItemKind.DATA) and (store is Store.MMAP or back is kind)
