"""Hypothesis as our tests use it: the same examples each time, nothing kept, no time that a busy machine could miss."""

from hypothesis import HealthCheck, Phase, settings

#: The phase that explains failures is left out: it takes longer than all others.
QUIET = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)
