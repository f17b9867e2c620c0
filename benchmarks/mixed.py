"""A seeded stream of twenty columns, twelve numbers and eight names, in every form that rows come in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from banditboost.datasets import Stream

N_NUMBERS = 12
N_VALUES = (4, 6, 8, 10, 12, 16, 24, 30)
N_LABELS = 5
LABEL = "label"


def mixed(rounds: int, seed: int = 1) -> Stream:
    """The right label has the largest sum over all columns; how much a number weighs depends on a name."""
    random = np.random.Generator(np.random.PCG64(seed))
    numbers = random.standard_normal((rounds, N_NUMBERS)).round(4)
    codes = np.stack([random.integers(n, size=rounds) for n in N_VALUES], axis=1)
    sums = np.zeros((rounds, N_LABELS))
    for i, n in enumerate(N_VALUES):
        sums += random.standard_normal((n, N_LABELS))[codes[:, i]]
    for i in range(N_NUMBERS):
        name = i % len(N_VALUES)
        weights = random.standard_normal((N_VALUES[name], N_LABELS))
        sums += numbers[:, i, np.newaxis] * weights[codes[:, name]]
    return Stream(
        "mixed",
        (*(f"n{i}" for i in range(N_NUMBERS)), *(f"c{i}" for i in range(len(N_VALUES)))),
        ("numeric",) * N_NUMBERS + ("nominal",) * len(N_VALUES),
        (None,) * N_NUMBERS + tuple(tuple(f"v{code}" for code in range(n)) for n in N_VALUES),
        np.hstack([numbers, codes]),
        sums.argmax(axis=1),
        tuple(f"label {i}" for i in range(N_LABELS)),
        np.arange(rounds),
    )


class Forms:
    """The rows of a stream, in each form made once, outside any clock."""

    def __init__(self, stream: Stream, folder: Path) -> None:
        self.stream = stream
        self._folder = folder

    @property
    def array(self) -> Any:
        return self.stream.X

    @cached_property
    def arrays(self) -> list[Any]:
        return list(self.stream.X)

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        cells = {}
        for name, values, column in zip(
            self.stream.features, self.stream.values, self.stream.X.T, strict=True
        ):
            numbers = column.tolist()
            cells[name] = numbers if values is None else [values[int(code)] for code in numbers]
        return cells

    @cached_property
    def dicts(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]

    @cached_property
    def truths(self) -> list[str]:
        return [self.stream.labels[index] for index in self.stream.y]

    @cached_property
    def pandas(self) -> pd.DataFrame:
        return pd.DataFrame(self.columns)

    @cached_property
    def polars(self) -> pl.DataFrame:
        return pl.DataFrame(self.columns)

    @cached_property
    def pyarrow(self) -> pa.Table:
        return pa.table(self.columns)

    @cached_property
    def labelled(self) -> dict[str, Any]:
        """What `run` reads: frames and files with a column of labels."""
        frame = self.pandas.assign(**{LABEL: self.truths})
        csv, parquet = self._folder / "rows.csv", self._folder / "rows.parquet"
        frame.to_csv(csv, index=False)
        frame.to_parquet(parquet)
        with_labels = self.polars.with_columns(pl.Series(LABEL, self.truths))
        return {"pandas": frame, "polars": with_labels, "CSV": csv, "Parquet": parquet}


TABLES: dict[str, Callable[[Forms], Any]] = {
    "pandas": lambda forms: forms.pandas,
    "polars": lambda forms: forms.polars,
    "pyarrow": lambda forms: forms.pyarrow,
    "list of dicts": lambda forms: forms.dicts,
}
