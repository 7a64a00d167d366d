"""The invariants over long run logs: numpy kernels that read a log chunk by chunk, in constant memory.

The folds of `tidegate.properties.runlog` are the definition; a kernel finds what its fold finds.
"""
