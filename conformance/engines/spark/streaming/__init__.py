"""Whole jobs on Structured Streaming: every task of a job a stage of a query, every edge a shuffle.

`layout` is what becomes of a program, `valves` and `routing` are the parts of a task, `subtask` is what one subtask
does with what it receives, `processor` keeps it in Spark's state store, `query` is the streaming query and its
exactly-once sink, `scripts` writes what the sources say as files, `logs` reads the run logs of the jobs.

Many jobs run in one query, told apart by a column: a micro-batch costs seconds, however little it has to do.
"""
