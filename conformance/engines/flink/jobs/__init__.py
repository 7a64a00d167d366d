"""Whole jobs on a real MiniCluster.

`compiling` makes the Java side, `cluster` runs it in a process of its own; neither knows the specification.
"""
