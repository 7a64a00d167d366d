"""Spark's own event time: checked against the invariants of run logs, and compared with Flink's.

`model` says what Flink counts, what Spark counts, and in which ways they differ. `differences` finds the shortest
traces that show it, `drawing` makes further traces. `exam` runs all of them on the engine `spark-native` and judges
the results; `report` puts them into words. The engine itself is in `conformance/engines/spark/native`.
"""
