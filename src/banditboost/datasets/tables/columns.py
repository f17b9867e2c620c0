"""What a column is: numeric or nominal, found while its batches pass by, or declared by the user."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from banditboost.datasets.dataset import NOMINAL, NUMERIC, FloatArray, Kind
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.cells import MISSING_WORDS, Cells, Words, dates
from banditboost.rows.sharing import MAX_VALUES

MAX_LABELS = 10_000
MAX_FRACTIONS = 100
"""A label column of numbers with fractions that has more different values than this is continuous."""
_BOOLEANS = {
    spelling: truth for truth in ("False", "True") for spelling in (truth, truth.lower(), truth.upper())
}
_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([T ]\d.*)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}( \d.*)?|\d{4}/\d{1,2}/\d{1,2}( "
    r"\d.*)?|\d{1,2}:\d{2}(:\d{2}.*)?"
)


@dataclass
class Finding:
    """All that is remembered of a column after a pass, whatever its length."""

    name: str
    words: dict[str, None] = field(default_factory=dict)
    """Words that are not numbers.

    As many are kept as a label may have, and one more to know that there are too many.
    """
    numerals: dict[str, None] = field(default_factory=dict)
    """Words that are numbers, as many as of the others; not known where a source hands over numbers."""
    odd: tuple[str, int] | None = None
    """The first word that is neither a number nor a way to write that one is missing, and its row."""
    numbers: int = 0
    texts: int = 0
    """How many cells are words that are not numbers."""
    missing: int = 0
    low: float = np.inf
    high: float = -np.inf
    infinite: int | None = None
    """The first row with an infinite number."""
    typed: bool = False

    def see(self, cells: Cells, first_row: int) -> None:
        """Take in a batch, whose first row has this number in the whole table."""
        if isinstance(cells, Words):
            self._see_words(cells, first_row)
        else:
            present = cells[~np.isnan(cells)]
            self.missing += len(cells) - len(present)
            self._see_numbers(present, len(present))
            self._note_infinite(cells, first_row)

    def _see_words(self, cells: Words, first_row: int) -> None:
        self.typed = cells.typed
        counts = np.bincount(cells.codes + 1, minlength=len(cells.values) + 1)
        self.missing += int(counts[0])
        is_number = ~np.isnan(cells.numbers)
        self._see_numbers(cells.numbers[is_number], int(counts[1:][is_number].sum()))
        self.texts += int(counts[1:][~is_number].sum())
        for code, (word, numeral) in enumerate(zip(cells.values, is_number.tolist(), strict=True)):
            seen = self.numerals if numeral else self.words
            if len(seen) <= MAX_LABELS:
                seen[word] = None
            if self.odd is None and not numeral and word not in MISSING_WORDS:
                self.odd = word, first_row + int(np.argmax(cells.codes == code))
        self._note_infinite(cells.look_up(cells.numbers), first_row)

    def _see_numbers(self, present: FloatArray, count: int) -> None:
        if len(present):
            self.numbers += count
            self.low = min(self.low, float(present.min()))
            self.high = max(self.high, float(present.max()))

    def _note_infinite(self, cells: FloatArray, first_row: int) -> None:
        if self.infinite is None and np.isinf(cells).any():
            self.infinite = first_row + int(np.argmax(np.isinf(cells)))


@dataclass(frozen=True)
class Column:
    """A column as it was settled: how its cells become numbers."""

    name: str
    kind: Kind
    values: tuple[str, ...] | None
    """Values of a nominal column, in code order."""
    code_of: dict[str, int]
    missing: int
    low: float
    high: float

    def encode(self, cells: Cells) -> FloatArray:
        """float64[rows]: numbers or codes, NaN where missing. `KeyError` for a value that is not known."""
        if not isinstance(cells, Words):
            return cells if self.kind == NUMERIC else np.full(len(cells), np.nan)
        return cells.look_up(
            cells.numbers if self.kind == NUMERIC else [self.code_of[word] for word in cells.values]
        )


def settle(finding: Finding, declared: Kind | None) -> Column:
    """Decide what a feature is, or refuse it."""
    if declared == NUMERIC or (declared is None and _looks_numeric(finding)):
        return _numeric(finding)
    if declared is None:
        _refuse_doubtful(finding)
        return _nominal(finding, finding.words)
    return _nominal(finding, finding.words | finding.numerals)


def settle_label(finding: Finding) -> Column:
    """The label column: nominal, whatever it holds, and never missing."""
    name, words = finding.name, finding.words | finding.numerals
    if len(words) > MAX_LABELS:
        many = f"column {name!r} has more than {MAX_LABELS:,} different values"
        raise DatasetError(f"{many}: it holds measurements or ids; name another label column")
    _refuse_continuous(finding)
    column = _coded(finding, words)
    labels = column.values or ()
    if len(labels) < 2:
        only = f"only the label {labels[0]!r}" if labels else "no label at all"
        raise DatasetError(
            f"column {name!r} has {only}: there is nothing to choose between; name another label column, "
            "or add rows"
        )
    if finding.missing:
        raise DatasetError(
            f"column {name!r} is empty in {finding.missing:,} rows: every row needs its right label; "
            "leave those rows out"
        )
    return column


def _refuse_continuous(finding: Finding) -> None:
    """Measurements are no labels: nearly every row would have one of its own."""
    fraction = next((word for word in finding.numerals if _has_fraction(word)), None)
    if fraction is None or len(finding.numerals) <= MAX_FRACTIONS or finding.odd is not None:
        return
    raise DatasetError(
        f"column {finding.name!r} holds {len(finding.numerals):,} different numbers with fractions "
        f"(such as {fraction}): a measurement is no label; "
        "make a few bins of it (low, middle, high, say), or name another label column"
    )


def _has_fraction(numeral: str) -> bool:
    """Whether a numeral, with a decimal point or comma, is no whole number. "3.0" is one."""
    number = float(numeral.replace(",", "."))
    return math.isfinite(number) and not number.is_integer()


def _looks_numeric(finding: Finding) -> bool:
    return finding.odd is None and (finding.numbers > 0 or not finding.words)


def _refuse_doubtful(finding: Finding) -> None:
    name = finding.name
    if finding.numbers and finding.odd:
        word, row = finding.odd
        raise DatasetError(
            f"column {name!r} mixes numbers and texts (the first text is {word!r}, in row {row}): "
            f"say nominal=[{name!r}] to take all its values as names, "
            f"or numeric=[{name!r}] to take the texts as missing"
        )
    if finding.words and all(_DATE.fullmatch(word) for word in finding.words):
        raise dates(name, repr(next(iter(finding.words))))


def _numeric(finding: Finding) -> Column:
    name = finding.name
    if finding.words and not finding.numbers:
        example = repr(next(iter(finding.words)))
        raise DatasetError(
            f"numeric=[{name!r}], but no cell of that column is a number (one is {example}): "
            "leave it out of numeric"
        )
    if finding.infinite is not None:
        raise DatasetError(
            f"column {name!r} is infinite in row {finding.infinite}: "
            "leave that cell empty if the number is not known"
        )
    return Column(name, NUMERIC, None, {}, finding.missing + finding.texts, finding.low, finding.high)


def _nominal(finding: Finding, words: dict[str, None]) -> Column:
    name = finding.name
    if len(words) > MAX_VALUES:
        raise DatasetError(
            f"column {name!r} has more than {MAX_VALUES} different texts (such as {next(iter(words))!r}), "
            "too many names to learn from: "
            f"leave it out with ignore=[{name!r}], or merge the rare ones"
        )
    return _coded(finding, words)


def _coded(finding: Finding, words: dict[str, None]) -> Column:
    """Values in a fixed order.

    In a source without types true, True and TRUE are one value, spelled as Python does.
    """
    spelled = {word: word for word in words}
    if not finding.typed and all(word in _BOOLEANS for word in words):
        spelled = _BOOLEANS
    values = tuple(in_order({spelled[word] for word in words}))
    codes = {value: code for code, value in enumerate(values)}
    code_of = {spelling: codes[value] for spelling, value in spelled.items() if value in codes}
    return Column(finding.name, NOMINAL, values, code_of, finding.missing, np.nan, np.nan)


def in_order(words: Iterable[str]) -> list[str]:
    """By number if all are numbers, else by text: the same whatever the order of the rows."""
    texts = sorted(words)
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return texts
    return texts if any(map(math.isnan, numbers)) else sorted(texts, key=float)
