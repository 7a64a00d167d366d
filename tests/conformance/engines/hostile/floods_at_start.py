"""Writes a gigabyte without a newline instead of answering hello."""

from speaking import write

for _ in range(1024):
    write(b"x" * 1024 * 1024)
