"""Where a producer's buffers wait: the buffer itself, the queue of a subpartition, the partition above it.

`buffer` and `pipelined` are what push exchange is made of, `blocking` and its stores what pull exchange is made of;
`partition` is the level that registers, hands out views and is released, and `exchange` compares the kinds.
"""
