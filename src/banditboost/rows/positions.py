"""Rows without names: which feature each place of an array or list is."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from banditboost.errors import FeatureError
from banditboost.rows.columns import Columns
from banditboost.rows.plain import DATE_PARTS, LARGEST, text_of, too_large
from banditboost.rows.sharing import MOST_OF_SPARSE
from banditboost.text import quoted
from banditboost.types import Array


class Positions(Columns):
    """What a schema knows of the features, for rows with and without names."""

    @property
    def by_position(self) -> bool:
        """Whether the features came from rows without names."""
        return self._positions is not None

    def _refuse_dense(self, length: int) -> None:
        """Refuse a wide row without names where words alone have come, as columns of a sparse matrix are."""
        if length > MOST_OF_SPARSE and self._word_places and not self._columns and not self.declared:
            raise FeatureError(
                f"the row is an array or list of {length} values, but this model has learned words only, as "
                f"the columns of a sparse matrix are that has more than {MOST_OF_SPARSE}; give a sparse "
                "matrix, such as scipy.sparse.csr_matrix(X)"
            )

    def _position_names(self, length: int) -> tuple[Hashable, ...]:
        """What the places of a row are called: as declared, else x0, x1, ..."""
        if length == 0:
            raise FeatureError("the row has no features; give at least one value, or a dict")
        self._refuse_dense(length)
        if self._columns and not self.declared and self._positions is None:
            raise FeatureError(
                "the row has no names, but this model's features came from dict rows; give a dict, or "
                "declare a Schema"
            )
        if (self._dates or self._words) and length == len(self._as_declared()):
            return self._as_declared()
        expected = len(self._columns) if self.declared else self._positions
        if expected is not None and length != expected:
            raise FeatureError(
                f"the row has {length} values where {expected} are expected; give one for each feature of "
                f"{quoted(self)}"
            )
        return self.names if self.declared else tuple(f"x{i}" for i in range(length))

    def _as_declared(self) -> tuple[Hashable, ...]:
        """The names that were given: a date is one of them, not seven."""
        parts = {f"{text_of(day)}.{part}" for day in self._dates for part in DATE_PARTS}
        return (*(name for name in self._columns if name not in parts), *self._dates, *self._words)

    def named(self, row: Any) -> Mapping[Any, Any]:
        """A row as a mapping: a dict as it is, a list or tuple by position."""
        if isinstance(row, Mapping):
            return row
        if isinstance(row, (list, tuple)) or (isinstance(row, np.ndarray) and row.ndim == 1):
            return dict(zip(self._position_names(len(row)), row, strict=True))
        if hasattr(row, "items") and not isinstance(row, type):
            with suppress(TypeError, ValueError):
                return dict(row.items())
        raise FeatureError(
            f"the row is {quoted(row)} of type {type(row).__name__}; give a dict of features, "
            "or an array or list in the schema's order"
        )

    def takes_array(self, row: Array) -> bool:
        """Whether an array of numbers can be copied as it is; the first one brings the features.

        If not, it goes value by value.
        """
        if row.ndim != 1 or row.dtype.kind not in "fiub":
            raise FeatureError(
                f"the row has shape {row.shape} and type {row.dtype}; give a one-dimensional array of numbers"
            )
        if row.shape[0] == self._array_width:
            return True
        names = self._position_names(row.shape[0])
        if not len(self):
            for i in np.flatnonzero(np.abs(row.astype(np.float64)) > LARGEST):
                raise too_large(f"x{i}", row[i])
            for name in names:
                self._add(name, "numeric")
            self._positions = len(names)
        if self.names != names or self._word_places:
            return False
        self._array_width = len(names)
        return True

    def padded(self, row: Array) -> Array | None:
        """An array of all declared features, with no word behind them; None if it is anything else."""
        if not (self.declared and self._word_places) or self._position_names(len(row)) != self.names:
            return None
        out = np.full(len(self), np.nan)
        out[self.column_places] = row
        return out

    def bad_position(self, index: int, value: float) -> FeatureError:
        """What is wrong with an array row at one place."""
        if index >= len(self):
            return FeatureError(
                f"the row has a value at place {index + 1} where {len(self)} are expected; give one for each "
                f"feature of {quoted(self)}"
            )
        name = self.places()[index].name
        codes = self._columns[name][1]
        if codes is None:
            return too_large(name, value)
        return FeatureError(
            f"feature {quoted(name)} is nominal: in an array give a code from 0 to {len(codes) - 1}, "
            f"or NaN for missing, not {quoted(value)}"
        )
