"""Campaigns: millions of generated cases against one engine, in chunks that run on workers and are saved as files.

A plan (`plan`) splits the seeds into chunks. A worker (`worker`) runs a chunk against an engine that it keeps, and
returns an outcome (`outcome`). The driver writes it into the folder of the campaign (`folder`), one Parquet file per
chunk. `pool` runs the chunks on Spark or one after the other; `campaign` coordinates; `summary` reads the files into
the result that a run in one process would have.
"""
