"""What a Spark user should know about these semantics, as a page that is written from runs on Spark.

`jobs` are the jobs that run, `differences` the shortest traces on which Spark's own event time is not Flink's, `facts`
what was seen when all of them ran, `page` the page. The engines are in `conformance/spark`; here they are judged.
"""
