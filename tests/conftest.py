"""Settings of all tests."""

import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings
from numba import config

import banditboost

# For `make test-nojit`, where an example takes longer. It does not change tests that say how many they want.
settings.register_profile("interpreted", settings.get_profile("ci"), max_examples=20)

# What the workers of a whole run compile first: about as long each, and together what most tests need.
FIRST_OF_WORKER = {"gw0": ["AdaBandit"], "gw1": ["GapBoost", "OptBandit", "BinBandit"]}
WHOLE_RUN = 1000  # tests; a few of them need not wait for kernels that they do not use
SAYS_WHAT_TO_INSTALL = "pip install"


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("doctest_ignore_import_errors", False):
        raise pytest.UsageError("--doctest-ignore-import-errors hides what cannot be imported; do without it")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """A module that is left out is an error, unless it says what has to be installed for it."""
    report: pytest.CollectReport = yield  # type: ignore[misc]
    left_out = isinstance(collector, pytest.Module) and report.skipped
    if left_out and SAYS_WHAT_TO_INSTALL not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was left out: {report.longrepr}"
    return report  # type: ignore[return-value]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Two workers with an empty cache would compile the same kernels; so each begins with others."""
    if len(session.items) < WHOLE_RUN or config.DISABLE_JIT:
        return
    for name in FIRST_OF_WORKER.get(os.environ.get("PYTEST_XDIST_WORKER", ""), []):
        model = getattr(banditboost, name)([0, 1], n_learners=1, seed=1)
        banditboost.play(model, np.zeros((2, 1)), [0, 1])
        model.learn(model.decide(np.zeros(1)), correct=True)
