"""How much resident memory a model takes that learns words: printed by processes of their own.

python -m tests.models.resident_words FORM MEBIBYTES ROUNDS LABELS [WORDS]

FORM is list, text, sparse or table: rows with a list, rows with a text, a sparse matrix, and the rows of a table
with thirty columns of numbers, which keep trees splitting, besides. WORDS are in each row, of a million. The model is saved, and loaded by
another process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from banditboost import GapBoost, HoeffdingTree, Schema, load, play
from banditboost.datasets.dataset import rows_to_play
from banditboost.rows.bags import Bag
from tests.models.resident import MEBIBYTE, forget_peak, peak, resident

POSSIBLE, PRESENT, COLUMNS = 1_000_000, 50, 30
_COMPILED = 300


def stream(form: str, n_rounds: int, n_words: int) -> Any:
    """Rows without a pattern."""
    luck = np.random.default_rng(1)
    numbers = luck.integers(0, POSSIBLE, (n_rounds, n_words))
    ends = np.arange(0, numbers.size + 1, n_words)
    if form == "sparse":
        from scipy.sparse import csr_matrix

        return csr_matrix((np.ones(numbers.size), numbers.ravel(), ends), shape=(n_rounds, POSSIBLE))
    if form == "table":
        codes = luck.integers(0, 2**32, POSSIBLE)[numbers.ravel()].astype(np.uint32)
        return rows_to_play(luck.normal(size=(n_rounds, COLUMNS)), (Bag("words", ends, codes),))
    named = ([f"w{number}" for number in row] for row in numbers.tolist())
    return [{"words": words if form == "list" else " ".join(words)} for words in named]


def model(form: str, max_memory: int, n_labels: int) -> GapBoost:
    columns = [f"x{i}" for i in range(COLUMNS)] if form == "table" else []
    schema = Schema(numeric=columns, words=["words"]) if form in ("table", "text") else None
    tree = HoeffdingTree(grace_period=5.0, split_confidence=0.9, tie_threshold=0.9)
    return GapBoost(range(n_labels), schema=schema, weak_learner=tree, max_memory=max_memory, seed=1)


def measure(form: str, ceiling: int, n_rounds: int, n_labels: int, n_words: int) -> dict[str, int]:
    """Of playing, and of loading what was played; the stream itself is counted before."""
    X, y = stream(form, n_rounds, n_words), np.random.default_rng(2).integers(0, n_labels, n_rounds)
    play(model(form, 8 * MEBIBYTE, n_labels), X[:_COMPILED], y[:_COMPILED])
    forget_peak()
    before = resident()
    full = model(form, ceiling, n_labels)
    play(full, X, y)
    told = int(full.memory_usage)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bb"
        full.save(path)
        grown = peak() - before
        command = [sys.executable, "-m", "tests.models.resident_words", "load", str(path), form]
        loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {"grown": grown, "told": told, "loaded": int(loaded)}


def measure_load(path: str, form: str) -> int:
    """Of loading a model and playing a few rows."""
    X, y = stream(form, _COMPILED, PRESENT), np.zeros(_COMPILED, np.int64)
    play(model(form, 8 * MEBIBYTE, 2), X, y)
    forget_peak()
    before = resident()
    play(load(path), X, y)
    return peak() - before


if __name__ == "__main__":
    form, *given = sys.argv[1:]
    if form == "load":
        print(measure_load(*given))
    else:
        ceiling, n_rounds, n_labels, n_words = map(int, (*given, PRESENT)[:4])
        print(json.dumps(measure(form, ceiling * MEBIBYTE, n_rounds, n_labels, n_words)))
