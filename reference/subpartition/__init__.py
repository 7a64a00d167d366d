"""Where a producer's buffers wait: the buffer itself, the queue of a subpartition, the partition above it.

`buffer`, `queue` and `subpartition` are the parts of push exchange, `blocking_subpartition` those of pull exchange.
`result_partition` registers subpartitions, creates their views and releases them. `union_view` reads several
subpartitions as one, `output_state` saves the data that a barrier overtakes, and `event_kinds` describes events.
"""
