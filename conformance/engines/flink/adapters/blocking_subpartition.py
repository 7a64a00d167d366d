"""The bounded blocking subpartition: `BoundedBlockingSubpartition` over its stores, in files of a temporary folder.

The adapter is the producer (one end of data, no writing into a buffer already handed on) and the file system (a file
is lost, or a disk fails: then every write of the store does). It releases a buffer together with the subpartition, so
the memory is free when the subpartition has released it. Whether the data is gone shows where Flink deletes it:
in the file system or, once the file was lost, in what the subpartition still holds.
"""

import contextlib
import tempfile
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, buffers_of, events_of
from tidegate.conformance.engines.flink.adapters.subpartition import REFUSED, parent_of
from tidegate.conformance.engines.flink.jvm import Jvm

STORES = f"{NETWORK}partition.BoundedBlockingSubpartitionType"
#: Flink's names of the stores of the protocol. Without encryption, regions of a plain file are handed out.
TYPES = {"file": "FILE", "file_region": "FILE", "mmap": "MMAP", "file_mmap": "FILE_MMAP"}
EXTENSIONS = ("failures",)
#: How many bytes a reader of a plain file reads at a time: more than any buffer of a case.
READ_SIZE = 1024

_numbers = count()


def declare(jvm: Jvm) -> wire.Json | None:
    """Regions came in 1.12; the end of data differs from other events since 1.20 at the latest."""
    direct = jvm.has(f"{NETWORK}partition.BoundedBlockingSubpartitionDirectTransferReader")
    known = {str(one.name()) for one in jvm.cls(f"{NETWORK}buffer.Buffer$DataType").values()}
    return {"extensions": list(EXTENSIONS)} if direct and "END_OF_DATA" in known else None


def make(jvm: Jvm, config: wire.Json) -> "BlockingSubpartition":
    store, extension = wire.get_choice(config, "store", tuple(TYPES)), wire.get_extension(config, EXTENSIONS)
    return BlockingSubpartition(jvm, store, may_fail=extension is not None)


