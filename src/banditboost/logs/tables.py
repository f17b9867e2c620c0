"""Logs that are tables: frames, CSV, JSON lines, Parquet and Arrow, with columns that the user names.

Files are read as `banditboost.datasets` reads them. A first pass finds which columns of the context are
numbers: in a CSV file only all cells together can tell.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

from banditboost.datasets.tables.cells import Batch, Cells, Lists, Odd, Place, Request, Source, Words
from banditboost.datasets.tables.csv_files import UnclearError
from banditboost.datasets.tables.numerals import reader
from banditboost.datasets.tables.reading import (
    check_names,
    checked_format,
    find_all,
    opened_source,
    without_arrow,
)
from banditboost.datasets.tables.text_files import TextFormat
from banditboost.errors import LogError
from banditboost.logs.log import Block, Log, as_objects, refuse_changed
from banditboost.logs.offered import of_shown, offered
from banditboost.text import quoted
from banditboost.types import Array

_VERDICTS = {"true": 1.0, "false": 0.0}


class Columns(NamedTuple):
    """Which column tells what."""

    action: str
    reward: str
    probability: str | None
    position: str | None
    time: str | None
    id: str | None
    options: str | None
    features: tuple[str, ...] = ()
    """Of what was shown."""

    def named(self) -> dict[str, str]:
        """The arguments that name a column."""
        told = self._asdict().items()
        return {argument: name for argument, name in told if name is not None and argument != "features"}

    def all(self) -> set[str]:
        """Columns with a meaning of their own: they are not what was known."""
        return {*self.named().values(), *self.features}


def read(
    source: str | os.PathLike[str] | Any,
    *,
    action: str,
    reward: str,
    probability: str | None = None,
    position: str | None = None,
    time: str | None = None,
    id: str | None = None,
    options: str | Collection[str] | None = None,
    context: Collection[str] | None = None,
    ignore: Collection[str] = (),
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> Log:
    """A log in files (CSV, JSON lines, Parquet, Arrow) of any size, or in a frame.

    Actions, ids and times are texts as they are written; whole numbers in typed sources have no point.

    Args:
        source: a path of a file or a folder, a pattern such as "clicks/*.csv.gz", or a frame of pandas,
            polars or pyarrow.
        action: the column that tells what was shown.
        reward: the column that tells what it earned: numbers, or true and false.
        probability: the column that tells with what probability it was chosen.
        position, time, id: columns that tell where on a page, when, and of which event.
        options: the column that tells what could be shown, an object such as {"news": {"length": 3}, "games":
            {"length": 8}} or its JSON text; or columns with features of what was shown, ["length", "topic"].
        context: columns of what was known; None for all that have no other meaning.
        ignore: columns to leave out of these.
        encoding, separator, decimal: of text files, as in `datasets.read`.

    >>> import pandas as pd
    >>> from banditboost import logs
    >>> clicks = {"hour": [9, 21], "banner": ["news", "games"], "clicked": [0, 1], "p": [0.5, 0.5]}
    >>> log = logs.read(pd.DataFrame(clicks), action="banner", reward="clicked", probability="p")
    >>> [block.rows for block in log]
    [[{'hour': 9.0}, {'hour': 21.0}]]
    """
    is_column = options is None or isinstance(options, str)
    columns = Columns(action, reward, probability, position, time, id, options if is_column else None)  # type: ignore[arg-type]
    columns = _checked(columns, () if is_column else options, context, ignore)  # type: ignore[arg-type]
    form = checked_format(TextFormat(encoding, separator, decimal))
    where = opened_source(source, form)
    wanted = None if context is None else frozenset(context)
    try:
        return _opened(where, columns, wanted, frozenset(ignore), form)
    except UnclearError:
        return _opened(without_arrow(where), columns, wanted, frozenset(ignore), form)


def _checked(
    columns: Columns, features: Collection[str], context: Collection[str] | None, ignore: Collection[str]
) -> Columns:
    taken: dict[str, str] = {}
    for argument, name in columns.named().items():
        if not isinstance(name, str):
            raise LogError(f"{argument} is {quoted(name)}; give the name of a column")
        if name in taken:
            raise LogError(f"column {name!r} is {taken[name]} and {argument}; give each a column of its own")
        taken[name] = argument
    known = () if context is None else context
    for argument, names in (("options", features), ("context", known), ("ignore", ignore)):
        if isinstance(names, str) or not isinstance(names, Collection):
            raise LogError(f"{argument} is {quoted(names)}; give a list of names of columns")
        for name in names:
            if not isinstance(name, str):
                raise LogError(f"{argument} has {quoted(name)}; give names of columns")
            if name in taken:
                raise LogError(f"column {name!r} is in {argument}, and is {taken[name]}; name it once")
        if argument == "options":
            taken |= dict.fromkeys(names, "in options")
    return columns._replace(features=tuple(features))


class _Kind:
    """Whether a column is numbers only: seen batch by batch."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_numeric = self.is_empty = True

    def see(self, cells: Cells, place: Place) -> None:
        self.is_empty = self.is_empty and _all_missing(cells)
        if isinstance(cells, Odd):
            raise LogError(f"column {self.name!r} ({place.told(0)} on) {cells.what}")
        if isinstance(cells, Lists):
            self.is_numeric = False
        elif isinstance(cells, Words):
            told = cells.numbers == cells.numbers if not cells.typed else np.zeros(1, np.bool_)
            self.is_numeric = self.is_numeric and (not cells.values or bool(told.all()))

    def miss(self, n_rows: int, place: Place) -> None:
        """Missing cells tell nothing."""


