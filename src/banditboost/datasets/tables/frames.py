"""Frames of pandas, polars and pyarrow, all through narwhals. What their types say is believed."""

from collections.abc import Iterator
from typing import Any

import narwhals as nw

from banditboost.datasets.tables.cells import (
    Batch,
    Cells,
    Request,
    Words,
    as_words,
    dates,
    from_objects,
    no_number,
)
from banditboost.rows.by_columns import distinct, floats_of
from banditboost.rows.plain import is_missing

_ROWS_A_BATCH = 50_000


class Frame:
    """A frame in memory."""

    name = "the frame"

    def __init__(self, frame: "nw.DataFrame[Any]") -> None:
        self._frame = frame

    def column_names(self) -> list[str]:
        return list(self._frame.columns)

    def batches(self, request: Request) -> Iterator[Batch]:
        for start in range(0, len(self._frame), _ROWS_A_BATCH):
            yield frame_batch(self._frame[start : start + _ROWS_A_BATCH], request)


def frame_batch(frame: "nw.DataFrame[Any]", request: Request) -> Batch:
    wanted = [name for name in frame.columns if name not in request.ignored]
    return Batch(len(frame), {name: _cells(frame[name], name, name in request.words) for name in wanted})


def _cells(series: "nw.Series[Any]", name: str, words: bool) -> Cells:
    dtype = series.dtype
    if dtype.is_temporal():
        raise dates(name, dtype)
    if dtype.is_numeric() and not words:
        return floats_of(series)
    if dtype in (nw.String, nw.Categorical, nw.Enum):  # the categories of pandas and pyarrow may be numbers
        return _words(series)
    return from_objects(series.to_list(), name, words)


def _words(series: "nw.Series[Any]") -> Words:
    values, places = distinct(series)
    found = as_words(
        [None if is_missing(value) else str(value) for value in [*values, None]], no_number, typed=True
    )
    return found._replace(codes=found.codes[places])
