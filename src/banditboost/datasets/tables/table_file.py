"""A table that stays in its file, and is gone through in batches."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from banditboost.datasets.dataset import FloatArray, IntArray, Kind, Values, rows_to_play, schema_of
from banditboost.datasets.describe import lines
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.rewards import RewardColumns
from banditboost.datasets.tables.cells import Batch, Request, Source
from banditboost.datasets.tables.columns import Column, DateColumn, PlainColumn
from banditboost.datasets.tables.reward_columns import encode
from banditboost.datasets.tables.word_columns import WordColumn
from banditboost.rows.bags import Bag, joined
from banditboost.rows.schema import Schema
from banditboost.rows.sharing import MOST_WORDS
from banditboost.validation import check_count


class TableFile:
    """A table that stays in its file. Made by `open_file`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from banditboost import datasets
    >>> path = Path(tempfile.mkdtemp()) / "visits.csv"
    >>> _ = path.write_text("hour,clicked\\n9,news\\n21,film\\n22,film\\n")
    >>> sum(len(y) for X, y in datasets.open_file(path, label="clicked").batches(2))
    3
    """

    def __init__(
        self,
        source: Source,
        request: Request,
        columns: list[Column],
        truth: PlainColumn | RewardColumns,
        n_rows: int,
    ) -> None:
        self.name = Path(source.name).name
        self.n_rows = n_rows
        self._words = [column for column in columns if isinstance(column, WordColumn)]
        self._columns = [column for column in columns if not isinstance(column, WordColumn)]
        self._source, self._request, self._truth = source, request, truth

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(feature for column in self._columns for feature in column.features)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(kind for column in self._columns for kind in column.kinds)

    @property
    def values(self) -> Values:
        """For each nominal feature the value names by code, for each numeric one None."""
        return tuple(values for column in self._columns for values in column.all_values)

    @property
    def dates(self) -> tuple[str, ...]:
        """Columns of dates, each of which is seven of the features."""
        return tuple(column.name for column in self._columns if isinstance(column, DateColumn))

    @property
    def words(self) -> tuple[str, ...]:
        """Columns of words, which are none of the features."""
        return tuple(column.name for column in self._words)

    def without_words(self) -> "TableFile":
        """The same for a model that cannot read words: no column of words is left."""
        ignored = self._request.ignored.union(self.words)
        request, columns = self._request._replace(ignored=ignored), list[Column](self._columns)
        return TableFile(self._source, request, columns, self._truth, self.n_rows)

    @property
    def labels(self) -> tuple[str, ...]:
        return self._truth.labels if isinstance(self._truth, RewardColumns) else self._truth.values or ()

    @property
    def reward_columns(self) -> RewardColumns | None:
        """What is known of the columns of rewards; None if there is a label."""
        return self._truth if isinstance(self._truth, RewardColumns) else None

    def schema(self) -> Schema:
        """The features as a model wants them declared; a fresh one for each model."""
        return schema_of(self.features, self.kinds, self.values, self.dates, self.words)

    def describe(self) -> str:
        """What was found: a line for each feature."""
        facts = [fact for column in self._columns for fact in column.facts()]
        return lines([*facts, *(column.fact for column in self._words)])

    def batches(self, size: int = 20_000) -> Iterator[tuple[Any, Any]]:
        """Blocks of `size` rows, X and y (or rewards) as `play` takes them, in the order of the file.

        The last block may be shorter.
        """
        check_count("size", size, 1)
        X, y = np.empty((0, len(self.features))), self._truths(0)
        bags = tuple(column.empty(0) for column in self._words)
        for rows, more, labels in self._coded():
            X, y = np.concatenate([X, rows]), np.concatenate([y, labels])
            bags = together([bags, more])
            whole = len(y) // size * size
            for start in range(0, whole, size):
                stop = start + size
                yield rows_to_play(X[start:stop], _part(bags, start, stop)), y[start:stop]
            X, y, bags = X[whole:], y[whole:], _part(bags, whole, len(y))
        if len(y):
            yield rows_to_play(X, bags), y

    def _truths(self, n_rows: int) -> Any:
        """Room for the right labels, or the rewards, of so many rows."""
        graded = isinstance(self._truth, RewardColumns)
        return np.empty((n_rows, len(self.labels))) if graded else np.empty(n_rows, np.int64)

    def _coded(self) -> Iterator[tuple[FloatArray, tuple[Bag, ...], Any]]:
        n_rows = 0
        for batch in self._source.batches(self._request):
            n_rows += batch.n_rows
            if n_rows > self.n_rows:
                break
            yield self._coded_rows(batch), self._coded_words(batch), self._coded_labels(batch)
        if n_rows != self.n_rows:
            raise self._changed(f"another number of rows than the {self.n_rows} of before")

    def _coded_rows(self, batch: Batch) -> FloatArray:
        parts = [self._encoded(column, batch) for column in self._columns]
        return np.hstack([np.empty((batch.n_rows, 0)), *parts])

    def _coded_words(self, batch: Batch) -> tuple[Bag, ...]:
        bags = tuple(self._bag(column, batch) for column in self._words)
        most = max(sum((bag.lengths for bag in bags), np.zeros(batch.n_rows, np.int64)), default=0)
        if most > MOST_WORDS:
            raise DatasetError(
                f"{self._source.name}: a row has {most:,} words in {', '.join(map(repr, self.words))}, and "
                f"may have {MOST_WORDS:,}: leave one of them out with ignore=[{self.words[-1]!r}]"
            )
        return bags

    def _bag(self, column: WordColumn, batch: Batch) -> Bag:
        if column.name not in batch.columns:
            return column.empty(batch.n_rows)
        try:
            return column.encode(batch.columns[column.name])
        except KeyError as error:
            raise self._changed(f"something new in column {column.name!r}: {error}") from None

    def _encoded(self, column: PlainColumn | DateColumn, batch: Batch) -> FloatArray:
        if column.name not in batch.columns:
            return np.full((batch.n_rows, len(column.features)), np.nan)
        try:
            return column.encode(batch.columns[column.name])
        except KeyError as error:
            raise self._changed(f"something new in column {column.name!r}: {error}") from None

    def _coded_labels(self, batch: Batch) -> FloatArray | IntArray:
        if isinstance(self._truth, RewardColumns):
            try:
                return encode(self._truth, batch)
            except KeyError as error:
                raise self._changed(str(error.args[0])) from None
        codes = self._encoded(self._truth, batch)[:, 0]
        if np.isnan(codes).any():
            raise self._changed("a row without a label")
        return codes.astype(np.int64)

    def _changed(self, how: str) -> DatasetError:
        return DatasetError(
            f"{self._source.name} has changed since it was opened, it has {how}: "
            "let no one write to it meanwhile"
        )


def together(parts: Sequence[Sequence[Bag]]) -> tuple[Bag, ...]:
    """The words of each column, from all parts of a table."""
    return tuple(map(joined, zip(*parts, strict=True)))


def _part(bags: Sequence[Bag], start: int, stop: int) -> tuple[Bag, ...]:
    return tuple(bag.part(start, stop) for bag in bags)