def _all_missing(cells: Cells) -> bool:
    if isinstance(cells, np.ndarray):
        return bool(np.isnan(cells).all())
    if isinstance(cells, Words):
        return not cells.values
    return isinstance(cells, Lists) and all(cell is None for cell in cells.cells)


def _opened(
    source: Source,
    columns: Columns,
    context: frozenset[str] | None,
    ignored: frozenset[str],
    form: TextFormat,
) -> Log:
    names, told = source.column_names(), columns.all()
    if names is not None:
        check_names(source, names, (*told, *(context or ()), *ignored))
        if context is not None:
            ignored = ignored | (set(names) - context - told)
    texts = columns.action, columns.id, columns.time, columns.options
    as_texts = frozenset(name for name in texts if name is not None)
    whole = frozenset({columns.options} if columns.options is not None else ())
    request = Request(words=as_texts, ignored=ignored, number_of=reader(form.decimal, ","), whole=whole)
    kinds, n_rows = find_all(source, request, names or (), _Kind)
    if names is None and n_rows:
        needed = (columns.action, columns.reward, *whole, *columns.features, *(context or ()))
        check_names(source, [*kinds, *ignored], needed)
    named = set(columns.named().values())
    nominal = {name for name, kind in kinds.items() if not kind.is_numeric and name not in named}
    final = request._replace(words=as_texts | nominal)
    known = {name for name in kinds if name not in told and (context is None or name in context)}

    def blocks() -> Iterator[Block]:
        done = 0
        for batch in source.batches(final):
            done += batch.n_rows
            if done > n_rows:
                raise refuse_changed(source.name)
            yield _block(batch, columns, known, done - batch.n_rows, source.name)
        if done != n_rows:
            raise refuse_changed(source.name)

    return Log(source.name, blocks)


def _block(batch: Batch, columns: Columns, known: set[str], first: int, name: str) -> Block:
    told: dict[str, Any] = {}
    for argument, column in columns.named().items():
        cells = batch.columns.get(column)
        if argument in ("reward", "probability", "position"):
            told[argument] = _numbers(cells, batch.n_rows, column, first, name)
        elif isinstance(cells, Lists):
            raise LogError(f"{name}: column {column!r} holds lists; give one {argument} in each row")
        else:
            told[argument] = as_objects(_values(cells, batch.n_rows))
    if columns.options is not None:
        told["options"] = offered(
            told["options"], lambda i: f"{name}: column {columns.options!r}, row {first + i + 1}"
        )
    elif columns.features:
        told["options"] = of_shown(told["action"], _rows(batch, set(columns.features)))
    return Block(
        _rows(batch, known),
        told["action"],
        told["reward"],
        told.get("probability"),
        told.get("position"),
        told.get("time"),
        told.get("id"),
        told.get("options"),
    )


def _numbers(cells: Cells | None, n_rows: int, column: str, first: int, name: str) -> Array:
    """Numbers, NaN where missing; true and false are 1 and 0."""
    if cells is None:
        return np.full(n_rows, np.nan)
    if isinstance(cells, np.ndarray):
        return cells
    if not isinstance(cells, Words):
        raise LogError(f"{name}: column {column!r} holds lists; give one number in each row")
    numbers = np.array(
        [
            _VERDICTS.get(value.casefold(), number)
            for value, number in zip(cells.values, cells.numbers.tolist(), strict=True)
        ]
    )
    bad = np.flatnonzero(np.append(np.isnan(numbers), False)[cells.codes])
    if len(bad) and not _is_missing(cells.values[cells.codes[bad[0]]]):
        value = cells.values[cells.codes[bad[0]]]
        raise LogError(
            f"{name}: column {column!r} has {quoted(value)} in row {first + int(bad[0]) + 1}; give numbers, "
            "or leave cells empty that are not known"
        )
    return np.asarray(np.append(numbers, np.nan)[cells.codes])


def _is_missing(value: str) -> bool:
    return value.casefold() in ("nan", "na", "n/a", "null", "none", "?")


def _values(cells: Cells | None, n_rows: int) -> list[Any]:
    """Python's values, None where missing."""
    if cells is None or isinstance(cells, Odd):
        return [None] * n_rows
    if isinstance(cells, Words):
        values = [*cells.values, None]
        return [values[code] for code in cells.codes.tolist()]
    if isinstance(cells, Lists):
        return [None if words is None else list(words) for words in cells.cells]
    return [None if number != number else number for number in cells.tolist()]


def _rows(batch: Batch, known: set[str]) -> list[dict[Any, Any]]:
    names = [name for name in batch.columns if name in known]
    if not names:
        return [{} for _ in range(batch.n_rows)]
    columns = [_values(batch.columns[name], batch.n_rows) for name in names]
    rows = (zip(names, cells, strict=True) for cells in zip(*columns, strict=True))
    return [{name: value for name, value in row if value is not None} for row in rows]
