"""`check`: all columns of a table at once, with what to say to `read` so that it takes them."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.cells import Request, Source
from banditboost.datasets.tables.columns import looks_numeric
from banditboost.datasets.tables.csv_files import CsvFile, UnclearError
from banditboost.datasets.tables.encodings import find_encoding
from banditboost.datasets.tables.findings import Finding
from banditboost.datasets.tables.folders import Parts
from banditboost.datasets.tables.labels import Rewards, find_label, find_rewards
from banditboost.datasets.tables.marks import find_mark, is_typed_amount
from banditboost.datasets.tables.numerals import plain_number, reader
from banditboost.datasets.tables.paths import readable, text_files_of
from banditboost.datasets.tables.profiles import Profile, many
from banditboost.datasets.tables.reading import (
    check_label,
    check_names,
    checked_format,
    find_all,
    opened_source,
    without_arrow,
)
from banditboost.datasets.tables.text_files import TextFormat
from banditboost.datasets.tables.verdicts import Verdict, judge
from banditboost.rows.plain import DATE_PARTS
from banditboost.text import visible

_EXAMPLES, _LONGEST = 3, 24
_CHOICES = ("numeric", "nominal", "dates", "words", "ignore")


@dataclass(frozen=True)
class ColumnCheck:
    """What was found of a column.

    >>> ColumnCheck("hour", "numbers", 24, 0, ("9", "21"), None).values
    24
    """

    name: str
    kind: str
    """What it is, in words: numbers, names, dates, text, id, constant, ..."""
    values: int
    """How many different ones; those beyond 10,000 are not counted."""
    missing: int
    """Cells that `read` takes as missing: among numbers also `NA`, `?` and other texts."""
    examples: tuple[str, ...]
    choice: str | None
    """The argument of `read` that it has to be named in, "label", "reward", or None."""

    @property
    def n_values(self) -> str:
        """In words."""
        return many(self.values)

    @property
    def told(self) -> str:
        """How many values there are and are missing, and what the column is used as, in words."""
        missing = f", {self.missing:,} missing" if self.missing else ""
        use = {None: "", "ignore": ", left out"}.get(self.choice, f", {self.choice}")
        return f"{self.n_values} {'value' if self.values == 1 else 'values'}{missing}{use}"


@dataclass(frozen=True)
class TableCheck:
    """What was found of a table. Made by `check`.

    >>> import pandas as pd
    >>> from banditboost import datasets
    >>> visits = pd.DataFrame({"hour": [9, 21, 9], "clicked": ["news", "film", "news"]})
    >>> datasets.check(visits, label="clicked").n_rows
    3
    """

    name: str
    n_rows: int
    columns: tuple[ColumnCheck, ...]
    remarks: tuple[str, ...]
    """What the user should know, in sentences."""
    label: str | None
    """The column of labels; None if there is none that can be used."""
    options: Mapping[str, Any]
    """Further arguments for `read`."""
    reward_range: tuple[float, float] | None = None
    """The least and the largest reward, if there are columns of rewards."""

    @property
    def is_ready(self) -> bool:
        """Whether `read` takes it with these options: there is a label, or there are rewards, and something
        to learn from.
        """
        features = [column for column in self.columns if column.choice not in ("label", "reward", "ignore")]
        return (self.label is not None or self.reward_range is not None) and bool(features)

    def describe(self) -> str:
        """A line for each column, and the remarks."""
        names = [visible(column.name) for column in self.columns]
        wide, wider = (
            max(map(len, names), default=0),
            max((len(column.kind) for column in self.columns), default=0),
        )
        lines = [
            f"{name:<{wide}}  {column.kind:<{wider}}  {column.told}"
            for name, column in zip(names, self.columns, strict=True)
        ]
        return "\n".join([*lines, *(f"- {visible(remark)}" for remark in self.remarks)])


def check(
    source: str | os.PathLike[str] | Any,
    label: str | None = None,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> TableCheck:
    """Look at all columns of a table at once: what each is, and what to say to `read`.

    Args:
        source: as for `read`.
        label: the column with the right labels, if it is known.
        encoding: of text files; found if not given.
        separator: between the cells of a CSV file; found if not given.
        decimal: the decimal mark of a CSV file, "." or ","; found if not given.

    >>> import pandas as pd
    >>> from banditboost import datasets
    >>> rows = {"id": range(99), "hour": [9, 21, 22] * 33, "clicked": ["no", "yes", "yes"] * 33}
    >>> found = datasets.check(pd.DataFrame(rows))
    >>> found.label, found.options
    ('clicked', {'ignore': ('id',)})
    >>> datasets.read(pd.DataFrame(rows), found.label, **found.options).features
    ('hour',)
    """
    form, remarks = checked_format(TextFormat(encoding, separator, decimal)), list[str]()
    if form.encoding is None and isinstance(source, (str, os.PathLike)):
        with readable(source):
            guess = find_encoding(text_files_of(source))
        form, remarks = form._replace(encoding=guess.encoding), guess.remarks
    if label is not None:
        check_label(label)
    seen = _look(source, form)
    check_names(seen.source, list(seen.profiles), [] if label is None else [label])
    seen, told = _with_mark(source, seen)
    return _checked(seen, label, [*remarks, *_about_header(seen), *told])


class _Seen(NamedTuple):
    """A table after a pass."""

    source: Source
    form: TextFormat
    profiles: dict[str, Profile]
    n_rows: int
    amounts: tuple[str, ...]
    """Columns of texts that are read as amounts, where the source tells texts from numbers."""


def _look(source: Any, form: TextFormat, amounts: tuple[str, ...] = ()) -> _Seen:
    """A pass over the whole table."""
    request = Request(words=None, numeric=frozenset(amounts), number_of=reader(form.decimal, ","))
    where = opened_source(source, form)
    try:
        return _looked_at(where, request, form, amounts)
    except UnclearError:
        return _looked_at(without_arrow(where), request, form, amounts)


def _looked_at(where: Source, request: Request, form: TextFormat, amounts: tuple[str, ...]) -> _Seen:
    names = where.column_names() or ()
    profiles, n_rows = find_all(where, request, names, lambda name: Profile(Finding(name)))
    if n_rows == 0:
        raise DatasetError(f"{where.name}: there are no rows")
    return _Seen(where, form, profiles, n_rows, amounts)


def _with_mark(source: Any, seen: _Seen) -> tuple[_Seen, list[str]]:
    """The table read with the decimal mark that it needs, and what is to be said of that."""
    remarks: list[str] = []
    form = seen.form
    if form.decimal is None:
        decimal, remarks = find_mark(seen.profiles.values(), _separator(seen.source))
        form = form._replace(decimal=decimal)
    if form.decimal is None:
        return seen, remarks
    amounts = tuple(name for name, profile in seen.profiles.items() if is_typed_amount(profile, form.decimal))
    return (seen if form == seen.form and not amounts else _look(source, form, amounts)), remarks


def _separator(source: Source) -> str | None:
    if isinstance(source, Parts):
        source = source.first
    return source.separator if isinstance(source, CsvFile) else None


def _about_header(seen: _Seen) -> list[str]:
    names = list(seen.profiles)
    if _separator(seen.source) is None:
        return []
    if len(names) == 1:
        return [f"there is one column only, {names[0]!r}: name the separator if there should be more."]
    number = next((name for name in names if plain_number(name) == plain_number(name)), None)
    if number is None:
        return []
    return [
        f"a column is called {number!r}: the first line has to name the columns, so add one if it is a row."
    ]


def _checked(seen: _Seen, wanted: str | None, remarks: list[str]) -> TableCheck:
    rewards = find_rewards(seen.profiles) if wanted is None else None
    name, about_label = (None, _about_rewards(rewards)) if rewards else find_label(seen.profiles, wanted)
    columns, about_columns = [], []
    for column, verdict in _verdicts(seen).items():
        is_reward = rewards is not None and column in rewards.columns
        is_told = column in (name, wanted) or is_reward
        choice = ("reward" if is_reward else "label") if is_told else verdict.choice
        columns.append(_column(column, seen.profiles[column], verdict, choice))
        if verdict.remark and not is_told:
            about_columns.append(f"{column!r} {verdict.remark}.")
    check = TableCheck(
        seen.source.name,
        seen.n_rows,
        tuple(columns),
        (*remarks, *about_label, *about_columns),
        name,
        {**({"rewards": rewards.said} if rewards else {}), **_options(seen.form, columns)},
        rewards.bounds if rewards else None,
    )
    if (name is None and not rewards) or check.is_ready:
        return check
    nothing = (
        "no column is left to learn from: add some, or name those that are left out in numeric, nominal or "
        "words."
    )
    return replace(check, remarks=(*check.remarks, nothing))


def _about_rewards(rewards: Rewards) -> list[str]:
    """What is to be said of columns that are taken for rewards."""
    low, high = rewards.bounds
    return [
        f"{', '.join(map(repr, rewards.columns))} are taken as what each label earns; "
        "name a label if there is one.",
        f"rewards go from {low:.15g} to {high:.15g} here; others are refused, so name the least and the "
        "largest that there can be.",
    ]


def _verdicts(seen: _Seen) -> dict[str, Verdict]:
    """What each column is taken for."""
    verdicts = {column: judge(profile) for column, profile in seen.profiles.items()}
    parts = {
        f"{column}.{part}"
        for column, verdict in verdicts.items()
        if verdict.kind == "dates"
        for part in DATE_PARTS
    }
    for column in parts & verdicts.keys():
        verdicts[column] = Verdict(
            verdicts[column].kind, "ignore", "is called as a part of a date is: left out; rename it"
        )
    for column in seen.amounts:
        if verdicts[column].choice is None:
            verdicts[column] = verdicts[column]._replace(choice="numeric")
    return verdicts


def _column(name: str, profile: Profile, verdict: Verdict, choice: str | None) -> ColumnCheck:
    finding = profile.finding
    values: Collection[str] = profile.counts
    missing = finding.missing
    if choice == "numeric" or (choice in (None, "ignore") and looks_numeric(finding)):
        values, missing = finding.numerals, missing + finding.texts  # as `read` counts them
    examples = tuple(
        value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
        for value in islice(values, _EXAMPLES)
    )
    return ColumnCheck(name, verdict.kind, len(values), missing, examples, choice)


def _options(form: TextFormat, columns: list[ColumnCheck]) -> dict[str, Any]:
    """What has to be said, and nothing that needs no word."""
    named = {
        choice: tuple(column.name for column in columns if column.choice == choice) for choice in _CHOICES
    }
    return {option: said for option, said in {**named, **form._asdict()}.items() if said}
