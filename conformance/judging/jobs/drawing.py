"""Jobs for an engine that runs them by itself: programs of every shape, without a schedule.

Barriers are left out of the scripts: a real engine decides itself when a checkpoint begins.
"""

from random import Random

import attrs

from tidegate.conformance.engines.flink.jobs.cluster import Settings
from tidegate.conformance.judging.jobs.reading import is_readable
from tidegate.properties.cases.job.draw import draw_program
from tidegate.reference.job.programs import Barrier, Config, Operator, ScriptItem
from tidegate.reference.watermarks.valve import SEMANTICS

#: Beyond 4 KiB a record spans buffers, beyond 32 KiB it spans many.
PADDINGS = (0, 0, 100, 5_000, 40_000)
LENGTHS = (1, 3, 8, 30)


@attrs.frozen
class JobCase:
    name: str
    config: Config
    settings: Settings


def draw_job(seed: int, index: int) -> JobCase:
    """The same seed and index give the same job."""
    random = Random(f"job/{seed}/{index}")
    while True:
        config = without_barriers(draw_program(random, LENGTHS))
        if is_readable(config):
            break
    settings = Settings(
        padding=random.choice(PADDINGS),
        slow_micros=random.choice((0, 0, 0, 200)),
        buffer_timeout=random.choice((0, 1, 100)),
        checkpoint_interval=random.choice((0,) * 9 + (10,)),
    )
    return JobCase(f"job-{seed}-{index}", config, settings)


def without_barriers(config: Config) -> Config:
    operators = tuple(with_scripts(one, tuple(map(drop_barriers, one.scripts))) for one in config.operators)
    return attrs.evolve(config, operators=operators, wire=None, semantics=SEMANTICS[0])


def drop_barriers(script: tuple[ScriptItem, ...]) -> tuple[ScriptItem, ...]:
    return tuple(item for item in script if not isinstance(item, Barrier))


def with_scripts(operator: Operator, scripts: tuple[tuple[ScriptItem, ...], ...]) -> Operator:
    return attrs.evolve(operator, scripts=scripts)
