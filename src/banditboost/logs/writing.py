"""Logs written to files that `read` reads, and as frames."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, BinaryIO, Literal

import narwhals as nw
import numpy as np

from banditboost.errors import LogError
from banditboost.io.replacing import replacing
from banditboost.logs.log import Block, Log
from banditboost.logs.offered import as_json, as_text
from banditboost.text import quoted

_COLUMNS = {
    "action": "actions",
    "reward": "rewards",
    "probability": "probabilities",
    "position": "positions",
    "time": "times",
    "id": "ids",
    "options": "options",
}
_TEXTS = ("action", "time", "id", "options")
Row = dict[Any, Any]


def write(log: Log, path: str | os.PathLike[str], *, names: Mapping[str, str] | None = None) -> None:
    """Write a log to a file that ends in .csv, .jsonl or .parquet, replaced at once or not at all.

    The columns are the features, and action, reward, probability, position, time, id and options as far as
    the log tells them. JSON lines and Parquet are read back as they were, but for actions, times, ids and
    dates, which come back as texts; a CSV file does not tell the text "7" from the number.

    Args:
        log: what `read` or another reader returned.
        path: the file.
        names: other names for these columns, such as {"action": "banner"}.

    >>> import tempfile
    >>> from banditboost import logs
    >>> log = logs.read_vw(["1:-1:0.5 | hour:9", "2:0:0.5 | hour:21"])
    >>> path = tempfile.mkdtemp() + "/log.jsonl"
    >>> logs.write(log, path)
    >>> logs.read(path, action="action", reward="reward", probability="probability").n_rows
    2
    """
    told = _told(names)
    extension = os.path.splitext(os.fspath(path))[1].lower()
    if extension not in _WRITERS:
        raise LogError(f"path is {quoted(path)}; give a file that ends in {', '.join(_WRITERS)}")
    features = _features_of(log, set(told.values()))
    with replacing(path) as file:
        _WRITERS[extension](file, log, told, features)


def _told(names: Mapping[str, str] | None) -> dict[str, str]:
    given = dict(names or {})
    unknown = [name for name in given if name not in _COLUMNS]
    told = {name: given.get(name, name) for name in _COLUMNS}
    if unknown or len(set(told.values())) < len(told):
        raise LogError(f"names is {quoted(names)}; give each of {', '.join(_COLUMNS)} a name of its own")
    return told


def _features_of(log: Log, taken: set[str]) -> dict[str, str]:
    """The columns of the context: number, list or text."""
    kinds: dict[Any, str] = {}
    for block in log:
        for row in block.rows:
            for name, value in row.items():
                kind = kind_of(value)
                kinds[name] = kind if kinds.get(name, kind) == kind else "text"
    for name in kinds:
        if not isinstance(name, str) or name in taken:
            raise LogError(
                f"a feature is called {quoted(name)}, which can be no column here; give the columns of the "
                "log other names with names={...}, or rename the feature to another text"
            )
    return kinds


def kind_of(value: Any) -> str:
    if isinstance(value, (int, float, np.integer, np.floating, Decimal)) and not isinstance(value, bool):
        return "number"
    return "list" if isinstance(value, (list, tuple)) else "text"


def _rows(block: Block, told: Mapping[str, str]) -> Iterator[Row]:
    columns = {
        told[name]: list(cells) if isinstance(cells, list) else cells.tolist()
        for name, attribute in _COLUMNS.items()
        if (cells := getattr(block, attribute)) is not None
    }
    for i, row in enumerate(block.rows):
        yield {**row, **{name: _cell(cells[i]) for name, cells in columns.items()}}


def _cell(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value


def _write_json(file: BinaryIO, log: Log, told: dict[str, str], features: dict[str, str]) -> None:  # noqa: ARG001
    for block in log:
        for row in _rows(block, told):
            kept = {name: cell for name, cell in row.items() if cell is not None}
            file.write(as_json(kept).encode() + b"\n")


def _write_csv(file: BinaryIO, log: Log, told: dict[str, str], features: dict[str, str]) -> None:
    lists = [name for name, kind in features.items() if kind == "list"]
    if lists:
        raise LogError(f"feature {lists[0]!r} holds lists, which a CSV file cannot; write a .jsonl file")
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = None
    for block in log:
        for row in _rows(block, told):
            if writer is None:
                there = [name for name in row if name not in features]
                writer = csv.DictWriter(text, [*features, *there], restval="")
                writer.writeheader()
            texts = {name: as_text(row[name]) for name in features if row.get(name) is not None}
            writer.writerow(_with_text(row | texts, told["options"]))
    text.detach()


def _write_parquet(file: BinaryIO, log: Log, told: dict[str, str], features: dict[str, str]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise LogError(
            "Parquet is written with pyarrow, which is not installed; pip install pyarrow"
        ) from None
    kinds = {"number": pyarrow.float64(), "list": pyarrow.list_(pyarrow.string()), "text": pyarrow.string()}
    writer = None
    for block in log:
        rows = [_of_kinds(_with_text(row, told["options"]), features) for row in _rows(block, told)]
        if writer is None:
            there = [
                (told[name], _arrow_kind(name, kinds))
                for name, at in _COLUMNS.items()
                if getattr(block, at) is not None
            ]
            schema = pyarrow.schema([*((name, kinds[kind]) for name, kind in features.items()), *there])
            writer = pyarrow.parquet.ParquetWriter(file, schema)
        for name, column in told.items():
            if name in _TEXTS:
                for row in rows:
                    row[column] = None if row.get(column) is None else str(row[column])
        writer.write_table(pyarrow.Table.from_pylist(rows, schema))
    if writer is None:
        raise LogError("the log has no rows; write a .jsonl file")
    writer.close()


def _arrow_kind(name: str, kinds: dict[str, Any]) -> Any:
    return kinds["text" if name in _TEXTS else "number"]


def _with_text(row: Row, options: str) -> Row:
    """A row whose options are a cell of a table."""
    return {**row, options: as_json(row[options])} if row.get(options) is not None else row


def _of_kinds(row: Row, features: Mapping[str, str]) -> Row:
    """A row whose features are of the kinds of their columns."""
    there = {name: row[name] for name in features if row.get(name) is not None}
    return {**row, **{name: _as_kind(value, features[name]) for name, value in there.items()}}


def _as_kind(value: Any, kind: str) -> Any:
    if kind == "number":
        return float(value)
    return value if kind == "list" else as_text(value)


_WRITERS: dict[str, Callable[[BinaryIO, Log, dict[str, str], dict[str, str]], None]] = {
    ".csv": _write_csv,
    ".jsonl": _write_json,
    ".parquet": _write_parquet,
}


def to_frame(log: Log, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
    """A log as a frame of pandas, polars or pyarrow, with the columns that `write` writes."""
    told = _told(None)
    features = _features_of(log, set(told.values()))
    whole = (_with_text(row, told["options"]) for block in log for row in _rows(block, told))
    rows = [_of_kinds(row, features) for row in whole]
    names = dict.fromkeys([*features, *(name for row in rows[:1] for name in row)])
    columns = {name: [row.get(name) for row in rows] for name in names}
    return nw.from_dict(columns, backend=backend).to_native()
