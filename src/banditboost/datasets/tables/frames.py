"""Frames of pandas, polars and pyarrow, all through narwhals. What their types say is believed."""

from collections.abc import Callable, Iterator
from typing import Any

import narwhals as nw

from banditboost.datasets.tables.cells import (
    Batch,
    Cells,
    Odd,
    Request,
    Words,
    as_words,
    durations,
    from_dates,
    from_objects,
)
from banditboost.datasets.tables.nested import has_objects, with_column, with_objects
from banditboost.rows.by_columns import distinct, floats_of
from banditboost.rows.plain import is_missing

_ROWS_A_BATCH = 50_000


class Frame:
    """A frame in memory."""

    name = "the frame"

    def __init__(self, frame: "nw.DataFrame[Any]") -> None:
        self._frame = frame

    def column_names(self) -> list[str] | None:
        nested = any(_is_nested(self._frame[name]) for name in self._frame.columns)
        return None if nested else list(self._frame.columns)

    def batches(self, request: Request) -> Iterator[Batch]:
        for start in range(0, len(self._frame), _ROWS_A_BATCH):
            yield frame_batch(self._frame[start : start + _ROWS_A_BATCH], request)


def frame_batch(frame: "nw.DataFrame[Any]", request: Request) -> Batch:
    """Some rows of a frame; structs and dicts in it are columns of their own."""
    batch = Batch(len(frame), {})
    for name in (name for name in frame.columns if name not in request.ignored):
        series = frame[name]
        if name in request.whole or _is_nested(series):
            batch = with_objects(batch, name, series.to_list(), request)
        else:
            batch = with_column(batch, name, _cells(series, name, request))
    return batch


def _is_nested(series: "nw.Series[Any]") -> bool:
    """Whether cells have columns of their own: structs, or dicts in pandas."""
    return series.dtype == nw.Struct or (series.dtype == nw.Object and has_objects(series.to_list()))


def _cells(series: "nw.Series[Any]", name: str, request: Request) -> Cells:
    dtype = series.dtype
    if dtype == nw.Duration:
        return _durations(series, name, request)
    if dtype.is_temporal():
        return _dates(series, name)
    if dtype.is_numeric() and not request.as_words(name):
        return floats_of(series)
    if dtype in (nw.String, nw.Categorical, nw.Enum):  # the categories of pandas and pyarrow may be numbers
        return _words(series, request.reader(name))
    return from_objects(series.to_list(), name, request)


def _words(series: "nw.Series[Any]", reader: Callable[[str], float]) -> Words:
    values, places = distinct(series)
    found = as_words(
        [None if is_missing(value) else str(value) for value in [*values, None]], reader, typed=True
    )
    return found._replace(codes=found.codes[places])


def _durations(series: "nw.Series[Any]", name: str, request: Request) -> Cells:
    try:
        return from_objects(series.to_list(), name, request)
    except (OverflowError, ValueError):  # parts of a microsecond
        return durations(name, len(series))


def _dates(series: "nw.Series[Any]", name: str) -> Cells:
    try:
        return from_dates(series.to_list())
    except (OverflowError, ValueError, KeyError):  # a year beyond 9999, parts of a microsecond, an odd zone
        return Odd(
            len(series),
            f"holds dates that Python has no type for ({series.dtype})",
            "write them in microseconds, of the years 1 to 9999, or leave the column out with "
            f"ignore=[{name!r}]",
        )
