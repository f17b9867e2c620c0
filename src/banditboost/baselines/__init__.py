"""Simple learners with the boosters' protocol, so that a comparison shows what boosting adds.

docs/baselines.md says what each does.

>>> from banditboost import baselines
>>> model = baselines.Majority(["yes", "no"], seed=1)
>>> model.learn(model.decide({"age": 31}), correct=True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from banditboost.registry import BASELINES, model_class

if TYPE_CHECKING:
    from banditboost.baselines.banditron import Banditron as Banditron
    from banditboost.baselines.chance import Random as Random
    from banditboost.baselines.majority import Majority as Majority
    from banditboost.baselines.soba import DiagonalSOBA as DiagonalSOBA
    from banditboost.baselines.trees import EpsilonGreedyForest as EpsilonGreedyForest
    from banditboost.baselines.trees import EpsilonGreedyTree as EpsilonGreedyTree

__all__ = list(BASELINES)


def __getattr__(name: str) -> Any:
    if name not in BASELINES:
        raise AttributeError(f"module 'banditboost.baselines' has no attribute {name!r}")
    value = model_class(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
