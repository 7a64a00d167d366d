"""CPU seconds and memory of this process and all that it started, from /proc: no library needed, Linux only."""

import os
import threading
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def read_stat(pid):
    """Name, parent, and CPU seconds with those of its children that have ended."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
    return name, int(rest[1]), sum(map(int, rest[11:15])) / TICKS


def find_tree(root):
    """The processes below one, itself included, by their number."""
    known = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                known[int(entry.name)] = read_stat(entry.name)
            except (OSError, ValueError):
                continue
    tree, waiting = {}, [root]
    while waiting:
        pid = waiting.pop()
        if pid in known and pid not in tree:
            tree[pid] = known[pid]
            waiting += [one for one, (_name, parent, _cpu) in known.items() if parent == pid]
    return tree


def cpu_of_tree():
    return sum(cpu for _name, _parent, cpu in find_tree(os.getpid()).values())


def memory_of(pid):
    """Resident megabytes."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


class Watch:
    """Peak memory while it is open: of the largest Python worker, of the JVM, of all together; and what it cost."""

    def __enter__(self):
        self.worker = self.java = self.total = self.cpu = 0.0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()
        return self

    def look(self):
        while not self.over.wait(0.25):
            total = 0.0
            for pid, (name, _parent, _cpu) in find_tree(os.getpid()).items():
                try:
                    memory = memory_of(pid)
                except (OSError, ValueError):
                    continue
                total += memory
                if name.startswith("java"):
                    self.java = max(self.java, memory)
                elif pid != os.getpid():
                    self.worker = max(self.worker, memory)
            self.total = max(self.total, total)
            self.cpu = time.thread_time()

    def __exit__(self, *_error):
        self.over.set()
        self.thread.join()
