"""How tests call compiled steps one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import config

from banditboost.boosting.state import SETTINGS
from banditboost.kernels.layout import GREEDY, PROBABILITY, SHOWN, VOTES
from banditboost.kernels.rng import round_key

INTERPRETED = bool(config.DISABLE_JIT)


def settings_of(k: int, **fields: Any) -> np.ndarray:
    """The settings of a booster of k labels."""
    settings = np.zeros(1, SETTINGS)
    defaults = {"estimator": 4, "clip": 100.0, "importance_scale": 1.0, "tie_tolerance": 1e-9}
    for name, value in {**defaults, "n_labels": k, **fields}.items():
        settings[name] = value
    return settings


def memo_of(yhat: int, ytilde: int, p: float) -> np.ndarray:
    """The memo of a decision, as far as an estimate reads it."""
    memo = np.zeros(VOTES)
    memo[GREEDY], memo[SHOWN], memo[PROBABILITY] = yhat, ytilde, p
    return memo


def key_of(seed: int, round_: int) -> Any:
    """The key of a round, in the type that compiled code wants it in."""
    key = round_key(seed, round_)
    return key if INTERPRETED else np.uint64(key)


def label_probability(label: int, yhat: int, rho: float, k: int) -> float:
    """Equation (2)."""
    return 1.0 - rho if label == yhat else rho / (k - 1)
