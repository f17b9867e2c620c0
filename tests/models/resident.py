"""How much resident memory a model takes that has met its ceiling: printed by a process of its own.

python -m tests.models.resident KIND MEBIBYTES ROUNDS
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

import numpy as np

import banditboost
from banditboost import HoeffdingTree, play

MEBIBYTE = 1 << 20
_COLUMNS = 30


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(kind: str, ceiling: int, n_rounds: int) -> dict[str, int]:
    """Rows without a pattern keep trees splitting."""
    luck = np.random.default_rng(1)
    X, y = luck.normal(size=(n_rounds, _COLUMNS)), luck.integers(0, 8, n_rounds)
    tree = HoeffdingTree(grace_period=5.0, split_confidence=0.9, tie_threshold=0.9)
    make = getattr(banditboost, kind)

    def model(max_memory: int) -> Any:
        return make(range(8), n_learners=10, weak_learner=tree, max_memory=max_memory, seed=1)

    play(model(MEBIBYTE), X[:300], y[:300])  # compiles
    before = peak()
    full = model(ceiling)
    play(full, X, y)  # which copies the rows
    return {"grown": peak() - before, "rows": X.nbytes + 4 * y.nbytes, "told": full.memory_usage}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]) * MEBIBYTE, int(sys.argv[3]))))
