"""`read` a table into memory, or `open_file` one that is too big for it."""

import difflib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import narwhals as nw
import numpy as np

from banditboost.datasets.dataset import FloatArray, IntArray, Kind, Table, Values, schema_of
from banditboost.datasets.describe import lines
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.cells import Batch, Cells, Place, Request, Source
from banditboost.datasets.tables.columns import (
    DATES,
    Column,
    DateColumn,
    Finding,
    PlainColumn,
    Use,
    settle,
    settle_label,
)
from banditboost.datasets.tables.csv_files import CsvFile, UnclearError
from banditboost.datasets.tables.days import Days
from banditboost.datasets.tables.folders import Parts
from banditboost.datasets.tables.frames import Frame
from banditboost.datasets.tables.numerals import MARKS, reader
from banditboost.datasets.tables.paths import source_of
from banditboost.datasets.tables.text_files import TextFormat, checked_encoding
from banditboost.rows.schema import Schema
from banditboost.text import quoted, visible
from banditboost.validation import check_count

Names = Collection[str]


def read(
    source: str | os.PathLike[str] | Any,
    label: str,
    *,
    numeric: Names = (),
    nominal: Names = (),
    dates: Names = (),
    ignore: Names = (),
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> Table:
    """Read files (CSV, JSON lines, Parquet, Arrow) or a frame (pandas, polars, pyarrow) into memory.

    Args:
        source: a path of a file or a folder, a pattern of files such as "visits/*.csv.gz", or a frame.
        label: the column with the right labels. All others are features.
        numeric: columns whose cells are to be numbers; texts in them count as missing.
        nominal: columns whose cells are to be names, even if they look like numbers.
        dates: columns of dates and times that are written as text; each becomes seven features.
        ignore: columns to leave out.
        encoding: of text files; UTF-8 if not given.
        separator: between the cells of a CSV file; a comma, semicolon, tab or bar is found if not given.
        decimal: the decimal mark of a CSV file, "." or ",". With it amounts are numbers, such as
            "$1,234.50", "1.234,50 €" and "5 %"; also texts in `numeric` columns of other sources.

    >>> import pandas as pd
    >>> from banditboost import datasets
    >>> visits = {"hour": [9, 21, None], "device": ["phone", "tv", "tv"], "clicked": ["news", "film", "film"]}
    >>> table = datasets.read(pd.DataFrame(visits), label="clicked")
    >>> print(table.describe())
    hour    numeric  9 to 21, 1 missing
    device  nominal  2 values: phone, tv
    """
    form = TextFormat(encoding, separator, decimal)
    opened = _opened(source, label, {"numeric": numeric, "nominal": nominal, "dates": dates}, ignore, form)
    X, y = np.empty((opened.n_rows, len(opened.features))), np.empty(opened.n_rows, np.int64)
    done = 0
    for rows, labels in opened._coded():
        X[done : done + len(rows)], y[done : done + len(rows)] = rows, labels
        done += len(rows)
    return Table(
        opened.name, opened.features, opened.kinds, opened.values, X, y, opened.labels, dates=opened.dates
    )


def open_file(
    path: str | os.PathLike[str],
    label: str,
    *,
    numeric: Names = (),
    nominal: Names = (),
    dates: Names = (),
    ignore: Names = (),
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> "TableFile":
    """Open files that need not fit into memory.

    A first pass finds labels, types and values; `batches` goes through them again. The arguments are those of
    `read`.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise DatasetError(f"path is {quoted(path)}: give the path of a file")
    form = TextFormat(encoding, separator, decimal)
    return _opened(path, label, {"numeric": numeric, "nominal": nominal, "dates": dates}, ignore, form)


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
        self, source: Source, request: Request, columns: list[Column], label: PlainColumn, n_rows: int
    ) -> None:
        self.name = Path(source.name).name
        self.n_rows = n_rows
        self._source, self._request, self._columns, self._label = source, request, columns, label

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
    def labels(self) -> tuple[str, ...]:
        return self._label.values or ()

    def schema(self) -> Schema:
        """The features as a model wants them declared; a fresh one for each model."""
        return schema_of(self.features, self.kinds, self.values, self.dates)

    def describe(self) -> str:
        """What was found: a line for each feature."""
        return lines([fact for column in self._columns for fact in column.facts()])

    def batches(self, size: int = 20_000) -> Iterator[tuple[FloatArray, IntArray]]:
        """Blocks of `size` rows, X and y as `play` takes them, in the order of the file.

        The last block may be shorter.
        """
        check_count("size", size, 1)
        X, y = np.empty((0, len(self.features))), np.empty(0, np.int64)
        for rows, labels in self._coded():
            X, y = np.concatenate([X, rows]), np.concatenate([y, labels])
            whole = len(y) // size * size
            for start in range(0, whole, size):
                yield X[start : start + size], y[start : start + size]
            X, y = X[whole:], y[whole:]
        if len(y):
            yield X, y

    def _coded(self) -> Iterator[tuple[FloatArray, IntArray]]:
        n_rows = 0
        for batch in self._source.batches(self._request):
            n_rows += batch.n_rows
            if n_rows > self.n_rows:
                break
            yield self._coded_rows(batch), self._coded_labels(batch)
        if n_rows != self.n_rows:
            raise self._changed(f"another number of rows than the {self.n_rows} of before")

    def _coded_rows(self, batch: Batch) -> FloatArray:
        parts = [self._encoded(column, batch) for column in self._columns]
        return np.hstack([np.empty((batch.n_rows, 0)), *parts])

    def _encoded(self, column: Column, batch: Batch) -> FloatArray:
        if column.name not in batch.columns:
            return np.full((batch.n_rows, len(column.features)), np.nan)
        try:
            return column.encode(batch.columns[column.name])
        except KeyError as error:
            raise self._changed(f"something new in column {column.name!r}: {error}") from None

    def _coded_labels(self, batch: Batch) -> IntArray:
        codes = self._encoded(self._label, batch)[:, 0]
        if np.isnan(codes).any():
            raise self._changed("a row without a label")
        return codes.astype(np.int64)

    def _changed(self, how: str) -> DatasetError:
        return DatasetError(
            f"{self._source.name} has changed since it was opened, it has {how}: "
            "let no one write to it meanwhile"
        )


def _opened(source: Any, label: str, uses: Mapping[Use, Names], ignore: Names, form: TextFormat) -> TableFile:
    declared = _declared(label, uses, ignore)
    form = checked_format(form)
    request = Request(
        words=frozenset({label, *uses["nominal"], *uses["dates"]}),
        ignored=frozenset(ignore),
        numeric=frozenset(uses["numeric"] if form.decimal else ()),
        number_of=reader(form.decimal, ","),
    )
    where = opened_source(source, form)
    try:
        return _scanned(where, request, label, declared)
    except UnclearError:
        return _scanned(without_arrow(where), request, label, declared)


def opened_source(source: Any, form: TextFormat) -> Source:
    """A path or a frame that can be gone through."""
    if isinstance(source, (str, os.PathLike)):
        return source_of(source, form)
    for name in ("encoding", "separator"):
        if getattr(form, name) is not None:
            raise DatasetError(f"{name} is for text files, and a frame is none: leave it out")
    return _frame(source)


def without_arrow(source: Source) -> Source:
    """The same, for Python's own reader to say what is wrong with it."""
    assert isinstance(source, (CsvFile, Parts))
    return source.without_arrow()


def checked_format(form: TextFormat) -> TextFormat:
    """What the user says of text files, or the refusal of it."""
    if form.decimal is not None and not (isinstance(form.decimal, str) and form.decimal in MARKS):
        raise DatasetError(f"decimal is {quoted(form.decimal)}: give '.' or ','")
    separator = form.separator
    if isinstance(separator, str):
        separator = {"tab": "\t", "\\t": "\t"}.get(separator, separator)
    if separator is not None and not _may_separate(separator):
        raise DatasetError(
            f"separator is {quoted(separator)}: give one character, such as ';', or the word 'tab'"
        )
    return TextFormat(checked_encoding(form.encoding), separator, form.decimal)


def _may_separate(separator: object) -> bool:
    return (
        isinstance(separator, str)
        and len(separator) == 1
        and separator.isascii()
        and separator not in '"\r\n\0'
    )


def _frame(source: Any) -> Frame:
    try:
        frame = nw.from_native(source, eager_only=True)
    except TypeError:
        raise DatasetError(
            f"the source is of type {type(source).__name__}: give a path, or a frame of pandas, "
            "polars or pyarrow (a lazy one collected)"
        ) from None
    except nw.exceptions.DuplicateError:
        raise DatasetError("the frame has two columns of one name: give each a name of its own") from None
    for name in frame.columns:
        if not isinstance(name, str):
            raise DatasetError(
                f"the frame has a column {name!r}: give it names that are texts (pandas: "
                "frame.columns.map(str))"
            )
    return Frame(frame)


def _declared(label: str, uses: Mapping[Use, Names], ignore: Names) -> dict[str, Use | None]:
    """What the user says of columns: a use, or None for one to leave out."""
    check_label(label)
    declared: dict[str, Use | None] = {}
    said: list[tuple[str, Names, Use | None]] = [(use, names, use) for use, names in uses.items()]
    for argument, names, use in (*said, ("ignore", ignore, None)):
        if isinstance(names, str):
            raise DatasetError(
                f"{argument} is the text {names!r}: give a list of columns, such as [{names!r}]"
            )
        if not _are_names(names):
            raise DatasetError(f"{argument} is {quoted(names)}: give a list of names of columns")
        for name in names:
            if name in declared or name == label:
                raise DatasetError(
                    f"column {name!r} is in {argument}, and is the label or was named before: "
                    "name each column once"
                )
            declared[name] = use
    return declared


def check_label(label: object) -> None:
    """Refuse what can be no name of a column."""
    if not isinstance(label, str):
        raise DatasetError(f"label is {quoted(label)}: give the name of the column with the right labels")


def _are_names(names: Any) -> bool:
    try:
        return isinstance(names, Collection) and all(isinstance(name, str) for name in names)
    except TypeError:  # an array without dimensions
        return False


def _scanned(source: Source, request: Request, label: str, declared: Mapping[str, Use | None]) -> TableFile:
    """The first pass."""
    names = source.column_names()
    if names is not None:
        check_names(source, names, (label, *declared))
    try:
        dates = [name for name, use in declared.items() if use == DATES]
        findings, n_rows = find_all(
            source, request, names or (), lambda name: Finding(name, days=Days() if name in dates else None)
        )
        if n_rows == 0:
            raise DatasetError("there are no rows")
        if names is None:
            check_names(source, [*findings, *request.ignored], (label, *declared))
        features = [name for name in findings if name != label]
        if not features:
            raise DatasetError(
                f"there is no column besides the label {label!r}: features are needed to learn from"
            )
        columns = _dates_last([settle(findings[name], declared.get(name)) for name in features])
        return TableFile(source, request, columns, settle_label(findings[label]), n_rows)
    except UnclearError:
        raise
    except DatasetError as error:
        raise DatasetError(str(error) if source.name in str(error) else f"{source.name}: {error}") from None


class _Observer(Protocol):
    """What is found of a column while its batches pass by."""

    def see(self, cells: Cells, place: Place) -> None: ...

    def miss(self, n_rows: int) -> None: ...


Seen = TypeVar("Seen", bound=_Observer)


def find_all(
    source: Source, request: Request, names: Collection[str], begin: Callable[[str], Seen]
) -> tuple[dict[str, Seen], int]:
    """What is found of each column, and the number of rows.

    Columns that a batch does not have are missing in it.
    """
    seen = {name: begin(name) for name in names if name not in request.ignored}
    n_rows, place = 0, Place(1)
    for batch in source.batches(request):
        if batch.file != place.file:
            place = Place(1, batch.file)
        for name in batch.columns:
            if name not in seen:
                seen[name] = begin(name)
                seen[name].miss(n_rows)
        for name, column in seen.items():
            if name in batch.columns:
                column.see(batch.columns[name], place)
            else:
                column.miss(batch.n_rows)
        n_rows += batch.n_rows
        place = Place(place.first_row + batch.n_rows, batch.file)
    return seen, n_rows


def _dates_last(columns: list[Column]) -> list[Column]:
    """In the order that a schema with dates has; no other column may be called as one of their features."""
    names = {column.name for column in columns if not isinstance(column, DateColumn)}
    for column in columns:
        twice = isinstance(column, DateColumn) and [name for name in column.features if name in names]
        if twice:
            raise DatasetError(
                f"column {twice[0]!r} is called as a part of the date {column.name!r} is: rename it, "
                f"or leave it out with ignore=[{twice[0]!r}]"
            )
    return sorted(columns, key=lambda column: isinstance(column, DateColumn))


def check_names(source: Source, names: list[str], wanted: Iterable[str]) -> None:
    """Refuse columns that are not there."""
    for name in wanted:
        if name not in names:
            raise DatasetError(f"{source.name} has no column {name!r}: {_hint(name, names)}")


def _hint(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(str(name), names, n=1)
    mean = f"did you mean {near[0]!r}? " if near else ""
    listed = ", ".join(map(visible, names[:20])) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return (
        f"{mean}its columns are {listed} (the first line of a CSV file has to name them)"
        if listed
        else "it has none"
    )
