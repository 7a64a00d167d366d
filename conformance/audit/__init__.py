"""Audits of run logs: every invariant over files of any size, here or on Spark."""
