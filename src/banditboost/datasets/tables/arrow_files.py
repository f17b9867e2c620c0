"""Parquet and Arrow (Feather) files, a batch at a time.

They are read through pyarrow, or through polars where only that is installed.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import narwhals as nw

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.cells import Batch, Request
from banditboost.datasets.tables.frames import frame_batch

Format = Literal["parquet", "ipc"]
_ROWS_A_BATCH = 50_000


class ArrowFile:
    """A Parquet or Arrow file."""

    def __init__(self, path: Path, form: Format) -> None:
        self.name = str(path)
        self._reader = _reader(path, form)
        with self._whole():
            self._names = self._reader.names()

    def column_names(self) -> list[str] | None:
        return None if self._reader.is_nested() else self._names

    def batches(self, request: Request) -> Iterator[Batch]:
        names = [name for name in self._names if name not in request.ignored]
        frames = self._reader.frames(names)
        while True:
            with self._whole():
                frame = next(frames, None)
            if frame is None:
                return
            yield frame_batch(nw.from_native(frame, eager_only=True), request)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        try:
            yield
        except self._reader.errors as error:
            raise DatasetError(
                f"{self.name} is cut short or damaged ({' '.join(str(error).split())[:120]}): "
                "get a fresh copy"
            ) from None


class _PyArrow:
    def __init__(self, path: Path, form: Format) -> None:
        import pyarrow
        import pyarrow.dataset

        self.errors = pyarrow.ArrowException, OSError, UnicodeDecodeError  # of names of columns
        self._pa: Any = pyarrow
        self._path, self._form = path, form

    def names(self) -> list[str]:
        return list(self._opened().schema.names)

    def is_nested(self) -> bool:
        """Whether some columns are structs, which have columns of their own."""
        return any(self._pa.types.is_struct(field.type) for field in self._opened().schema)

    def frames(self, names: list[str]) -> Iterator[Any]:
        for batch in self._opened().to_batches(columns=names, batch_size=_ROWS_A_BATCH, batch_readahead=1):
            batch.validate(full=True)  # offsets of a damaged file may point anywhere
            yield self._pa.Table.from_batches([batch])

    def _opened(self) -> Any:
        return self._pa.dataset.dataset(self._path, format=self._form)


class _Polars:
    def __init__(self, path: Path, form: Format) -> None:
        import polars

        self.errors = polars.exceptions.PolarsError, OSError
        self._scan = polars.scan_parquet(path) if form == "parquet" else polars.scan_ipc(path)

    def names(self) -> list[str]:
        return list(self._scan.collect_schema().names())

    def is_nested(self) -> bool:
        """Whether some columns are structs, which have columns of their own."""
        return any(dtype.is_nested() and hasattr(dtype, "fields") for dtype in self._dtypes())

    def _dtypes(self) -> Iterable[Any]:
        found: Iterable[Any] = self._scan.collect_schema().dtypes()
        return found

    def frames(self, names: list[str]) -> Iterator[Any]:
        start = 0
        while len(frame := self._scan.select(names).slice(start, _ROWS_A_BATCH).collect()):
            yield frame
            start += len(frame)


def _reader(path: Path, form: Format) -> _PyArrow | _Polars:
    for reader in (_PyArrow, _Polars):
        try:
            return reader(path, form)
        except ImportError:
            continue
    raise DatasetError(
        f"{path} is read with pyarrow or polars, and neither is installed: pip install pyarrow, "
        "or save it as CSV"
    )
