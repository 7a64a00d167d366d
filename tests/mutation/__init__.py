"""Mutation testing of the reference: is every statement of the specification held by something?

One small change at a time is made to the code of `reference/`, in memory, and what holds the reference in place is run
until something fails: golden traces, what real Flink was seen to do, laws and properties, the independent engines of
the museum, and last the tests of `tests/reference`. A change that nothing notices survives: either it changes nothing
(then `equivalent.toml` says why), or a test is missing.

`python -m tests.mutation` prints the score and the survivors. No file of the tree is changed.
"""
