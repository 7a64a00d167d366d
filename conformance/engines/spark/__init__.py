"""Engines that are judged like any other, made of what Spark itself offers: folds, expressions, joins, streams.

Nothing here calls `reference/`. PySpark is imported when a session is asked for, so that the rest installs and starts
without it; Java is looked for first, because its absence is what goes wrong most often.
"""
