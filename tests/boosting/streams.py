"""Streams to test on: a few coded features of both kinds, some values missing, labels that depend on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from banditboost import Schema

KINDS = {
    "numeric": ["numeric"] * 4,
    "nominal": ["nominal"] * 4,
    "mixed": ["numeric", "nominal", "numeric", "nominal"],
}
VALUES = ("red", "green", "blue")
_MISSING = 0.03


class Stream(NamedTuple):
    kinds: list[str]
    X: np.ndarray  # coded rows, NaN where missing
    y: np.ndarray  # indices of the right labels

    @property
    def names(self) -> list[str]:
        return [f"f{i}" for i in range(len(self.kinds))]

    @property
    def n_values(self) -> list[int]:
        return [len(VALUES) if kind == "nominal" else 0 for kind in self.kinds]

    def schema(self) -> Schema:
        """A schema of its own for each model: nominal values may join it."""
        return Schema.of(
            self.names, self.kinds, [VALUES if kind == "nominal" else None for kind in self.kinds]
        )

    def dicts(self) -> list[dict[str, Any]]:
        """The same rows as people have them."""
        return [self._dict(row) for row in self.X.tolist()]

    def _dict(self, row: list[float]) -> dict[str, Any]:
        named = zip(self.names, self.kinds, row, strict=True)
        return {
            name: None if value != value else value if kind == "numeric" else VALUES[int(value)]
            for name, kind, value in named
        }


def make_stream(kind: str, k: int, n_rounds: int, seed: int = 3) -> Stream:
    rng = np.random.default_rng([seed, k, n_rounds])
    kinds = KINDS[kind]
    columns = [
        rng.normal(size=n_rounds).round(2) if kind == "numeric" else rng.integers(0, len(VALUES), n_rounds)
        for kind in kinds
    ]
    X = np.column_stack(columns).astype(np.float64)
    X[rng.random(X.shape) < _MISSING] = np.nan
    return Stream(kinds, X, _labels(X, k))


def _labels(X: np.ndarray, k: int) -> np.ndarray:
    """The range of a linear score, cut into k parts."""
    score = np.nansum(X * [1.0, 2.0, -1.0, 0.5], axis=1)
    share = (score - score.min()) / (np.ptp(score) + 1e-9)
    return (share * k).astype(np.int64)


def growing_rows(stream: Stream) -> list[dict[str, Any]]:
    """Of a mixed stream: two features join after a quarter of it, the first one vanishes after half, and
    values go on joining.
    """
    rows = stream.dicts()
    for t, row in enumerate(rows):
        row["f1"] = row["f1"] and f"{row['f1']}-{t * 12 // len(rows)}"
        if t >= len(rows) // 4:
            row["late"] = ("yes", "no")[t % 2]
            row["later"] = float(t % 7)
        if t >= len(rows) // 2:
            del row["f0"]
    return rows
