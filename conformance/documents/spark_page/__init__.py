"""The page for Spark users about these semantics, generated from runs on Spark.

`jobs` has the jobs, `differences` the shortest traces on which Spark's own event time differs from Flink's, `facts` the
outcome of all runs, `page` the page. The engines are in `conformance/spark`; this package judges them.
"""
