"""Spark's own event time as a subject: `withWatermark`, the policy for several watermarks, late rows, windows.

`traces` is what sources say and a model of what Spark makes of it, `query` runs it on Spark, `logs` writes it down as
a run log with the capabilities that Spark has. It is no engine of the protocol, which speaks of single components:
nothing of Spark's event time can be asked for but by running a whole job.
"""
