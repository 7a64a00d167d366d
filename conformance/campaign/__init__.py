"""Campaigns: millions of generated cases against one engine, in chunks that are spread over workers and kept as files.

A plan (`plan`) cuts the seeds into chunks. A worker (`worker`) runs a chunk against an engine that it keeps, and gives
an outcome (`outcome`), which the driver writes into the folder of the campaign (`folder`), one Parquet file a chunk.
`pool` spreads the chunks over Spark, or takes them one after the other; `campaign` leads it all; `summary` makes of the
files what a run in one process would have said.
"""