@cache
def folder_for_files() -> "tempfile.TemporaryDirectory[str]":
    """Removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="tidegate-flink-", ignore_cleanup_errors=True)


class Reader:
    """A view, the buffers that it gave and that were not recycled, and how often it was notified."""

    def __init__(self) -> None:
        self.view: Any = None
        self.held: list[Any] = []
        self.released = False
        self.woken = 0

    def notifyDataAvailable(self, *_view: Any) -> None:  # noqa: N802 - Java's name
        self.woken += 1

    def notifyPriorityEvent(self, _sequence: Any) -> None:  # noqa: N802
        raise AssertionError("a blocking subpartition has no priority events")


class BlockingSubpartition:
    def __init__(self, jvm: Jvm, store: str, *, may_fail: bool) -> None:
        self.jvm, self.buffers, self.events = jvm, buffers_of(jvm), events_of(jvm)
        self.reads_regions = store == "file_region"
        self.file = Path(folder_for_files().name) / str(next(_numbers))
        number, boolean = jvm.cls("java.lang.Integer"), jvm.cls("java.lang.Boolean")
        self.subpartition = jvm.call(
            jvm.cls(STORES).valueOf(TYPES[store]),
            "create",
            number(0),
            parent_of(jvm),
            jvm.cls("java.io.File")(str(self.file)),
            number(READ_SIZE),
            boolean(not self.reads_regions),
        )
        self.readers: list[Reader] = []
        self.open: Any = None
        self.kept: Any = None
        self.data_ended = self.lost = self.disk_failed = False
        self.may_fail = may_fail
        self.handlers = {
            "buffer": self.on_buffer,
            "append": self.on_append,
            "finish_buffer": self.on_finish_buffer,
            "end_of_data": self.on_end_of_data,
            "flush": self.on_flush,
            "finish": self.on_finish,
            "release": self.on_release,
            "lose_file": self.on_lose_file,
            "view": self.on_view,
        }
        self.reader_handlers = {
            "poll": self.on_poll,
            "recycle": self.on_recycle,
            "query": self.on_query,
            "release_view": self.on_release_view,
        }

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type", "")
        if kind == "fail_disk" and self.may_fail:
            if not self.disk_failed:
                self.fail_disk()
            return []
        if kind in self.handlers:
            return self.handlers[kind](event)
        if kind not in self.reader_handlers:
            raise wire.unknown_type(event)
        view = wire.get_integer(event, "view")
        if not 0 <= view < len(self.readers) or self.readers[view].released:
            return wire.rejected()
        return self.reader_handlers[kind](event, view)

    def close(self) -> None:
        with contextlib.suppress(self.jvm.JavaError):
            self.subpartition.release()
        for reader in self.readers:
            if not reader.released:
                with contextlib.suppress(self.jvm.JavaError):
                    reader.view.releaseAllResources()
        for file in self.files():
            file.unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """A store has one or two files: the data, and the offsets of buffers."""
        return [file for file in (self.file, *self.file.parent.glob(f"{self.file.name}.*")) if file.exists()]

    # The producer

    def on_buffer(self, event: wire.Json) -> wire.Observations:
        data, finished = bytes.fromhex(wire.get_hex(event, "data")), wire.get_boolean(event, "finished")
        builder = self.buffers.open(data)
        consumer = builder.createBufferConsumerFromBeginning()
        if not finished:
            return self.add(consumer, builder)
        builder.finish()
        builder.close()
        return self.add(consumer, None)

    def on_end_of_data(self, _event: wire.Json) -> wire.Observations:
        if self.data_ended:
            return wire.rejected()
        consumer = self.buffers.to_consumer(self.events.end_of_data, False)
        seen = self.add(consumer, None)
        self.data_ended = self.kept is consumer
        return seen

    def add(self, consumer: Any, builder: Any) -> wire.Observations:
        answers: list[int] = []
        seen = self.write(lambda: answers.append(int(self.subpartition.add(consumer, 0))))
        if answers and answers[0] != REFUSED:
            self.kept, self.open = consumer, builder
            return seen
        if builder is not None:
            builder.close()
        if answers:
            return wire.rejected()
        consumer.close()
        return seen

    def write(self, attempt: Any) -> wire.Observations:
        """Data goes to the store now, or that fails; in both cases the producer releases it."""
        failed = False
        try:
            attempt()
        except self.jvm.JavaError:
            if not self.may_fail:
                raise
            failed = True
        return [*self.give_back(), {"type": "write_failed"}] if failed else self.give_back()

    def give_back(self) -> wire.Observations:
        """Whether the memory of the data is free now."""
        self.let_go()
        if self.kept is None or not self.kept.isRecycled():
            return []
        self.kept = None
        return [{"type": "recycled"}] if self.may_fail else []

    def let_go(self) -> None:
        if self.open is not None:
            self.open.close()
        self.open = None

    def on_append(self, event: wire.Json) -> wire.Observations:
        data = bytes.fromhex(wire.get_hex(event, "data"))
        if self.open is None:
            return wire.rejected()
        self.buffers.append(self.open, data)
        return []

    def on_finish_buffer(self, _event: wire.Json) -> wire.Observations:
        if self.open is None:
            return wire.rejected()
        self.open.finish()
        self.let_go()
        return []

    def on_flush(self, _event: wire.Json) -> wire.Observations:
        return self.write(self.subpartition.flush)

    def on_finish(self, _event: wire.Json) -> wire.Observations:
        if self.jvm.field(self.subpartition, "isFinished"):
            try:
                self.subpartition.finish()
            except self.jvm.JavaError:
                return wire.rejected()
        return self.write(self.subpartition.finish)

    # The owner, and the disk

    def on_release(self, _event: wire.Json) -> wire.Observations:
        self.let_go()
        seen = self.give_up(self.subpartition.release)
        return [*self.give_back(), *seen]

    def on_lose_file(self, _event: wire.Json) -> wire.Observations:
        self.lost = True
        for file in self.files():
            file.unlink()
        return []

    def fail_disk(self) -> None:
        self.disk_failed = True
        data = self.jvm.field(self.subpartition, "data")

        def fail(_buffer: Any) -> None:
            raise self.jvm.cls("java.io.IOException")("the disk fails")

        methods = ("finishWrite", "createReader", "getSize", "getFilePath", "close")
        handlers = {name: partial(self.jvm.call, data, name) for name in methods}
        failing = self.jvm.implement(f"{NETWORK}partition.BoundedData", {**handlers, "writeBuffer": fail})
        self.jvm.set_field(self.subpartition, "data", failing)

    def give_up(self, release: Any) -> wire.Observations:
        """A holder of the data releases it, perhaps the last one."""
        before = self.is_kept()
        try:
            release()
        except self.jvm.JavaError:
            if not self.lost:
                raise
        return [{"type": "deleted"}] if before and not self.is_kept() else []

    def is_kept(self) -> bool:
        if not self.lost:
            return bool(self.files())
        released = bool(self.jvm.field(self.subpartition, "isReleased"))
        return not released or not self.jvm.field(self.subpartition, "readers").isEmpty()

    # The readers

    def on_view(self, _event: wire.Json) -> wire.Observations:
        reader = Reader()
        listener = self.jvm.jpype.JProxy(f"{NETWORK}partition.BufferAvailabilityListener", inst=reader)
        try:
            reader.view = self.subpartition.createReadView(listener)
        except self.jvm.cls(f"{NETWORK}partition.PartitionNotFoundException"):
            return [{"type": "not_found"}]
        except self.jvm.JavaError:
            return wire.rejected()
        self.readers.append(reader)
        return [{"type": "view", "view": len(self.readers) - 1}]

    def on_poll(self, _event: wire.Json, view: int) -> wire.Observations:
        reader = self.readers[view]
        found = reader.view.getNextBuffer()
        if found is None:
            return [{"type": "none"}]
        buffer = found.buffer()
        reader.held.append(buffer)
        kind = self.buffers.kind_of(buffer.getDataType())
        item: wire.Json = {"type": "item", "kind": kind, "data": self.read(buffer).hex() if kind == "data" else ""}
        item["backlog"] = int(found.buffersInBacklog())
        item["next"] = self.buffers.kind_of(found.getNextDataType())
        item["sequence"] = int(found.getSequenceNumber())
        return [item]

    def read(self, buffer: Any) -> bytes:
        if not self.reads_regions:
            return self.buffers.read(buffer)
        length = int(buffer.readableBytes())
        return self.buffers.read(buffer.readInto(self.buffers.allocate(max(length, 1))))

    def on_recycle(self, _event: wire.Json, view: int) -> wire.Observations:
        reader = self.readers[view]
        if not reader.held:
            return wire.rejected()
        before = reader.woken
        reader.held.pop(0).recycleBuffer()
        return [{"type": "data_available", "view": view}] * (reader.woken - before)

    def on_query(self, event: wire.Json, view: int) -> wire.Observations:
        found = self.readers[view].view.getAvailabilityAndBacklog(wire.get_boolean(event, "credit"))
        return [{"type": "availability", "available": bool(found.isAvailable()), "backlog": int(found.getBacklog())}]

    def on_release_view(self, _event: wire.Json, view: int) -> wire.Observations:
        reader = self.readers[view]
        reader.released = True
        return self.give_up(reader.view.releaseAllResources)
