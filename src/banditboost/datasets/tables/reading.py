"""`read` a table into memory, or `open_file` one that is too big for it."""

import difflib
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import narwhals as nw
import numpy as np

from banditboost.datasets.dataset import (
    Table,
)
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.rewards import RewardColumns
from banditboost.datasets.tables.cells import Cells, Place, Request, Source
from banditboost.datasets.tables.columns import (
    DATES,
    Column,
    DateColumn,
    Use,
    settle,
    settle_label,
)
from banditboost.datasets.tables.csv_files import CsvFile, UnclearError
from banditboost.datasets.tables.days import Days
from banditboost.datasets.tables.findings import Finding
from banditboost.datasets.tables.folders import Parts
from banditboost.datasets.tables.frames import Frame
from banditboost.datasets.tables.numerals import MARKS, reader
from banditboost.datasets.tables.paths import source_of
from banditboost.datasets.tables.reward_columns import columns_of, settle_rewards
from banditboost.datasets.tables.table_file import TableFile, together
from banditboost.datasets.tables.text_files import TextFormat, checked_encoding
from banditboost.datasets.tables.word_columns import WordColumn
from banditboost.text import quoted, visible

Names = Collection[str]
_LONGEST_NAME = 1_000  # characters


def read(
    source: str | os.PathLike[str] | Any,
    label: str | None = None,
    *,
    rewards: Names = (),
    numeric: Names = (),
    nominal: Names = (),
    dates: Names = (),
    words: Names = (),
    ignore: Names = (),
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> Table:
    """Read files (CSV, JSON lines, Parquet, Arrow) or a frame (pandas, polars, pyarrow) into memory.

    Args:
        source: a path of a file or a folder, a pattern of files such as "visits/*.csv.gz", or a frame.
        label: the column with the right labels. All others are features.
        rewards: in place of a label, a column for each label with what it would earn; "price_*" are all
            columns that begin so, and the labels what the star stands for.
        numeric: columns whose cells are to be numbers; texts in them count as missing.
        nominal: columns whose cells are to be names, even if they look like numbers.
        dates: columns of dates and times that are written as text; each becomes seven features.
        words: columns of texts, of which each word counts. Lists of texts need not be named, nor texts of
            several words that are new in nearly every row.
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
    uses: dict[Use, Names] = {"numeric": numeric, "nominal": nominal, "dates": dates, "words": words}
    return _in_memory(_opened(source, Told(label, rewards), uses, ignore, form))


def _in_memory(opened: TableFile) -> Table:
    X, y = np.empty((opened.n_rows, len(opened.features))), opened._truths(opened.n_rows)
    done, parts = 0, []
    for rows, bags, labels in opened._coded():
        X[done : done + len(rows)], y[done : done + len(rows)] = rows, labels
        done += len(rows)
        parts.append(bags)
    return Table(
        opened.name,
        opened.features,
        opened.kinds,
        opened.values,
        X,
        np.empty(0, np.int64) if opened.reward_columns else y,
        opened.labels,
        dates=opened.dates,
        bags=together(parts),
        rewards=y if opened.reward_columns else None,
        reward_columns=opened.reward_columns,
    )


def open_file(
    path: str | os.PathLike[str],
    label: str | None = None,
    *,
    rewards: Names = (),
    numeric: Names = (),
    nominal: Names = (),
    dates: Names = (),
    words: Names = (),
    ignore: Names = (),
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> TableFile:
    """Open files that need not fit into memory.

    A first pass finds labels, types and values; `batches` goes through them again. The arguments are those of
    `read`.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise DatasetError(f"path is {quoted(path)}: give the path of a file")
    form = TextFormat(encoding, separator, decimal)
    uses: dict[Use, Names] = {"numeric": numeric, "nominal": nominal, "dates": dates, "words": words}
    return _opened(path, Told(label, rewards), uses, ignore, form)


class Told(NamedTuple):
    """Which columns say what was right: a label, or what each label earns."""

    label: str | None
    rewards: Names

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that have to be there; patterns have a look of their own."""
        return () if self.label is None else (self.label,)


def _opened(source: Any, told: Told, uses: Mapping[Use, Names], ignore: Names, form: TextFormat) -> TableFile:
    declared = _declared(told, uses, ignore)
    form = checked_format(form)
    request = Request(
        words=frozenset({*told.names, *uses["nominal"], *uses["dates"], *uses["words"]}),
        ignored=frozenset(ignore),
        numeric=frozenset(uses["numeric"] if form.decimal else ()),
        number_of=reader(form.decimal, ","),
        texts=frozenset(uses["words"]),
    )
    where = opened_source(source, form)
    try:
        return _scanned(where, request, told, declared)
    except UnclearError:
        return _scanned(without_arrow(where), request, told, declared)


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


def _declared(told: Told, uses: Mapping[Use, Names], ignore: Names) -> dict[str, Use | None]:
    """What the user says of columns: a use, or None for one to leave out."""
    check_told(told)
    declared: dict[str, Use | None] = {}
    said: list[tuple[str, Names, Use | None]] = [(use, names, use) for use, names in uses.items()]
    for argument, names, use in (*said, ("ignore", ignore, None)):
        check_listed(argument, names)
        for name in names:
            if name in declared or name == told.label:
                raise DatasetError(
                    f"column {name!r} is in {argument}, and is the label or was named before: "
                    "name each column once"
                )
            declared[name] = use
    return declared


def check_listed(argument: str, names: object) -> None:
    """Refuse what is no list of names of columns."""
    if isinstance(names, str):
        raise DatasetError(f"{argument} is the text {names!r}: give a list of columns, such as [{names!r}]")
    if not _are_names(names):
        raise DatasetError(f"{argument} is {quoted(names)}: give a list of names of columns")


def check_told(told: Told) -> None:
    """Refuse both a label and rewards, and neither."""
    check_listed("rewards", told.rewards)
    if told.label is None and not told.rewards:
        raise DatasetError(
            "label is None: give the name of the column with the right labels, or the columns of rewards as "
            "rewards=[...]"
        )
    if told.label is not None:
        check_label(told.label)
        if told.rewards:
            raise DatasetError(
                f"label is {quoted(told.label)} and rewards {quoted(list(told.rewards))}: give one of the "
                "two, and name the other in ignore"
            )


def check_label(label: object) -> None:
    """Refuse what can be no name of a column."""
    if not isinstance(label, str):
        raise DatasetError(f"label is {quoted(label)}: give the name of the column with the right labels")


def _are_names(names: Any) -> bool:
    try:
        return isinstance(names, Collection) and all(isinstance(name, str) for name in names)
    except TypeError:  # an array without dimensions
        return False


def _scanned(source: Source, request: Request, told: Told, declared: Mapping[str, Use | None]) -> TableFile:
    """The first pass."""
    names = source.column_names()
    if names is not None:
        check_names(source, names, (*told.names, *declared))
    try:
        dates = [name for name, use in declared.items() if use == DATES]
        findings, n_rows = find_all(
            source, request, names or (), lambda name: Finding(name, days=Days() if name in dates else None)
        )
        if n_rows == 0:
            raise DatasetError("there are no rows")
        if names is None:
            check_names(source, [*findings, *request.ignored], (*told.names, *declared))
        rewards = _rewards(findings, told, declared)
        taken = told.names if rewards is None else rewards.columns
        features = [name for name in findings if name not in taken]
        if not features:
            what = "rewards" if told.label is None else f"label {told.label!r}"
            raise DatasetError(f"there is no column besides the {what}: features are needed to learn from")
        columns = _dates_last([settle(findings[name], declared.get(name)) for name in features])
        truth = settle_label(findings[str(told.label)]) if rewards is None else rewards
        return TableFile(source, _with_texts(request, columns), columns, truth, n_rows)
    except UnclearError:
        raise
    except DatasetError as error:
        raise DatasetError(str(error) if source.name in str(error) else f"{source.name}: {error}") from None


def _rewards(
    findings: Mapping[str, Finding], told: Told, declared: Mapping[str, Use | None]
) -> RewardColumns | None:
    """The columns of rewards; None if there is a label."""
    if told.label is not None:
        return None
    labels = columns_of(told.rewards, findings)
    for name in labels:
        if name in declared:
            raise DatasetError(
                f"column {name!r} is in rewards, and is named in {declared[name]}: name each column once"
            )
    return settle_rewards(findings, labels)


def _with_texts(request: Request, columns: list[Column]) -> Request:
    """What was found to be text is handed over as such, also where all cells of a batch are numbers."""
    found = {column.name for column in columns if isinstance(column, WordColumn)}
    return request._replace(words=(request.words or frozenset()) | found)


class _Observer(Protocol):
    """What is found of a column while its batches pass by."""

    @property
    def is_empty(self) -> bool: ...

    def see(self, cells: Cells, place: Place) -> None: ...

    def miss(self, n_rows: int, place: Place) -> None: ...


Seen = TypeVar("Seen", bound=_Observer)


def find_all(
    source: Source, request: Request, names: Collection[str], begin: Callable[[str], Seen]
) -> tuple[dict[str, Seen], int]:
    """What is found of each column, and the number of rows.

    Columns that a batch does not have are missing in it. One that has nothing but objects, and is missing
    elsewhere, is none: what is in its objects are columns.
    """
    seen = {name: begin(name) for name in names if name not in request.ignored}
    n_rows, place, objects = 0, Place(1), set[str]()
    for batch in source.batches(request):
        objects |= batch.objects
        if batch.file != place.file:
            place = Place(1, batch.file)
        for name in batch.columns:
            if name not in seen:
                seen[name] = begin(name)
                seen[name].miss(n_rows, Place(1))
        for name, column in seen.items():
            if name in batch.columns:
                column.see(batch.columns[name], place)
            else:
                column.miss(batch.n_rows, place)
        n_rows += batch.n_rows
        place = Place(place.first_row + batch.n_rows, batch.file)
    return {
        name: column for name, column in seen.items() if not (name in objects and column.is_empty)
    }, n_rows


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
    """Refuse columns that are not there, and names that are no names."""
    longest = max(map(len, names), default=0)
    if longest > _LONGEST_NAME:
        raise DatasetError(
            f"{source.name} has a column whose name has {longest:,} characters, and may have "
            f"{_LONGEST_NAME:,}: give it a short one (the first line of a CSV file has to name the columns)"
        )
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
