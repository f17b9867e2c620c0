"""Kernels that stay intermediate code give what kernels give that Numba compiles one by one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

from banditboost.compiled import linking

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

PLAIN = """
from numba.core import compiler
from banditboost.compiled import linking
linking.AVAILABLE = False
linking.INNER = linking.LOOP = linking.ENTRY = compiler.Compiler
"""
PLAY = """
import hashlib
import numpy as np
from banditboost import baselines, play

luck = np.random.default_rng(1)
X = luck.normal(size=(300, 3))
y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
model = baselines.EpsilonGreedyTree([0, 1, 2], seed=1)
result = play(model, X, y)
digest = hashlib.sha256(result.shown.tobytes())
for row in X[:20]:
    decision = model.decide(row)
    model.learn(decision, True)
    digest.update(decision._memo.tobytes())
print(result.accuracy, digest.hexdigest())
"""


def run(script: str, cache: Path) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_numba_without_the_names_it_rests_on_gives_the_same(tmp_path: Path) -> None:
    """Where Numba lacks one of the names that linking rests on, kernels are compiled in its own way."""
    assert run(PLAIN + PLAY, tmp_path / "plain") == run(PLAY, tmp_path / "linked")


def test_this_numba_has_the_names_it_rests_on() -> None:
    """Else everything still works, and takes three times as long to compile: somebody should know."""
    assert linking.AVAILABLE


# Before 0.63 Numba's libraries do not have it; what newer ones do with it elsewhere is none of ours.
OLD = """
from banditboost.compiled import linking
finalize = linking._EntryLibrary.finalize

def without_reload_init(library):
    kept = library.__dict__.pop("_reload_init", set())
    finalize(library)
    library._reload_init = kept

linking._EntryLibrary.finalize = without_reload_init
"""


def test_a_numba_of_before_0_63_links_as_well(tmp_path: Path) -> None:
    assert run(OLD + PLAY, tmp_path / "old") == run(PLAY, tmp_path / "linked")
