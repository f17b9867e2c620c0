"""Which column may be the label, and what has to be said of it."""

from collections.abc import Mapping
from typing import NamedTuple

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.columns import settle_label
from banditboost.datasets.tables.profiles import Profile
from banditboost.text import quoted

_NAMES = (
    "action", "answer", "category", "choice", "chosen", "class", "click", "clicked", "conversion",
    "converted", "label", "labels", "outcome", "response", "result", "right", "target", "y",
)  # fmt: skip
_MOST = 100  # labels of a column that nobody has called the label
_HARDLY_ANY = 10  # rows of a label
_NEARLY_ALL = 0.95


class Label(NamedTuple):
    name: str | None
    """None if no column can be the label."""
    remarks: list[str]


def find_label(profiles: Mapping[str, Profile], wanted: str | None) -> Label:
    """The column that is asked for, or else the likeliest one, if it can be the label."""
    if wanted is not None:
        refusal = _refusal(profiles[wanted])
        return Label(None, [f"no label: {refusal}."]) if refusal else Label(wanted, _told(profiles[wanted]))
    likely = [name for name in profiles if name.lower().rpartition("_")[2] in _NAMES] or list(profiles)[-1:]
    refusals = (_refusal(profiles[name]) for name in likely if profiles[name].n_values > 1)
    remarks = [f"no label: {refusal}." for refusal in refusals if refusal]
    good = [name for name, profile in profiles.items() if _may_be_label(profile)]
    if not good:
        return Label(
            None, [*remarks, "no column can be the label: add one with the right answer of each row."]
        )
    best = max(good, key=lambda name: (name in likely, profiles[name].is_binary, good.index(name)))
    others = [repr(name) for name in good if name != best][:5]
    besides = f", which may also be {', '.join(others)}" if others else ""
    return Label(best, [f"{best!r} is taken as the label{besides}.", *remarks, *_told(profiles[best])])


def _refusal(profile: Profile) -> str | None:
    try:
        settle_label(profile.finding)
    except DatasetError as error:
        return str(error)
    return None


def _may_be_label(profile: Profile) -> bool:
    return (
        profile.n_values <= _MOST
        and (profile.is_whole or not profile.finding.numbers)
        and not profile.is_new_each_time
        and profile.finding.days is None
        and _refusal(profile) is None
    )


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
