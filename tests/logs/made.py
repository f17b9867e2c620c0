"""A log with everything in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from banditboost.logs import Block, Log
from banditboost.logs.log import as_objects


def made_log(n_rows: int, seed: int = 1) -> Log:
    """Rows of numbers, texts and gaps."""
    luck = np.random.default_rng(seed)
    shown = luck.choice(3, n_rows, p=[0.5, 0.3, 0.2])
    rows: list[dict[str, Any]] = []
    for t in range(n_rows):
        row: dict[str, Any] = {"hour": float(t % 24), "device": ["phone", "TV, big", "ünï: c|d"][t % 3]}
        if t % 4:
            row["gap"] = t / 7
        rows.append(row)
    block = Block(
        rows,
        as_objects([["news", "games", "a b"][i] for i in shown]),
        luck.random(n_rows),
        np.array([0.5, 0.3, 0.2])[shown],
        luck.integers(3, size=n_rows).astype(np.float64),
        as_objects([f"2026-11-{1 + t * 28 // n_rows:02}T10:00:00" for t in range(n_rows)]),
        as_objects([f"e{t}" for t in range(n_rows)]),
    )

    def blocks() -> Iterator[Block]:
        for start in range(0, n_rows, 77):
            part = slice(start, start + 77)
            columns = (block.rows, block.actions, block.rewards, block.probabilities)
            others = (block.positions, block.times, block.ids)
            yield Block(*(cells[part] for cells in (*columns, *others)))  # type: ignore[index,arg-type]

    return Log("made", blocks)


def told(log: Log) -> list[tuple[Any, ...]]:
    """Row by row, all that it tells."""
    rows = []
    for block in log:
        columns = (block.rewards, block.probabilities, block.positions, block.times, block.ids)
        lists = [[None] * len(block) if cells is None else cells.tolist() for cells in columns]
        rows += list(zip(block.rows, block.actions.tolist(), *lists, strict=True))
    return rows
