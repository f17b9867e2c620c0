"""A data set or a table of the user in memory, and the stream that is made of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from banditboost.datasets.describe import Fact, lines
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.frequent import Frequent
from banditboost.datasets.rewards import RewardColumns
from banditboost.rows.bags import Bag, WordedRows
from banditboost.rows.plain import coded
from banditboost.rows.schema import Schema
from banditboost.rows.sharing import SHARED
from banditboost.validation import check_count

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Kind = Literal["numeric", "nominal"]
NUMERIC: Final[Kind] = "numeric"
NOMINAL: Final[Kind] = "nominal"
_LARGEST_SEED = 2**128
Values = tuple[tuple[str, ...] | None, ...]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows and labels with what is needed to read them. Shared by `Table`, `Dataset` and `Stream`."""

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
    dates: tuple[str, ...] = field(default=(), kw_only=True)
    """Columns of dates, each of which is seven of the features."""
    bags: tuple[Bag, ...] = field(default=(), kw_only=True, repr=False)
    """Columns of words, each with the numbers of the words of every row; they are none of the features."""
    rewards: FloatArray | None = field(default=None, kw_only=True, repr=False)
    """float64[rows, labels]: what each label earns, if the table tells that; then `y` is empty."""
    reward_columns: RewardColumns | None = field(default=None, kw_only=True, repr=False)
    """Where the rewards stand, and how small and large they get."""

    @property
    def words(self) -> tuple[str, ...]:
        """Names of the columns of words."""
        return tuple(bag.name for bag in self.bags)

    def without_words(self) -> Self:
        """The same for a model that cannot read words: no column of words is left."""
        return replace(self, bags=())

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def mean_rewards(self) -> dict[str, float]:
        """What each label would earn in the mean, in label order; NaN if the table has right labels."""
        nothing = np.full(len(self.labels), np.nan)
        means = nothing if self.rewards is None else self.rewards.mean(axis=0)
        return dict(zip(self.labels, means.tolist(), strict=True))

    @property
    def class_counts(self) -> dict[str, int]:
        """How many rows each label has, in label order; none, if the table has rewards."""
        counts = np.bincount(self.y, minlength=len(self.labels))
        return dict(zip(self.labels, counts.tolist(), strict=True))

    def schema(self) -> Schema:
        """The features as a model wants them declared; a fresh one for each model."""
        return schema_of(self.features, self.kinds, self.values, self.dates, self.words)

    def describe(self) -> str:
        """A line for each feature: its kind, its range or values, how many are missing."""
        facts = [_fact(*column) for column in zip(self.features, self.values, self.X.T, strict=True)]
        return lines([*facts, *map(_fact_of_words, self.bags)])

    def to_play(self) -> dict[str, Any]:
        """The arguments of `play`: `X` with `y`, or `X` with `rewards`."""
        told = {"y": self.y} if self.rewards is None else {"rewards": self.rewards}
        return {"X": rows_to_play(self.X, self.bags), **told}

    def records(self) -> Iterator[tuple[dict[str, Any], Any]]:
        """Each row as a dict with its label's name, or with what each label earns: numbers and value names,
        missing values left out.

        Of a word, and of a value without a place of its own, only the number is known, as ("#", number).
        """
        worded = WordedRows(self.X, self.bags) if self.bags else None
        for t, row in enumerate(self.X):
            words = {} if worded is None else worded.words(t)
            yield {**self._record(row.tolist()), **words}, self._told(t)

    def _told(self, t: int) -> Any:
        """The right label of a row, or what each label earns in it."""
        if self.rewards is None:
            return self.labels[self.y[t]]
        return dict(zip(self.labels, self.rewards[t].tolist(), strict=True))

    def _record(self, row: list[float]) -> dict[str, Any]:
        columns = zip(self.features, self.values, row, strict=True)
        return {
            name: cell if names is None else _name_of(names, int(cell))
            for name, names, cell in columns
            if cell == cell
        }


@dataclass(frozen=True, eq=False)
class Stream(_Rows):
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
        return len(self.X)

    def __iter__(self) -> Iterator[Any]:
        if self.rewards is not None:
            raise DatasetError(
                f"{self.name} has rewards and no right labels: play it with play(model, **stream.to_play())"
            )
        yield rows_to_play(self.X, self.bags)
        yield self.y


