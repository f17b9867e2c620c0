"""How much resident memory a model takes that has met its ceiling: printed by a process of its own.

python -m tests.models.resident KIND MEBIBYTES ROUNDS [COLUMNS [LABELS]]
"""

from __future__ import annotations

import json
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import banditboost
from banditboost import HoeffdingTree, play

MEBIBYTE = 1 << 20


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def peak() -> int:
    """Of this process alone: `getrusage` also knows what its parent had when it was started."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024


def forget_peak() -> None:
    """What was the peak up to now counts no more, where the system lets a process say so."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def measure(kind: str, ceiling: int, n_rounds: int, n_columns: int = 30, n_labels: int = 8) -> dict[str, int]:
    """Rows without a pattern keep trees splitting; the stream itself is counted before."""
    luck = np.random.default_rng(1)
    X, y = luck.normal(size=(n_rounds, n_columns)), luck.integers(0, n_labels, n_rounds)
    tree = HoeffdingTree(grace_period=5.0, split_confidence=0.9, tie_threshold=0.9)
    make = getattr(banditboost, kind)

    def model(max_memory: int) -> Any:
        return make(range(n_labels), n_learners=10, weak_learner=tree, max_memory=max_memory, seed=1)

    play(model(4 * MEBIBYTE), X[:300], y[:300])  # compiles
    before = resident()
    full = model(ceiling)
    play(full, X, y)
    return {"grown": peak() - before, "told": int(full.memory_usage)}


if __name__ == "__main__":
    kind, ceiling, *sizes = sys.argv[1:]
    print(json.dumps(measure(kind, int(ceiling) * MEBIBYTE, *map(int, sizes))))
