"""Engines made of what Spark itself offers (folds, expressions, joins, streams), judged like any other.

Nothing here calls `reference/`. PySpark is imported when a session is made, so that the rest works
without it; Java is checked first, because its absence is the most frequent problem.
"""
