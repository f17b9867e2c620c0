"""A data set in memory, and the stream that is made of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from banditboost.schema import Schema

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Kind = Literal["numeric", "nominal"]
NUMERIC: Final[Kind] = "numeric"
NOMINAL: Final[Kind] = "nominal"
Values = tuple[tuple[str, ...] | None, ...]


@dataclass(frozen=True, eq=False)
class _Table:
    """Rows and labels with what is needed to read them. Shared by `Dataset` and `Stream`."""

    name: str
    features: tuple[str, ...]
    """Column names, in column order."""
    kinds: tuple[Kind, ...]
    """'numeric' or 'nominal', for each column."""
    values: Values = field(repr=False)
    """For each nominal column the value names by code, for each numeric column None."""
    X: FloatArray = field(repr=False)
    """float64[rows, columns]: numbers, codes of nominal values, NaN where a value is missing."""
    y: IntArray = field(repr=False)
    """int64[rows]: positions in `labels`."""
    labels: tuple[str, ...]

    @property
    def class_counts(self) -> dict[str, int]:
        """How many rows each label has, in label order."""
        counts = np.bincount(self.y, minlength=len(self.labels))
        return dict(zip(self.labels, counts.tolist(), strict=True))

    def schema(self) -> Schema:
        """The features as a model wants them declared; a fresh one for each model."""
        return Schema.of(self.features, self.kinds, self.values)

    def records(self) -> Iterator[tuple[dict[str, float | str], str]]:
        """Each row as a dict with its label's name: numbers and value names, missing values left out."""
        for row, label in zip(self.X, self.y.tolist(), strict=True):
            yield self._record(row.tolist()), self.labels[label]

    def _record(self, row: list[float]) -> dict[str, float | str]:
        columns = zip(self.features, self.values, row, strict=True)
        return {name: cell if names is None else names[int(cell)] for name, names, cell in columns if cell == cell}


@dataclass(frozen=True, eq=False)
class Stream(_Table):
    """Rounds in the order in which they are played. Unpacks to the two arrays that `play` takes:

    >>> from banditboost import datasets
    >>> X, y = datasets.load("balance").stream(repeat=10, seed=4)
    >>> len(y)
    6250
    """

    rows: IntArray = field(repr=False)
    """int64[rounds]: which row of the data set each round shows."""

    @property
    def rounds(self) -> int:
        return len(self.y)

    def __iter__(self) -> Iterator[Any]:
        yield self.X
        yield self.y


@dataclass(frozen=True, eq=False)
class Dataset(_Table):
    """A data set: rows in the order of its source, labels as positions in `labels`.

    >>> from banditboost import datasets
    >>> car = datasets.load("car")
    >>> car.class_counts
    {'unacc': 1210, 'acc': 384, 'good': 69, 'vgood': 65}
    """

    licence: str
    source: str = field(repr=False)

    def stream(self, repeat: int = 1, seed: int = 0, rounds: int | None = None) -> Stream:
        """The rows `repeat` times, shuffled once as a whole (so copies of a row interleave), cut to `rounds`.

        The order depends on `seed`, `repeat` and the number of rows alone: NumPy's PCG64 permutes all positions,
        so a cut stream is the beginning of the whole one.
        """
        rows = _play_order(len(self.y), repeat, seed, rounds)
        return Stream(self.name, self.features, self.kinds, self.values, self.X[rows], self.y[rows], self.labels, rows)


def _play_order(size: int, repeat: int, seed: int, rounds: int | None) -> IntArray:
    if repeat < 1:
        raise ValueError(f"repeat must be at least 1, not {repeat}")
    total = size * repeat
    if rounds is not None and not 1 <= rounds <= total:
        raise ValueError(f"rounds must be between 1 and {total} ({size} rows x repeat={repeat}), not {rounds}")
    shuffled = np.random.Generator(np.random.PCG64(seed)).permutation(total)
    return (shuffled[:rounds] % size).astype(np.int64)