@dataclass(frozen=True, eq=False)
class Table(_Rows):
    """A table of the user, in memory. Made by `read`.

    >>> import pandas as pd
    >>> from banditboost import datasets
    >>> table = datasets.read(pd.DataFrame({"hour": [9, 21], "clicked": ["news", "film"]}), label="clicked")
    >>> table.stream(repeat=3).rounds
    6
    """

    def stream(self, repeat: int = 1, seed: int | None = None, rounds: int | None = None) -> Stream:
        """The rows `repeat` times, cut to `rounds`.

        They come in the order of the source, or with a `seed` shuffled once as a whole.
        """
        return _stream(self, repeat, seed, rounds)


@dataclass(frozen=True, eq=False)
class Dataset(_Rows):
    """A data set: rows in the order of its source, labels as positions in `labels`.

    >>> from banditboost import datasets
    >>> car = datasets.load("car")
    >>> car.class_counts
    {'unacc': 1210, 'acc': 384, 'good': 69, 'vgood': 65}
    >>> car.n_rows
    1728
    """

    licence: str
    source: str = field(repr=False)

    def stream(self, repeat: int = 1, seed: int = 0, rounds: int | None = None) -> Stream:
        """The rows `repeat` times, shuffled once as a whole (so copies of a row interleave), cut to `rounds`.

        The order depends on `seed`, `repeat` and the number of rows alone: NumPy's PCG64 permutes all
        positions, so a cut stream is the beginning of the whole one.
        """
        return _stream(self, repeat, seed, rounds)


def _stream(table: _Rows, repeat: int, seed: int | None, rounds: int | None) -> Stream:
    rows = _play_order(table.n_rows, repeat, seed, rounds)
    return Stream(
        table.name,
        table.features,
        table.kinds,
        table.values,
        table.X[rows],
        table.y if table.rewards is not None else table.y[rows],
        table.labels,
        rows,
        dates=table.dates,
        bags=tuple(bag.taken(rows) for bag in table.bags),
        rewards=None if table.rewards is None else table.rewards[rows],
        reward_columns=table.reward_columns,
    )


def rows_to_play(X: FloatArray, bags: tuple[Bag, ...]) -> Any:
    """Rows as `play` takes them: a matrix, if there are no words; a dict without a feature for each, if there
    is nothing at all.
    """
    if bags:
        return WordedRows(X, bags)
    return X if X.shape[1] else [{} for _ in range(len(X))]


def _name_of(names: tuple[str, ...], code: int) -> Any:
    return names[code] if code < SHARED else coded(code - SHARED)


def schema_of(
    features: tuple[str, ...],
    kinds: tuple[Kind, ...],
    values: Values,
    dates: tuple[str, ...],
    words: tuple[str, ...] = (),
) -> Schema:
    """Features in this order, which columns of dates are among them, and columns of words."""
    shares = any(isinstance(names, Frequent) for names in values)
    if not dates and not shares and not words:
        return Schema.of(features, kinds, values)
    known = [None if names is None else list(names) for names in values]
    told = {
        "names": list(features),
        "values": known,
        "dates": list(dates),
        "shares": shares,
        "words": list(words),
    }
    return Schema.from_dict({**told, "declared": True, "positions": None})


def _play_order(size: int, repeat: int, seed: int | None, rounds: int | None) -> IntArray:
    total = size * check_count("repeat", repeat, 1)
    if rounds is not None:
        check_count("rounds", rounds, 1, total, hint=f"{size} rows x repeat={repeat}")
    if seed is not None:
        check_count("seed", seed, 0, _LARGEST_SEED)
    order = (
        np.arange(total) if seed is None else np.random.Generator(np.random.PCG64(seed)).permutation(total)
    )
    return (order[:rounds] % size).astype(np.int64)


def _fact(name: str, values: tuple[str, ...] | None, column: FloatArray) -> Fact:
    present = column[~np.isnan(column)]
    low, high = (float(present.min()), float(present.max())) if len(present) else (np.inf, -np.inf)
    return Fact(name, values, low, high, len(column) - len(present))


def _fact_of_words(bag: Bag) -> Fact:
    return Fact(bag.name, None, np.nan, np.nan, int((bag.lengths == 0).sum()), is_words=True)
