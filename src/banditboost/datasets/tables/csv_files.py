"""CSV files: through pyarrow if it is installed, which is four times as fast, else through Python's own csv module.

A CSV file has no types: a column is numeric if all its cells are numbers or missing. Cells are separated by commas, semicolons or tabs,
whichever the header has most of; with semicolons numbers may have decimal commas.
"""

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import numpy as np

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.cells import MISSING_WORDS, Batch, Cells, Request, Words, as_words
from banditboost.datasets.tables.text_files import open_bytes, open_text

_CELLS_A_BATCH = 500_000
_BLOCK = 1 << 22  # bytes that pyarrow parses at once


class UnclearError(DatasetError):
    """pyarrow cannot read the file: Python's own reader is to say whether it is wrong, and where."""


class CsvFile:
    """A CSV file, plain or gzipped."""

    def __init__(self, path: Path, arrow: ModuleType | None = None) -> None:
        self.name = str(path)
        self._path = path
        self._arrow = arrow
        with open_text(path) as text:
            first = _first_line(text)
            self._delimiter = max(",;\t", key=first.count)
            text.seek(0)
            header = next((row for row in _records(text, self._delimiter, path) if row), None)
        if header is None:
            raise DatasetError(f"{path} is empty: it needs column names, and rows")
        self._header = _checked(header, path)
        self._number: Callable[[str], float] = _comma_number if self._delimiter == ";" else _number

    def column_names(self) -> list[str]:
        return self._header

    def without_arrow(self) -> "CsvFile":
        return CsvFile(self._path)

    def batches(self, request: Request) -> Iterator[Batch]:
        return self._python_batches(request) if self._arrow is None else self._arrow_batches(self._arrow, request)

    def _python_batches(self, request: Request) -> Iterator[Batch]:
        size = max(1, _CELLS_A_BATCH // len(self._header))
        with open_text(self._path) as text:
            records = (row for row in _records(text, self._delimiter, self._path) if row)
            next(records, None)
            while rows := list(islice(records, size)):
                columns = zip(self._header, zip(*rows, strict=True), strict=True)
                yield Batch(
                    len(rows), {name: self._cells(cells, name in request.words) for name, cells in columns if name not in request.ignored}
                )

    def _cells(self, cells: Sequence[str], words: bool) -> Cells:
        if not words:
            try:
                return self._fast_numbers(cells)
            except ValueError:
                pass
        return self._words_or_numbers(as_words([cell.strip() for cell in cells], self._number, typed=False), words)

    def _fast_numbers(self, cells: Sequence[str]) -> Cells:
        if "_" in "".join(cells):
            raise ValueError("Python takes 1_000 for a number")
        if self._delimiter == ";":
            cells = [cell.replace(",", ".") for cell in cells]
        try:
            return np.fromiter(map(float, cells), np.float64, len(cells))
        except ValueError:
            return np.fromiter((float(cell or "nan") for cell in cells), np.float64, len(cells))

    def _words_or_numbers(self, found: Words, words: bool) -> Cells:
        """Numbers if nothing else was found."""
        spelled = dict(zip(found.values, found.numbers.tolist(), strict=True))
        if words or any(math.isnan(number) and word not in MISSING_WORDS for word, number in spelled.items()) or not spelled:
            return found
        if all(map(math.isnan, spelled.values())):
            return found
        return np.append(found.numbers, np.nan)[found.codes]

    def _arrow_batches(self, arrow: ModuleType, request: Request) -> Iterator[Batch]:
        from pyarrow import compute
        from pyarrow import csv as arrow_csv

        names = self._header
        convert = arrow_csv.ConvertOptions(
            column_types={name: arrow.string() for name in names},
            include_columns=[name for name in names if name not in request.ignored],
            null_values=[""],
            strings_can_be_null=True,
        )
        read = arrow_csv.ReadOptions(column_names=names, skip_rows_after_names=1, block_size=_BLOCK)
        parse = arrow_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True)
        try:
            with open_bytes(self._path) as stream, arrow_csv.open_csv(stream, read, parse, convert) as reader:
                for batch in reader:
                    columns = zip(batch.schema.names, batch.columns, strict=True)
                    yield Batch(
                        len(batch), {name: self._arrow_cells(arrow, compute, cells, name in request.words) for name, cells in columns}
                    )
        except (arrow.ArrowInvalid, OSError, EOFError) as error:
            raise UnclearError(f"{self.name} cannot be read ({error})") from error

    def _arrow_cells(self, arrow: ModuleType, compute: Any, cells: Any, words: bool) -> Cells:
        if not words:
            numerals = compute.replace_substring(cells, ",", ".") if self._delimiter == ";" else cells
            try:
                return np.asarray(compute.cast(numerals, arrow.float64()).to_numpy(zero_copy_only=False))
            except arrow.ArrowInvalid:
                pass
        coded = compute.utf8_trim_whitespace(cells).dictionary_encode()
        found = as_words(coded.dictionary.to_pylist(), self._number, typed=False)
        codes = np.append(found.codes, -1)[coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        return self._words_or_numbers(found._replace(codes=codes), words)


def _number(text: str) -> float:
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def _comma_number(text: str) -> float:
    return _number(text.replace(",", "."))


def _first_line(text: TextIO) -> str:
    return next((line for line in text if line.strip()), "")


def _records(text: TextIO, delimiter: str, path: Path) -> Iterator[list[str]]:
    """Rows of cells, all as long as the first; empty lines as empty rows."""
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    width = 0
    try:
        for row in reader:
            width = width or len(row)
            if row and len(row) != width:
                raise DatasetError(
                    f"{path} has {len(row)} cells in line {reader.line_num} where the header has {width}: "
                    "repair that line (a text with a comma in it needs quotes)"
                )
            yield row
    except csv.Error as error:
        raise DatasetError(f"{path} cannot be read in line {reader.line_num} ({error}): look for a quote that is not closed") from None


def _checked(header: list[str], path: Path) -> list[str]:
    names = [name.strip() or f"column {1 + i}" for i, name in enumerate(header)]
    for name in names:
        if names.count(name) > 1:
            raise DatasetError(f"{path} has two columns {name!r}: give each a name of its own in the first line")
    return names
