"""Which decimal mark the numbers of a file have, judged by all its columns."""

from collections.abc import Collection
from typing import NamedTuple

from banditboost.datasets.tables.numerals import MARKS, amount
from banditboost.datasets.tables.profiles import Profile


class Mark(NamedTuple):
    decimal: str | None
    """None if no column needs one to be named."""
    remarks: list[str]


def find_mark(profiles: Collection[Profile], separator: str | None) -> Mark:
    """The mark that most columns have; where none tells, that of files with this separator."""
    columns = [profile for profile in profiles if _may_be_amounts(profile)]
    votes = {mark: sum(_votes_for(mark, profile) for profile in columns) for mark in MARKS}
    usual = "," if separator == ";" else "."
    mark = max(MARKS, key=lambda mark: (votes[mark], mark == usual))
    changed = [column for column in columns if column.marks[mark].fits and column.marks[mark].changes]
    needed = [column for column in changed if column.finding.odd is not None]
    if not needed and not (separator == ";" and votes[mark]):
        return Mark(None, [])
    if not changed:
        return Mark(None, [])
    return Mark(mark, [_told(changed[0], mark, surely=votes[mark] > 0)])


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


def _votes_for(mark: str, profile: Profile) -> bool:
    return profile.marks[mark].fits and profile.marks[mark].alone


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
