"""How long a task will take, roughly.

It is enough to begin with the longest, so that all workers finish at about the same time.
"""

from __future__ import annotations

from typing import Any

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.summary import SUMMARY
from banditboost.datasets.tables.folders import size_of
from banditboost.experiments.protocol import STREAMS
from banditboost.experiments.records import is_number
from banditboost.experiments.task import Source, Task

_UNKNOWN_FEATURES = 10
_BYTES_A_ROW = 50
_OVERHEAD = 10
"""What a tree costs in a round beside its features, in features."""
_ADAPTIVE = {"AdaBandit": 3, "AdaFull": 3, "MixBandit": 5, "MixFull": 5}
"""How much more than others these cost for each tree."""
_LEARNERS = 20


def cost(task: Task) -> float:
    """How long a task takes, in arbitrary units.

    That is rounds x trees x (features + a constant), and three to five times that for adaptive boosters.
    """
    known = task.source.path is None and task.source.name in SUMMARY
    features = SUMMARY[task.source.name].features if known else _UNKNOWN_FEATURES
    given: Any = task.parameters.get("n_learners")
    trees = float(given) if is_number(given) else _LEARNERS
    return rounds_of(task.source) * trees * (_OVERHEAD + features) * _ADAPTIVE.get(task.learner, 1)


def rounds_of(source: Source) -> float:
    """About how many rounds a source has; of a file judged by its size."""
    return source.repeat * _rows(source) if source.rounds is None else source.rounds


def _rows(source: Source) -> float:
    if source.path is None:
        return STREAMS[source.name].rows if source.name in STREAMS else 1
    try:
        return max(1.0, size_of(source.path) / _BYTES_A_ROW)
    except (OSError, DatasetError):  # it may be there on the workers only
        return 1.0
