"""Spark's own event time as a subject: `withWatermark`, the policy for several watermarks, late rows, windows.

`traces` is what sources say, `query` runs it on Spark, `mutants` are queries with a mistake in them, `logs` writes a
run down as a run log with the capabilities that Spark has, `engine` is all of it behind `--engine spark-native`.

It is no engine of the protocol, which speaks of single components: nothing of Spark's event time can be asked for but
by running a whole job.
"""
