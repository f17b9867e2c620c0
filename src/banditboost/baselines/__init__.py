"""Simple learners with the boosters' protocol, so that a comparison shows what boosting adds. docs/baselines.md says what each does.

>>> from banditboost import baselines
>>> model = baselines.Majority(["yes", "no"], seed=1)
>>> model.learn(model.decide({"age": 31}), correct=True)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from banditboost.baselines.banditron import Banditron as Banditron
    from banditboost.baselines.chance import Random as Random
    from banditboost.baselines.majority import Majority as Majority
    from banditboost.baselines.soba import DiagonalSOBA as DiagonalSOBA
    from banditboost.baselines.trees import EpsilonGreedyForest as EpsilonGreedyForest
    from banditboost.baselines.trees import EpsilonGreedyTree as EpsilonGreedyTree

# The strongest first. Imported when first asked for, as in `banditboost` itself.
_HOMES = {
    "EpsilonGreedyForest": "trees",
    "EpsilonGreedyTree": "trees",
    "DiagonalSOBA": "soba",
    "Banditron": "banditron",
    "Majority": "majority",
    "Random": "chance",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'banditboost.baselines' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"banditboost.baselines.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
