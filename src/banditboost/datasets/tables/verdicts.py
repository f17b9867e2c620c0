"""What a column is taken for, and what has to be said of it: the one place where that is decided.

A verdict is a proposal. `settle` has the last word: what it refuses is left out, for the reason that it
gives.
"""

import re
from typing import Literal, NamedTuple

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.columns import DATES, WORDS, Use, settle
from banditboost.datasets.tables.numerals import MARKS
from banditboost.datasets.tables.profiles import Profile, few_texts, many
from banditboost.rows.sharing import MAX_VALUES
from banditboost.text import quoted

Choice = Use | Literal["ignore"]
"""What is said of a column on a command line, unless it needs no word."""
_TEXT = "is {}, of which GapBoost learns the words; models that cannot read words are played without it"
_CLOCKS = ((1e9, 2.2e9), (1e12, 2.2e12))  # from 2001 to 2039, in seconds and in milliseconds
_ID = re.compile(
    r"(?i:(.*[_\W])?(id|ids|uuid|guid|key|index|nr|no|rownames|column 1))|.*[a-z]I[dD]", re.DOTALL
)


class Verdict(NamedTuple):
    kind: str
    """In words."""
    choice: Choice | None = None
    """None if nothing has to be said: the column is read as it should be."""
    remark: str | None = None
    """What the user should know, after the name of the column, with the remedy."""


def judge(profile: Profile) -> Verdict:
    """What a feature is, such that it can be read."""
    verdict = _judge(profile)
    if verdict.choice == "ignore":
        return verdict
    try:
        settle(profile.finding, verdict.choice)
    except DatasetError as error:
        return Verdict(verdict.kind, "ignore", _behind_the_name(str(error), profile))
    return verdict


def _behind_the_name(error: str, profile: Profile) -> str:
    name = f"column {profile.finding.name!r} "
    return (
        f"is left out, since it {error.removeprefix(name)}"
        if error.startswith(name)
        else f"is left out: {error}"
    )


def _judge(profile: Profile) -> Verdict:
    finding = profile.finding
    if finding.unfit is not None:
        return Verdict("other things")
    if finding.lists:
        return _judge_lists(profile)
    if not profile.present:
        return Verdict("empty", "ignore", "is empty, and is left out")
    if profile.n_values == 1 and not finding.missing:
        return Verdict("constant", "ignore", "has one value in all rows, and is left out")
    if finding.days is not None:
        return Verdict("dates", None if finding.dated else DATES)
    if finding.odd is None and finding.numbers:
        return _judge_numbers(profile)
    if finding.numbers and not profile.is_text:
        return _judge_mixture(profile)
    return _judge_amounts(profile) or _judge_names(profile)


def _judge_lists(profile: Profile) -> Verdict:
    finding = profile.finding
    if not finding.numbers + finding.texts:
        return Verdict(f"lists: {many(profile.n_values)} words", WORDS, _TEXT.format("lists of texts"))
    remark = f"holds lists and other values: left out; words=[{finding.name!r}] takes the words of both"
    return Verdict("lists and others", "ignore", remark)


def _judge_numbers(profile: Profile) -> Verdict:
    finding = profile.finding
    if profile.leading_zeros is not None and profile.n_values <= MAX_VALUES:
        remark = f"has numbers that begin with 0, such as {profile.leading_zeros}: codes, taken as names"
        return Verdict("codes", "nominal", remark)
    if _is_clock(profile):
        remark = (
            "looks like seconds since 1970, and is taken as a number; ISO dates would tell hour and weekday"
        )
        return Verdict("clock", None, remark)
    if profile.is_whole and profile.is_new_each_time and (_is_called_id(profile) or profile.rising):
        return Verdict(
            "id",
            "ignore",
            _new_in_each_row(finding.name, f"say numeric=[{finding.name!r}] if it is none, or "),
        )
    if finding.units:
        return Verdict(f"amounts in {', '.join(finding.units)}")
    return Verdict("0 or 1" if profile.is_binary else "numbers")


def _is_clock(profile: Profile) -> bool:
    low, high = profile.finding.low, profile.finding.high
    of_these_years = any(first <= low <= high < last for first, last in _CLOCKS)
    return of_these_years and profile.is_whole and not _is_called_id(profile)


def _is_called_id(profile: Profile) -> bool:
    return _ID.fullmatch(profile.finding.name) is not None


def _new_in_each_row(name: str, remedy: str = "say ") -> str:
    kept = f"nominal=[{name!r}] to keep its values as names"
    return f"has a new value in nearly every row, as an id: it is left out; {remedy}{kept}"


def _judge_mixture(profile: Profile) -> Verdict:
    finding = profile.finding
    assert finding.odd is not None
    word, where = finding.odd
    told = f"mixes numbers and texts (the first text is {quoted(word)}, in {where})"
    if few_texts(finding.texts / profile.present, len(finding.words), len(finding.numerals)):
        return Verdict("numbers, some texts", "numeric", f"{told}: {finding.texts:,} texts count as missing")
    if profile.is_new_each_time:
        return Verdict("id", "ignore", _new_in_each_row(finding.name))
    if profile.n_values <= MAX_VALUES:
        return Verdict("names", "nominal", f"{told}: all values are taken as names")
    return Verdict(
        "numbers and texts", "ignore", f"{told}, too many of each: left out; part it in two columns"
    )


def _judge_amounts(profile: Profile) -> Verdict | None:
    """Amounts that the file's decimal mark does not make numbers of."""
    fitting = [mark for mark in MARKS if profile.marks[mark].fits]
    if not fitting or profile.finding.typed or profile.finding.odd is None:
        return None
    remark = f"has amounts with the decimal mark {fitting[0]!r}, where other columns have another: left out; "
    return Verdict("amounts", "ignore", f"{remark}write all numbers in one way")


def _judge_names(profile: Profile) -> Verdict:
    if profile.is_text:
        return Verdict(f"text: {many(len(profile.words))} words", WORDS, _TEXT.format("text"))
    if profile.is_new_each_time:
        return Verdict("id", "ignore", _new_in_each_row(profile.finding.name))
    if profile.n_values > MAX_VALUES:
        remark = (
            f"has more than {MAX_VALUES} names: the frequent ones have places of their own, the others share"
        )
        return Verdict("names, many", None, remark)
    words = {word.lower() for word in profile.counts}
    return Verdict("true or false" if words <= {"true", "false"} else "names")
