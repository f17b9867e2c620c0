"""Every kind of model by name: where `load`, experiments and the command line find them.

A new booster adds one line here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from banditboost.models.model import Model

# By name: the module. In the order in which tables show them.
BOOSTERS = {
    "GapBoost": "boosting.gap.booster",
    "OptBandit": "boosting.optimal",
    "AdaBandit": "boosting.adaptive",
    "BinBandit": "boosting.binary",
    "MixBandit": "boosting.mixture.booster",
    "OptFull": "boosting.full_information",
    "AdaFull": "boosting.full_information",
    "MixFull": "boosting.mixture.booster",
}
# Boosters that are made without labels: each decision is among options of its own.
OFFERING = {"OptionBoost": "boosting.gap.options.booster"}
# The strongest first.
BASELINES = {
    "EpsilonGreedyForest": "baselines.trees",
    "EpsilonGreedyTree": "baselines.trees",
    "DiagonalSOBA": "baselines.soba",
    "Banditron": "baselines.banditron",
    "Majority": "baselines.majority",
    "Random": "baselines.chance",
}
MODELS = {**BOOSTERS, **BASELINES}  # with labels
ALL_MODELS = {**MODELS, **OFFERING}


def model_class(name: str) -> type[Model]:
    """The class of this name, imported when it is first asked for; KeyError if there is none."""
    kind: Any = getattr(importlib.import_module(f"banditboost.{ALL_MODELS[name]}"), name)
    return kind  # type: ignore[no-any-return]
