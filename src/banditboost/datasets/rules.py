"""Balance, Car and Nursery: the full product of their attribute values, labelled by rule.

Rows come in the order of the UCI files: nested loops in attribute order, the last attribute running fastest.
The tables were recovered from the data (they are exact); level 0 is the worst everywhere.
"""

from collections.abc import Mapping

import numpy as np

from banditboost.datasets.dataset import NOMINAL, NUMERIC, Dataset, FloatArray, IntArray
from banditboost.datasets.origin import ORIGINS

Attributes = Mapping[str, tuple[str, ...]]


def balance() -> Dataset:
    """Which way a scale tips: left, right or balanced. Four numbers from 1 to 5."""
    features = ("Left-Weight", "Left-Distance", "Right-Weight", "Right-Distance")
    columns = 1 + _every_combination(5, 5, 5, 5)
    left_weight, left_distance, right_weight, right_distance = columns
    tips_right = np.sign(right_weight * right_distance - left_weight * left_distance)
    return Dataset(
        name="balance",
        features=features,
        kinds=(NUMERIC,) * 4,
        values=(None,) * 4,
        X=_matrix(columns),
        y=tips_right + 1,
        labels=("L", "B", "R"),
        licence=ORIGINS["balance"].licence,
        source=ORIGINS["balance"].source,
    )


def car() -> Dataset:
    """How acceptable a car is. Six nominal attributes."""
    columns = _every_combination(*map(len, CAR_ATTRIBUTES.values()))
    buying, maint, doors, persons, lug_boot, safety = columns
    tech = _TECH[_COMFORT[_ROOM[doors, persons], lug_boot], safety]
    return _nominal("car", CAR_ATTRIBUTES, columns, _CAR[_PRICE[buying, maint], tech], CAR_LABELS)


def nursery() -> Dataset:
    """How strongly a child is recommended to a nursery school. Eight nominal attributes."""
    columns = _every_combination(*map(len, NURSERY_ATTRIBUTES.values()))
    parents, has_nurs, form, children, housing, finance, social, health = columns
    home = _STRUCT_FINAN[_STRUCTURE[form, children], _HOME[housing, finance]]
    family = _FAMILY[_EMPLOY[parents, has_nurs], home]
    return _nominal(
        "nursery", NURSERY_ATTRIBUTES, columns, _NURSERY[family, _SOC_HEALTH[social, health]], NURSERY_LABELS
    )


def _every_combination(*sizes: int) -> IntArray:
    """int64[attributes, rows]: codes of all combinations, the last attribute running fastest."""
    return np.indices(sizes, dtype=np.int64).reshape(len(sizes), -1)


def _matrix(columns: IntArray) -> FloatArray:
    return np.ascontiguousarray(columns.T, dtype=np.float64)


def _nominal(
    name: str, attributes: Attributes, columns: IntArray, y: IntArray, labels: tuple[str, ...]
) -> Dataset:
    return Dataset(
        name=name,
        features=tuple(attributes),
        kinds=(NOMINAL,) * len(attributes),
        values=tuple(attributes.values()),
        X=_matrix(columns),
        y=y,
        labels=labels,
        licence=ORIGINS[name].licence,
        source=ORIGINS[name].source,
    )


def _table(*rows: str) -> IntArray:
    """A table of levels, one digit for each cell."""
    return np.array([[int(cell) for cell in row] for row in rows], dtype=np.int64)


CAR_ATTRIBUTES: Attributes = {
    "buying": ("vhigh", "high", "med", "low"),
    "maint": ("vhigh", "high", "med", "low"),
    "doors": ("2", "3", "4", "5more"),
    "persons": ("2", "4", "more"),
    "lug_boot": ("small", "med", "big"),
    "safety": ("low", "med", "high"),
}
CAR_LABELS = ("unacc", "acc", "good", "vgood")

_PRICE = _table("0011", "0111", "1123", "1233")  # buying x maint
_ROOM = _table("021", "023", "033", "033")  # doors x persons
_COMFORT = _table("000", "012", "112", "122")  # ROOM x lug_boot
_TECH = _table("000", "012", "023")  # COMFORT x safety
_CAR = _table("0000", "0011", "0113", "0123")  # PRICE x TECH -> label

NURSERY_ATTRIBUTES: Attributes = {
    "parents": ("usual", "pretentious", "great_pret"),
    "has_nurs": ("proper", "less_proper", "improper", "critical", "very_crit"),
    "form": ("complete", "completed", "incomplete", "foster"),
    "children": ("1", "2", "3", "more"),
    "housing": ("convenient", "less_conv", "critical"),
    "finance": ("convenient", "inconv"),
    "social": ("nonprob", "slightly_prob", "problematic"),
    "health": ("recommended", "priority", "not_recom"),
}
NURSERY_LABELS = ("not_recom", "spec_prior", "priority", "very_recom", "recommend")

_EMPLOY = _table("32210", "22100", "11000")  # parents x has_nurs
_STRUCTURE = _table("2100", "1100", "1000", "0000")  # form x children
_HOME = _table("21", "11", "00")  # housing x finance
_STRUCT_FINAN = _table("001", "011", "112")  # STRUCTURE x HOME
_SOC_HEALTH = _table("210", "210", "110")  # social x health
_FAMILY = _table("012", "122", "233", "234")  # EMPLOY x STRUCT_FINAN
_NURSERY = _table("011", "012", "022", "023", "024")  # FAMILY x SOC_HEALTH -> label
