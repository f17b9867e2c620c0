"""What a column is: numeric, nominal, dates or words, by what was found of it, or declared by the user."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from banditboost.datasets.dataset import NOMINAL, NUMERIC, FloatArray, Kind, Values
from banditboost.datasets.describe import Fact
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.frequent import Frequent
from banditboost.datasets.tables.cells import MISSING_WORDS, Cells, Lists, Odd, Words
from banditboost.datasets.tables.days import N_PARTS, Days, looks_like_a_date, parts_of
from banditboost.datasets.tables.findings import MAX_LABELS, Finding
from banditboost.datasets.tables.numerals import MARKS, amount
from banditboost.datasets.tables.word_columns import WordColumn
from banditboost.rows.plain import DATE_PARTS
from banditboost.rows.sharing import MAX_VALUES, MOST_WORDS, SHARED, code_of
from banditboost.text import counted, quoted

Use = Literal["numeric", "nominal", "dates", "words"]
"""What a user may say of a column."""
DATES: Final[Use] = "dates"
WORDS: Final[Use] = "words"

MAX_FRACTIONS = 100
"""A label column of numbers with fractions that has more different values than this is continuous."""
_BOOLEANS = {
    spelling: truth for truth in ("False", "True") for spelling in (truth, truth.lower(), truth.upper())
}


@dataclass(frozen=True)
class PlainColumn:
    """One feature: numbers, or names."""

    name: str
    kind: Kind
    values: tuple[str, ...] | None
    """Values of a nominal column, in code order."""
    code_of: dict[str, int]
    missing: int
    low: float
    high: float

    @property
    def features(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return (self.kind,)

    @property
    def all_values(self) -> Values:
        return (self.values,)

    def facts(self) -> list[Fact]:
        return [Fact(self.name, self.values, self.low, self.high, self.missing)]

    def encode(self, cells: Cells) -> FloatArray:
        """float64[rows, 1]: numbers or codes, NaN where missing. `KeyError` for a value that is not known."""
        return self._flat(cells)[:, np.newaxis]

    def _flat(self, cells: Cells) -> FloatArray:
        if isinstance(cells, (Odd, Lists)):
            raise KeyError("lists" if isinstance(cells, Lists) else cells.what)
        if not isinstance(cells, Words):
            return cells if self.kind == NUMERIC else np.full(len(cells), np.nan)
        return cells.look_up(
            cells.numbers if self.kind == NUMERIC else [self._code(word) for word in cells.values]
        )

    def _code(self, word: str) -> int:
        """`KeyError` for a value that was not there, unless values share places."""
        if isinstance(self.values, Frequent) and word not in self.code_of:
            return SHARED + code_of(self.name, word)
        return self.code_of[word]


@dataclass(frozen=True)
class DateColumn:
    """Dates and times: seven features."""

    name: str
    order: str
    """Which of day and month comes first, where a date does not tell."""
    low: FloatArray
    high: FloatArray
    missing: FloatArray

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{part}" for part in DATE_PARTS)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return (NUMERIC,) * N_PARTS

    @property
    def all_values(self) -> Values:
        return (None,) * N_PARTS

    def facts(self) -> list[Fact]:
        ranges = zip(self.features, self.low.tolist(), self.high.tolist(), self.missing.tolist(), strict=True)
        return [Fact(feature, None, low, high, int(missing)) for feature, low, high, missing in ranges]

    def encode(self, cells: Cells) -> FloatArray:
        """float64[rows, 7], NaN where missing. `KeyError` for what is no date."""
        if not isinstance(cells, Words):
            raise KeyError("numbers where dates were")
        parts = [parts_of(word, self.order) for word in cells.values]
        if None in parts:
            raise KeyError(cells.values[parts.index(None)])
        table = np.array([*parts, (np.nan,) * N_PARTS], np.float64)
        return table[cells.codes]  # code -1 is the last place


Column = PlainColumn | DateColumn | WordColumn
"""A column as it was settled: how its cells become numbers, and which features these are."""


def settle(finding: Finding, declared: Use | None) -> Column:
    """Decide what a feature is, or refuse it."""
    _refuse_unfit(finding)
    if finding.lists or declared == WORDS:
        return _words(finding, declared)
    if finding.days is not None and declared in (None, DATES):
        return _dates(finding, finding.days)
    if declared == NUMERIC or (declared is None and looks_numeric(finding)):
        return _numeric(finding)
    if declared is None:
        if not finding.typed:
            _refuse_amounts(finding)
        if finding.is_text:
            return _words(finding, declared)
        _refuse_doubtful(finding)
        return _nominal(finding, finding.words)
    return _nominal(finding, {**finding.words, **finding.numerals})


def _refuse_unfit(finding: Finding) -> None:
    if finding.unfit is not None:
        raise DatasetError(f"column {finding.name!r} {finding.unfit}")


def _words(finding: Finding, declared: Use | None) -> WordColumn:
    name, others = finding.name, finding.numbers + finding.texts
    without = f"leave it out with ignore=[{name!r}]"
    if finding.lists and declared not in (None, WORDS):
        raise DatasetError(
            f"column {name!r} holds lists of words, and is named in {declared}: say words=[{name!r}], or "
            f"{without}"
        )
    if finding.lists and others and declared is None:
        raise DatasetError(
            f"column {name!r} holds lists and other values: say words=[{name!r}] to learn from the words of "
            f"both, or {without}"
        )
    if finding.dated:
        raise DatasetError(f"column {name!r} holds dates, which have no words: leave it out of words")
    if finding.too_long is not None:
        raise DatasetError(
            f"column {name!r} {finding.too_long}, and a row may have {MOST_WORDS:,}: give those that matter "
            f"most, or {without}"
        )
    return WordColumn(name, finding.missing + finding.wordless)


def _dates(finding: Finding, days: Days) -> Column:
    reading = days.reading(finding.name)
    cells = finding.numbers + finding.texts + finding.missing
    return DateColumn(finding.name, reading.order, reading.low, reading.high, cells - reading.told)


def settle_label(finding: Finding) -> PlainColumn:
    """The label column: nominal, whatever it holds, and never missing."""
    _refuse_unfit(finding)
    if finding.lists:
        raise DatasetError(
            f"column {finding.name!r} holds lists, which are no labels: name another label column"
        )
    name, words = finding.name, {**finding.words, **finding.numerals}
    if len(words) > MAX_LABELS:
        many = f"column {name!r} has more than {MAX_LABELS:,} different values"
        raise DatasetError(f"{many}: it holds measurements or ids; name another label column")
    _refuse_continuous(finding)
    column = _coded(finding, words)
    labels = column.values or ()
    if len(labels) < 2:
        only = f"only the label {quoted(labels[0])}" if labels else "no label at all"
        raise DatasetError(
            f"column {name!r} has {only}: there is nothing to choose between; name another label column, "
            "or add rows"
        )
    if finding.missing:
        raise DatasetError(
            f"column {name!r} is empty in {counted(finding.missing, 'row')}, the first is {finding.gap}: "
            "every row needs its right label; leave such rows out"
        )
    return column


def _refuse_continuous(finding: Finding) -> None:
    """Measurements are no labels: nearly every row would have one of its own."""
    fraction = next((word for word, number in finding.numerals.items() if _has_fraction(number)), None)
    if fraction is None or len(finding.numerals) <= MAX_FRACTIONS or finding.odd is not None:
        return
    raise DatasetError(
        f"column {finding.name!r} holds {len(finding.numerals):,} different numbers with fractions "
        f"(such as {fraction}): a measurement is no label; "
        "make a few bins of it (low, middle, high, say), or name another label column"
    )


def _has_fraction(number: float) -> bool:
    """Whether it is no whole number. "3.0" is one."""
    return math.isfinite(number) and not number.is_integer()


def looks_numeric(finding: Finding) -> bool:
    """Whether all cells are numbers or missing, so that nothing has to be said of it."""
    return finding.odd is None and (finding.numbers > 0 or not finding.words)


def _refuse_doubtful(finding: Finding) -> None:
    name = finding.name
    if finding.numbers and finding.odd:
        word, where = finding.odd
        raise DatasetError(
            f"column {name!r} mixes numbers and texts (the first text is {quoted(word)}, in {where}): "
            f"say nominal=[{name!r}] to take all its values as names, "
            f"or numeric=[{name!r}] to take the texts as missing"
        )
    if finding.words and all(map(looks_like_a_date, finding.words)):
        raise DatasetError(
            f"column {name!r} holds dates or times ({quoted(next(iter(finding.words)))}): "
            f"say dates=[{name!r}] to learn from hour, weekday, season and elapsed days, "
            f"or leave the column out with ignore=[{name!r}]"
        )


def _refuse_amounts(finding: Finding) -> None:
    """Numbers with a currency, or with marks between thousands: the user says which mark is which."""
    words = [word for word in (*finding.words, *finding.numerals) if word not in MISSING_WORDS]
    marks = [mark for mark in MARKS if finding.odd and all(amount(word, mark) for word in words)]
    if not marks or finding.odd is None:
        return
    how = f"decimal={marks[0]!r}" if len(marks) == 1 else "decimal='.' or decimal=',', whichever mark it has,"
    raise DatasetError(
        f"column {finding.name!r} holds amounts, such as {quoted(finding.odd[0])}: say {how} to take them as "
        f"numbers, or nominal=[{finding.name!r}] to take them as names"
    )


def _numeric(finding: Finding) -> Column:
    name = finding.name
    if len(finding.units) > 1:
        (first, one), (second, other), *_ = finding.units.items()
        raise DatasetError(
            f"column {name!r} holds amounts in {first} and in {second} ({quoted(one)}, {quoted(other)}): "
            f"give one column to each, say nominal=[{name!r}], or leave it out with ignore=[{name!r}]"
        )
    if finding.words and not finding.numbers:
        example = quoted(next(iter(finding.words)))
        raise DatasetError(
            f"numeric=[{name!r}], but no cell of that column is a number (one is {example}): "
            "leave it out of numeric"
        )
    if finding.infinite is not None:
        raise DatasetError(
            f"column {name!r} is infinite in {finding.infinite}: "
            "leave that cell empty if the number is not known"
        )
    return PlainColumn(name, NUMERIC, None, {}, finding.missing + finding.texts, finding.low, finding.high)


def _nominal(finding: Finding, words: Collection[str]) -> Column:
    if len(words) <= MAX_VALUES:
        return _coded(finding, words)
    again = sorted((-n, word) for word, n in finding.counts.items() if n > 1 and word in words)
    column = _coded(finding, [word for _, word in again[:MAX_VALUES]])
    return replace(column, values=Frequent(column.values or ()))


def _coded(finding: Finding, words: Collection[str]) -> PlainColumn:
    """Values in a fixed order.

    In a source without types true, True and TRUE are one value, spelled as Python does.
    """
    spelled = {word: word for word in words}
    if not finding.typed and all(word in _BOOLEANS for word in words):
        spelled = _BOOLEANS
    values = tuple(in_order({spelled[word] for word in words}))
    codes = {value: code for code, value in enumerate(values)}
    code_of = {spelling: codes[value] for spelling, value in spelled.items() if value in codes}
    return PlainColumn(finding.name, NOMINAL, values, code_of, finding.missing, np.nan, np.nan)


def in_order(words: Iterable[str]) -> list[str]:
    """By number if all are numbers, else by text: the same whatever the order of the rows."""
    texts = sorted(words)
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return texts
    return texts if any(map(math.isnan, numbers)) else sorted(texts, key=float)
