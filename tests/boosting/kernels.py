"""How tests call compiled steps one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import config

from banditboost.compiled.rng import round_key
from banditboost.memo import GREEDY, PROBABILITY, SHOWN, VOTES
from banditboost.models.settings import COUNTS, SETTINGS, new_record

INTERPRETED = bool(config.DISABLE_JIT)


def settings_of(k: int, **fields: Any) -> Any:
    """The settings of a booster of k labels."""
    settings = new_record(SETTINGS)
    defaults = {"estimator": 4, "largest_weight": 100.0, "importance_scale": 1.0, "tie_tolerance": 1e-9}
    for name, value in {**defaults, "n_labels": k, **fields}.items():
        settings[name] = value
    return settings


def counts_of(**fields: Any) -> Any:
    """What a model has counted."""
    counts = new_record(COUNTS)
    for name, value in fields.items():
        counts[name] = value
    return counts


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
