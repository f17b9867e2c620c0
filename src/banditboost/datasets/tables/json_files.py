"""JSON lines: one object in each line. A key that a line does not have is missing there."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.cells import Batch, Request
from banditboost.datasets.tables.nested import batch_of
from banditboost.datasets.tables.text_files import TextFormat, open_text

_LINES_A_BATCH = 10_000


class JsonLines:
    """A file of JSON lines, plain or packed."""

    def __init__(self, path: Path, form: TextFormat) -> None:
        self.name = str(path)
        self._path, self._encoding = path, form.encoding

    def column_names(self) -> None:
        return None

    def batches(self, request: Request) -> Iterator[Batch]:
        with open_text(self._path, self._encoding) as text:
            rows = (self._parsed(line, number) for number, line in enumerate(text, 1) if line.strip())
            while block := list(islice(rows, _LINES_A_BATCH)):
                names = dict.fromkeys(name for row in block for name in row)
                columns = ((name, [row.get(name) for row in block]) for name in names)
                yield batch_of(len(block), columns, request)

    def _parsed(self, line: str, number: int) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise DatasetError(
                f"{self.name} has no whole JSON object in line {number} ({error.msg}): "
                "write one object in each line"
            ) from None
        except RecursionError:
            raise DatasetError(
                f"{self.name} has lists or objects nested too deep in line {number}: "
                "write one object in each line, nested eight deep at most"
            ) from None
        except ValueError:  # Python reads no integer of thousands of digits
            raise DatasetError(
                f"{self.name} has a number of too many digits in line {number}: write it as a text"
            ) from None
        if not isinstance(row, dict):
            raise DatasetError(
                f"{self.name} has a {type(row).__name__} in line {number}: write one JSON object in each line"
            )
        return row
