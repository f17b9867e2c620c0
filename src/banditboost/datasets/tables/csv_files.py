"""CSV files.

They are read through pyarrow if it is installed, which is several times as fast, else through Python's csv
module. A CSV file has no types: a column is numeric if all its cells are numbers or missing. Cells are
separated by commas, semicolons, tabs or bars, whichever the header has most of; with semicolons numbers may
have decimal commas. Whoever names the decimal mark has amounts read as numbers, too.
"""

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, TextIO

import numpy as np

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.cells import MISSING_WORDS, Batch, Cells, Request, Words, as_words
from banditboost.datasets.tables.numerals import reader, unit_of
from banditboost.datasets.tables.text_files import TextFormat, open_text, open_utf8

_CELLS_A_BATCH = 500_000
_BLOCK = 1 << 22  # bytes that pyarrow parses at once
_FIRST_CELLS = 64  # of a column: words among them are found sooner than by a look at all cells
_SEPARATORS = ",;\t|"
_FOR_EXCEL = re.compile('"?sep=.?"?')


class UnclearError(DatasetError):
    """pyarrow cannot read the file: Python's own reader is to say whether it is wrong, and where."""


class CsvFile:
    """A CSV file, plain or packed."""

    def __init__(self, path: Path, form: TextFormat, arrow: ModuleType | None = None) -> None:
        self.name = str(path)
        self._path, self._form = path, form
        self._arrow = arrow
        with open_text(path, form.encoding) as text:
            first = _first_line(text)
            if _FOR_EXCEL.fullmatch(first.strip()):
                raise DatasetError(
                    f"{path} begins with the line {first.strip()}, which only Excel understands: delete it"
                )
            self.separator = form.separator or max(_SEPARATORS, key=first.count)
            text.seek(0)
            header = next(_blocks(text, self.separator, path, 1), None)
        if header is None:
            raise DatasetError(f"{path} is empty: it needs column names, and rows")
        self._header = _checked(header[0], path)
        self._number = reader(form.decimal, self.separator)

    def column_names(self) -> list[str]:
        return self._header

    def without_arrow(self) -> "CsvFile":
        return CsvFile(self._path, self._form)

    def batches(self, request: Request) -> Iterator[Batch]:
        return (
            self._python_batches(request)
            if self._arrow is None
            else self._arrow_batches(self._arrow, request)
        )

    def _python_batches(self, request: Request) -> Iterator[Batch]:
        size = max(1, _CELLS_A_BATCH // len(self._header))
        with open_text(self._path, self._form.encoding) as text:
            blocks = _blocks(text, self.separator, self._path, size)
            first = next(blocks, [])[1:]  # without the header
            for rows in chain([first] if first else [], blocks):
                columns = zip(self._header, zip(*rows, strict=True), strict=True)
                wanted = ((name, cells) for name, cells in columns if name not in request.ignored)
                yield Batch(
                    len(rows), {name: self._cells(cells, request.as_words(name)) for name, cells in wanted}
                )

    def _cells(self, cells: Sequence[str], words: bool) -> Cells:
        if not words:
            try:
                return self._fast_numbers(cells)
            except ValueError:
                pass
        return self._words_or_numbers(
            as_words([cell.strip() for cell in cells], self._number, typed=False), words
        )

    @property
    def _has_commas(self) -> bool:
        """Whether numbers may have decimal commas."""
        return self._form.decimal == "," or (self._form.decimal is None and self.separator == ";")

    def _fast_numbers(self, cells: Sequence[str]) -> Cells:
        if self._form.decimal == "," and any("." in cell for cell in cells):
            raise ValueError("points part thousands")
        if self._has_commas:
            cells = [cell.replace(",", ".") for cell in cells]
        try:
            numbers = np.fromiter(map(float, cells), np.float64, len(cells))
        except ValueError:
            numbers = np.fromiter((float(cell or "nan") for cell in cells), np.float64, len(cells))
        if "_" in "".join(cells):
            raise ValueError("Python takes 1_000 for a number")
        return numbers

    def _words_or_numbers(self, found: Words, words: bool) -> Cells:
        """Numbers if there are some, and nothing else but ways to write that one is missing."""
        odd = (
            math.isnan(number) and word not in MISSING_WORDS
            for word, number in zip(found.values, found.numbers.tolist(), strict=True)
        )
        if words or np.isnan(found.numbers).all() or any(odd) or self._has_units(found):
            return found
        return found.look_up(found.numbers)

    def _has_units(self, found: Words) -> bool:
        """Whether some have a currency, which is to be seen by whoever looks at the column."""
        return self._form.decimal is not None and any(map(unit_of, found.values))

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
        parse = arrow_csv.ParseOptions(delimiter=self.separator, newlines_in_values=True)
        try:
            with (
                open_utf8(self._path, self._form.encoding) as content,
                arrow_csv.open_csv(quotes := _Quotes(content), read, parse, convert) as reader,
            ):
                for batch in reader:
                    columns = zip(batch.schema.names, batch.columns, strict=True)
                    yield Batch(
                        len(batch),
                        {
                            name: self._arrow_cells(arrow, compute, cells, request.as_words(name))
                            for name, cells in columns
                        },
                    )
            if quotes.count % 2:
                raise UnclearError(
                    f"{self.name} has a quote that is not closed"
                )  # pyarrow takes all that follows for one cell
        except (arrow.ArrowInvalid, OSError) as error:
            raise UnclearError(f"{self.name} cannot be read ({error})") from error

    def _arrow_cells(self, arrow: ModuleType, compute: Any, cells: Any, words: bool) -> Cells:
        parted = self._form.decimal == "," and compute.any(compute.match_substring(cells, ".")).as_py()
        if not words and not parted:
            numerals = compute.replace_substring(cells, ",", ".") if self._has_commas else cells
            try:
                compute.cast(numerals[:_FIRST_CELLS], arrow.float64())
                return np.asarray(compute.cast(numerals, arrow.float64()).to_numpy(zero_copy_only=False))
            except arrow.ArrowInvalid:
                pass
        coded = compute.utf8_trim_whitespace(cells).dictionary_encode()
        found = as_words(coded.dictionary.to_pylist(), self._number, typed=False)
        codes = np.append(found.codes, -1)[coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        return self._words_or_numbers(found._replace(codes=codes), words)


class _Quotes(io.RawIOBase):
    """Counts the quotes in what is read."""

    def __init__(self, content: BinaryIO) -> None:
        self._content = content
        self.count = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._content.read(size)
        self.count += block.count(b'"')
        return block


def _first_line(text: TextIO) -> str:
    return next((line for line in text if line.strip()), "")


def _blocks(text: TextIO, delimiter: str, path: Path, size: int) -> Iterator[list[list[str]]]:
    """Blocks of about `size` rows, all as long as the header, which comes first.

    Empty lines are left out.
    """
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    width, line = 0, 1
    try:
        while rows := list(islice(reader, size)):
            width = width or next((len(row) for row in rows if row), 0)
            if width == 0 or set(map(len, rows)) != {width}:
                _check_widths(rows, width, line, path)
                rows = [row for row in rows if row]
            if rows:
                yield rows
            line = reader.line_num + 1
    except csv.Error as error:
        raise DatasetError(
            f"{path} cannot be read in line {reader.line_num} ({error}): look for a quote that is not closed"
        ) from None


def _check_widths(rows: list[list[str]], width: int, line: int, path: Path) -> None:
    """Find the line that is too long or too short; the first row is in line `line`."""
    for row in rows:
        if row and len(row) != width:
            raise DatasetError(
                f"{path} has {len(row)} cells in line {line} where the header has {width}: "
                "repair that line (a text with a comma in it needs quotes)"
            )
        line += 1 + sum(cell.count("\n") for cell in row)


def _checked(header: list[str], path: Path) -> list[str]:
    names = [name.strip() or f"column {1 + i}" for i, name in enumerate(header)]
    for name in names:
        if names.count(name) > 1:
            raise DatasetError(
                f"{path} has two columns {name!r}: give each a name of its own in the first line"
            )
    return names
