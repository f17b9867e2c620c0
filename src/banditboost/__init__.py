"""Learn which of k options to choose when all that ever comes back is "right" or "wrong".

>>> from banditboost import AdaBandit
>>> model = AdaBandit(["sports", "politics", "science"], seed=7)
>>> decision = model.decide({"hour": 21, "device": "phone"})
>>> model.learn(decision, correct=True)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from banditboost._version import __version__
from banditboost.registry import BOOSTERS, OFFERING

if TYPE_CHECKING:
    from banditboost import baselines as baselines
    from banditboost import checks as checks
    from banditboost import datasets as datasets
    from banditboost import io as io
    from banditboost import logs as logs
    from banditboost import plot as plot
    from banditboost import schedules as schedules
    from banditboost import theory as theory
    from banditboost.boosting.adaptive import AdaBandit as AdaBandit
    from banditboost.boosting.binary import BinBandit as BinBandit
    from banditboost.boosting.full_information import AdaFull as AdaFull
    from banditboost.boosting.full_information import OptFull as OptFull
    from banditboost.boosting.gap.booster import GapBoost as GapBoost
    from banditboost.boosting.gap.options.booster import OptionBoost as OptionBoost
    from banditboost.boosting.mixture.booster import MixBandit as MixBandit
    from banditboost.boosting.mixture.booster import MixFull as MixFull
    from banditboost.boosting.optimal import OptBandit as OptBandit
    from banditboost.decision import Decision as Decision
    from banditboost.loading import load as load
    from banditboost.pending import PendingDecisions as PendingDecisions
    from banditboost.rows.schema import Schema as Schema
    from banditboost.simulation.play import play as play
    from banditboost.simulation.result import Result as Result
    from banditboost.weak_learners.cost_sensitive_linear import CostSensitiveLinear as CostSensitiveLinear
    from banditboost.weak_learners.hoeffding import HoeffdingTree as HoeffdingTree

# Where each public name lives. They are imported when first asked for: Numba takes half a second, and many
# uses do not need it.
_HOMES = {
    **BOOSTERS,
    **OFFERING,
    "CostSensitiveLinear": "weak_learners.cost_sensitive_linear",
    "Decision": "decision",
    "HoeffdingTree": "weak_learners.hoeffding",
    "PendingDecisions": "pending",
    "Result": "simulation.result",
    "Schema": "rows.schema",
    "load": "loading",
    "play": "simulation.play",
}
_MODULES = ("baselines", "checks", "datasets", "io", "logs", "plot", "schedules", "theory")

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"banditboost.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"banditboost.{name}")
    else:
        raise AttributeError(f"module 'banditboost' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
