"""Whole jobs on Structured Streaming: every task of a job is a stage of a query, every edge a shuffle.

`layout` is the plan of a program, `valves` and `routing` are the parts of a task, `subtask` processes the input of
one subtask, `processor` keeps it in Spark's state store, `query` is the streaming query and its
exactly-once sink, `scripts` writes the input of sources as files, `logs` reads the run logs of the jobs.

Many jobs run in one query, distinguished by a column: a micro-batch costs seconds, however little it has to do.
"""
