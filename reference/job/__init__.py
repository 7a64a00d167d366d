"""A whole job: the machines of the other components, put together under an explicit scheduler.

`programs` is what a user writes, `layout` what becomes of it, `states` what a running job remembers, `functions` what
operators do, `channels` how elements cross from one task to the next, `tasks` what a task does with them, and
`scheduler` the component.
"""
