"""Which column may be the label, and what has to be said of it."""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.columns import settle_label
from banditboost.datasets.tables.profiles import Profile, many
from banditboost.text import quoted

_NAMES = (
    "action", "answer", "category", "choice", "chosen", "class", "click", "clicked", "conversion",
    "converted", "label", "labels", "outcome", "response", "result", "right", "target", "y",
)  # fmt: skip
_MOST = 100  # labels of a column that nobody has called the label
_HARDLY_ANY = 10  # rows of a label
_NEARLY_ALL = 0.95


_FEWEST_REWARDS = 2
_REWARD = re.compile(
    r"((?:reward|revenue|profit|price|payoff|earning|income|margin|utility|gain)s?[_. :-]).+",
    re.IGNORECASE | re.DOTALL,
)


class Rewards(NamedTuple):
    """Columns that are taken for rewards."""

    said: tuple[str, ...]
    """What is said of them to `read`: a pattern, or their names."""
    columns: tuple[str, ...]
    bounds: tuple[float, float]
    """The least and the largest of them."""


class Label(NamedTuple):
    name: str | None
    """None if no column can be the label."""
    remarks: list[str]


def find_label(profiles: Mapping[str, Profile], wanted: str | None) -> Label:
    """The column that is asked for, or else the likeliest one, if it can be the label."""
    if wanted is not None:
        refusal = _refusal(profiles[wanted])
        return Label(None, [f"no label: {refusal}."]) if refusal else Label(wanted, _told(profiles[wanted]))
    called = [name for name in profiles if name.lower().rpartition("_")[2] in _NAMES]
    likely = called or list(profiles)[-1:]
    remarks = _why_not({name: profiles[name] for name in likely}, called)
    good = [name for name, profile in profiles.items() if _may_be_label(profile)]
    if not good:
        return Label(
            None, [*remarks, "no column can be the label: add one with the right answer of each row."]
        )
    best = max(good, key=lambda name: (name in likely, profiles[name].is_binary, good.index(name)))
    others = [repr(name) for name in good if name != best][:5]
    besides = f", which may also be {', '.join(others)}" if others else ""
    return Label(best, [*remarks, f"{best!r} is taken as the label{besides}.", *_told(profiles[best])])


def find_rewards(profiles: Mapping[str, Profile]) -> Rewards | None:
    """Columns of numbers that are called as what each label earns, such as price_film and price_news; None
    where there are none, or where a column is called as a label is.
    """
    if any(name.lower().rpartition("_")[2] in _NAMES for name in profiles):
        return None
    groups: dict[str, list[str]] = {}
    for name, profile in profiles.items():
        found = _REWARD.fullmatch(name)
        if found and _tells_rewards(profile):
            groups.setdefault(found[1], []).append(name)
    prefix = max(groups, key=lambda prefix: len(groups[prefix]), default="")
    names = groups.get(prefix, [])
    findings = [profiles[name].finding for name in names]
    low = min((finding.low for finding in findings), default=0.0)
    high = max((finding.high for finding in findings), default=0.0)
    if len(names) < _FEWEST_REWARDS or not low < high:
        return None
    all_called_so = [name for name in profiles if name.startswith(prefix) and name != prefix]
    said = (f"{prefix}*",) if all_called_so == names else tuple(names)
    return Rewards(said, tuple(names), (low, high))


def _tells_rewards(profile: Profile) -> bool:
    finding = profile.finding
    return (
        finding.numbers > 0
        and not (finding.texts or finding.missing or finding.lists or finding.unfit)
        and finding.infinite is None
        and finding.days is None
    )


def _why_not(likely: Mapping[str, Profile], called: Collection[str]) -> list[str]:
    """Why columns that are likely to be the label are not proposed."""
    remarks = []
    for name, profile in likely.items():
        refusal, doubt = _refusal(profile), _doubt(profile)
        if refusal is not None and (name in called or profile.n_values > 1):
            remarks.append(f"no label: {refusal}.")
        elif refusal is None and doubt is not None and name in called:
            remarks.append(f"{name!r} {doubt}: say label={name!r} if it is the label all the same.")
    return remarks


def _refusal(profile: Profile) -> str | None:
    try:
        settle_label(profile.finding)
    except DatasetError as error:
        return str(error)
    return None


def _may_be_label(profile: Profile) -> bool:
    return _doubt(profile) is None and _refusal(profile) is None


def _doubt(profile: Profile) -> str | None:
    """Why a column is not proposed although it could be the label, after its name."""
    if profile.finding.days is not None:
        return "holds dates, and is not proposed as the label"
    if profile.n_values > _MOST:
        return f"has {many(profile.n_values)} values, more than {_MOST}, and is not proposed as the label"
    if profile.is_new_each_time:
        return "has a new value in nearly every row, and is not proposed as the label"
    if profile.finding.numbers and not profile.is_whole:
        what = "numbers and texts" if profile.finding.texts else "numbers with fractions"
        return f"holds {what}, and is not proposed as the label"
    return None


def _told(profile: Profile) -> list[str]:
    """What is remarkable in a label that can be used."""
    name, counts = profile.finding.name, profile.counts
    remarks = []
    if profile.is_binary:
        remarks.append(f"label {name!r} is 0 or 1: two labels.")
    if len(counts) > _MOST:
        remarks.append(
            f"label {name!r} has {len(counts):,} values: each is learned from rows of its own, "
            "so merge them if they belong together."
        )
    rare = [value for value, count in counts.items() if count < _HARDLY_ANY]
    if rare and profile.present >= _HARDLY_ANY * len(counts):
        listed = ", ".join(f"{quoted(value)} ({counts[value]})" for value in rare[:5])
        remarks.append(
            f"label {name!r} has values in hardly any row: {listed}; merge them, or leave those rows out."
        )
    top = max(counts, key=lambda value: counts[value])
    if counts[top] >= _NEARLY_ALL * profile.present:
        share = counts[top] / profile.present
        remarks.append(
            f"label {name!r} is {quoted(top)} in {share:.1%} of rows: whoever always says so is right as "
            "often."
        )
    return remarks
