"""Folders and globs of files: many files that are one table."""

import glob
import os
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.cells import Batch, Request, Source, Words, as_words
from banditboost.datasets.tables.csv_files import CsvFile
from banditboost.datasets.tables.numerals import plain_number

_HIDDEN = ("_", ".")  # as Spark and pyarrow leave them out
_MISSING = "__HIVE_DEFAULT_PARTITION__"


class Files(NamedTuple):
    """The files that a path stands for, and the folder that they are in."""

    root: Path
    paths: tuple[Path, ...]

    def names(self) -> list[str]:
        """As seen from their folder."""
        return [path.relative_to(self.root).as_posix() for path in self.paths]


def is_glob(path: str | os.PathLike[str]) -> bool:
    """Whether it is a pattern: it has a star, a question mark or a bracket, and no file is called so."""
    return glob.has_magic(os.fspath(path)) and not os.path.lexists(path)


def files_of(path: str | os.PathLike[str]) -> Files | None:
    """The files of a folder or of a glob, in the order of their names; None for a path of a single file."""
    text = os.fspath(path)
    if is_glob(text):
        found = sorted(Path(match) for match in glob.glob(text, recursive=True))
        root = _fixed_part(Path(text))
        paths = [file for match in found for file in (_below(match) if match.is_dir() else [match])]
        if not paths:
            raise DatasetError(f"no file is called {text}: check the path and the pattern")
    elif os.path.isdir(text):
        root = Path(text)
        paths = _below(root)
        if not paths:
            raise DatasetError(f"{text} is a directory without files: name a file, or a directory with some")
    else:
        return None
    return Files(root, tuple(dict.fromkeys(paths)))


def size_of(path: str | os.PathLike[str]) -> int:
    """Bytes on the disk."""
    files = files_of(path)
    return sum(os.path.getsize(file) for file in (files.paths if files else [path]))


def title_of(path: str | os.PathLike[str]) -> str:
    """What a table is called that is in this file, folder or glob: a name without a pattern."""
    if is_glob(path):
        return _fixed_part(Path(path)).resolve().name or "files"
    return Path(path).stem or Path(path).resolve().name or "files"


def _fixed_part(pattern: Path) -> Path:
    """The folder that all files of a pattern are in."""
    root = pattern
    while glob.has_magic(str(root)):
        root = root.parent
    return root


def _below(folder: Path) -> list[Path]:
    """All files in a folder and in the folders in it, without hidden ones."""
    found: list[Path] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(_HIDDEN))
        found += [Path(parent, name) for name in names if not name.startswith(_HIDDEN)]
    return sorted(found)


class Parts:
    """Files with equal columns, one after the other.

    Folders that are called column=value are columns, too, as Hive and Spark write them, unless the files have
    the column themselves.
    """

    def __init__(self, name: str, root: Path, parts: Sequence[tuple[Path, Source]]) -> None:
        self.name = name
        self._root, self._parts = root, parts
        self._partitions = [_partition(path.relative_to(root)) for path, _ in parts]
        first = self._partitions[0].keys()
        for (path, _), partition in zip(parts, self._partitions, strict=True):
            if partition.keys() != first:
                raise DatasetError(
                    f"{path} is in folders for {_listed(partition)}, and {parts[0][0]} in folders for "
                    f"{_listed(first)}: put all files into folders of the same kinds"
                )

    @cached_property
    def _names(self) -> list[str] | None:
        (path, source), *others = self._parts
        expected = source.column_names()
        for other, part in others:
            found = part.column_names()
            if expected is not None and found is not None and set(found) != set(expected):
                raise _different(other, found, path, expected)
        if expected is None:
            return None
        return [*expected, *(name for name in self._partitions[0] if name not in expected)]

    @property
    def first(self) -> Source:
        return self._parts[0][1]

    def column_names(self) -> list[str] | None:
        return self._names

    def without_arrow(self) -> "Parts":
        plain = [
            (path, part.without_arrow() if isinstance(part, CsvFile) else part) for path, part in self._parts
        ]
        return Parts(self.name, self._root, plain)

    def batches(self, request: Request) -> Iterator[Batch]:
        for (path, part), partition in zip(self._parts, self._partitions, strict=True):
            wanted = {name: value for name, value in partition.items() if name not in request.ignored}
            for batch in part.batches(request):
                repeated = {name: _constant(value, batch.n_rows) for name, value in wanted.items()}
                yield Batch(batch.n_rows, {**repeated, **batch.columns}, str(path), batch.objects)


def _partition(path: Path) -> dict[str, str]:
    """Column and value for each folder on the way that is called column=value."""
    pairs = (folder.split("=", 1) for folder in path.parts[:-1] if "=" in folder.strip("="))
    return {unquote(name): unquote(value) for name, value in pairs}


def _constant(value: str, n_rows: int) -> Words:
    words = as_words([None if value == _MISSING else value], plain_number, typed=False)
    return words._replace(codes=np.repeat(words.codes, n_rows))


def _different(path: Path, found: Sequence[str], other: Path, expected: Sequence[str]) -> DatasetError:
    lacks = [name for name in expected if name not in found]
    more = [name for name in found if name not in expected]
    told = [f"lacks {_listed(lacks)}"] if lacks else []
    told += [f"has {_listed(more)} besides"] if more else []
    return DatasetError(
        f"{path} has other columns than {other}: it {' and '.join(told)}; "
        "give all files the same columns, or name those that have them (with a pattern such as 'day*.csv')"
    )


def _listed(names: Collection[str]) -> str:
    shown = [repr(name) for name in names]
    return (
        ", ".join(shown[:5]) + (f" and {len(shown) - 5} more" if len(shown) > 5 else "")
        if shown
        else "nothing"
    )
