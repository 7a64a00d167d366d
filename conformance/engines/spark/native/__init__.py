"""Spark's own event time as a subject: `withWatermark`, the policy for several watermarks, late rows, windows.

`traces` is the input of sources, `query` runs it on Spark, `mutants` are wrong queries, `logs` writes a
run as a run log with the capabilities that Spark has, `engine` is all of it behind `--engine spark-native`.

It is not an engine of the protocol, which is about single components: only a whole job shows anything of
Spark's event time.
"""
