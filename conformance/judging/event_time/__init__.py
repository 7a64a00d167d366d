"""Spark's own event time, held to the invariants of run logs and laid beside that of Flink.

`model` says what Flink counts, what Spark counts, and in which ways they differ; `differences` finds the shortest
traces that show it; `drawing` makes further traces; `exam` runs all of them on the engine `spark-native` and judges
what came of it; `report` puts that into words. The engine itself is in `conformance/spark/native`.
"""
