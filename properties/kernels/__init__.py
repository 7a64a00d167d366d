"""The invariants over run logs in bulk: numpy kernels that take a log chunk by chunk, in memory that does not grow.

The folds of `tidegate.properties.runlog` are the text of record; a kernel finds what its fold finds.
"""
