"""Which decimal mark the numbers of a file have, judged by all its columns."""

import math
from collections.abc import Collection
from typing import NamedTuple

from banditboost.datasets.tables.numerals import MARKS, amount
from banditboost.datasets.tables.profiles import Marks, Profile, few_texts


class Mark(NamedTuple):
    decimal: str | None
    """None if no column needs one to be named."""
    remarks: list[str]


def find_mark(profiles: Collection[Profile], separator: str | None) -> Mark:
    """The mark that most columns have; where none tells, that of files with this separator."""
    columns = [profile for profile in profiles if _may_be_amounts(profile)]
    votes = {mark: sum(_votes_for(profile.marks[mark]) for profile in columns) for mark in MARKS}
    mixed = {mark: [(column, _among_texts(column, mark)) for column in columns] for mark in MARKS}
    weaker = {mark: sum(_votes_for(marks) for _, marks in mixed[mark]) for mark in MARKS}
    usual = "," if separator == ";" else "."
    mark = max(MARKS, key=lambda mark: (votes[mark], weaker[mark], mark == usual))
    changed = [column for column in columns if column.marks[mark].fits and column.marks[mark].changes]
    changed += [column for column, marks in mixed[mark] if marks.fits and marks.changes]
    needed = [column for column in changed if column.finding.odd is not None]
    if not needed and not (separator == ";" and votes[mark]):
        return Mark(None, [])
    if not changed:
        return Mark(None, [])
    return Mark(mark, [_told(changed[0], mark, surely=votes[mark] + weaker[mark] > 0)])


def _may_be_amounts(profile: Profile) -> bool:
    finding = profile.finding
    return (
        bool(profile.present)
        and finding.days is None
        and finding.unfit is None
        and (not finding.typed or any(is_typed_amount(profile, mark) for mark in MARKS))
    )


def is_typed_amount(profile: Profile, mark: str) -> bool:
    """Whether a column of texts holds amounts, and not numbers that the source means to be names."""
    finding = profile.finding
    return finding.typed and finding.texts > 0 and profile.written_out and profile.marks[mark].fits


def _votes_for(marks: Marks) -> bool:
    return marks.fits and marks.alone


def _among_texts(profile: Profile, mark: str) -> Marks:
    """How the amounts of a column read that has a few texts among them; of other columns none fits."""
    finding, found, texts, n_words = profile.finding, Marks(), 0, 0
    if finding.typed or finding.odd is None or any(marks.fits for marks in profile.marks.values()):
        return Marks(fits=False)
    for word, count in profile.counts.items():
        one = Marks()
        one.see(word, mark, finding.numerals.get(word, math.nan))
        if one.fits:
            found = Marks(True, found.alone or one.alone, found.changes or one.changes)
        else:
            texts, n_words = texts + count, n_words + 1
    found.fits = few_texts(texts / sum(profile.counts.values()), n_words, len(profile.counts) - n_words)
    return found


def _told(profile: Profile, mark: str, surely: bool) -> str:
    words = {word: found for word in profile.counts if (found := amount(word, mark))}
    word = max(words, key=lambda word: word != f"{words[word].number:.15g}")  # not as everyone writes it
    number, other = words[word].number, MARKS[mark == MARKS[0]]
    elsewhere = amount(word, other)
    where = profile.finding.name
    told = f"numbers are read with the decimal mark {mark!r}: {word!r} in {where!r} is {number:.15g}"
    if surely or elsewhere is None or elsewhere.number == number:
        return f"{told}."
    return f"{told}. No cell tells for sure: say decimal={other!r} if it is {elsewhere.number:.15g}."
