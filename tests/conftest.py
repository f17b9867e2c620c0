"""Settings of all tests."""

import os

import numpy as np
import pytest
from hypothesis import settings
from numba import config

import banditboost

# For `make test-nojit`, where an example takes longer; tests that say themselves how many they want are not changed by it.
settings.register_profile("interpreted", settings.get_profile("ci"), max_examples=20)

# What the workers of a whole run compile first: about as long each, and together what most tests need.
FIRST_OF_WORKER = {"gw0": ["AdaBandit"], "gw1": ["GapBoost", "OptBandit", "BinBandit"]}
WHOLE_RUN = 1000  # tests; a few of them need not wait for kernels that they do not use


def pytest_collection_finish(session: pytest.Session) -> None:
    """Two workers that meet an empty cache would compile the same kernels at the same time; so each begins with others."""
    if len(session.items) < WHOLE_RUN or config.DISABLE_JIT:
        return
    for name in FIRST_OF_WORKER.get(os.environ.get("PYTEST_XDIST_WORKER", ""), []):
        model = getattr(banditboost, name)([0, 1], n_learners=1, seed=1)
        banditboost.play(model, np.zeros((2, 1)), [0, 1])
        model.learn(model.decide(np.zeros(1)), correct=True)
