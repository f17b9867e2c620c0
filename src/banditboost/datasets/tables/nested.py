"""Objects in cells (of JSON, structs of Parquet and Arrow, dicts in frames): columns with dotted names."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.cells import Batch, Cells, Request, from_objects
from banditboost.rows.plain import DEEPEST, is_missing, text_of


def batch_of(n_rows: int, columns: Iterable[tuple[str, Sequence[Any]]], request: Request) -> Batch:
    """A batch of Python's own values, whose objects are columns of their own."""
    batch = Batch(n_rows, {})
    for name, cells in columns:
        batch = with_objects(batch, name, cells, request)
    return batch


def with_objects(batch: Batch, name: str, cells: Sequence[Any], request: Request) -> Batch:
    """The batch with one more column, or with those that its objects have."""
    if name in request.whole:
        return with_column(batch, name, from_objects([_as_text(cell) for cell in cells], name, request))
    for column, found in _leaves(name, cells, request.ignored):
        batch = with_column(batch, column, from_objects(found, column, request))
    return batch._replace(objects=batch.objects | {name}) if has_objects(cells) else batch


def _as_text(cell: Any) -> Any:
    """An object as JSON; what is none, or has names that JSON cannot tell, as it is written."""
    if not isinstance(cell, (Mapping, list)):
        return cell
    try:
        return json.dumps(cell, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(cell)


def with_column(batch: Batch, name: str, cells: Cells) -> Batch:
    """The batch with one more column, unless there is one of that name."""
    if name in batch.columns:
        raise DatasetError(
            f"column {name!r} is there twice, once within an object: rename one of the two, or leave the "
            f"object out with ignore=[{name.partition('.')[0]!r}]"
        )
    batch.columns[name] = cells
    return batch


def has_objects(cells: Iterable[Any]) -> bool:
    """Whether some of these are dicts."""
    return any(isinstance(cell, Mapping) for cell in cells)


def _leaves(
    name: str, cells: Sequence[Any], ignored: Collection[str], deep: int = 1
) -> Iterator[tuple[str, Sequence[Any]]]:
    """What is no object, under its name, and what is in the objects under dotted names."""
    if name in ignored:
        return
    if not has_objects(cells):
        yield name, cells
        return
    if deep == DEEPEST:
        raise DatasetError(
            f"column {name!r} has objects within objects, more than {DEEPEST} deep: flatten it, or leave it "
            f"out with ignore=[{name!r}]"
        )
    others = [None if isinstance(cell, Mapping) else cell for cell in cells]
    if not all(map(is_missing, others)):
        yield name, others
    objects = [cell if isinstance(cell, Mapping) else {} for cell in cells]
    for key in dict.fromkeys(key for cell in objects for key in cell):
        yield from _leaves(f"{name}.{text_of(key)}", [cell.get(key) for cell in objects], ignored, deep + 1)
