"""From a name to a data set."""

import os
from typing import Literal

from banditboost.datasets import files, paper, rules
from banditboost.datasets.dataset import Dataset
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.origin import ORIGINS

Variant = Literal["paper", "raw"]

_GENERATED = {"balance": rules.balance, "car": rules.car, "nursery": rules.nursery}


def names() -> tuple[str, ...]:
    """The data sets that `load` knows, in the order of the paper's tables."""
    return tuple(ORIGINS)


def load(name: str, variant: Variant = "paper", directory: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set by name.

    Balance, Car and Nursery are generated; Movement, Mice and Isolet are read from `directory`, or from the directory
    that the environment variable BANDITBOOST_DATA names.

    `variant="paper"` is the data as the authors played it. `variant="raw"` is the plain data: nominal columns stay
    nominal, missing values stay missing, all feature columns are there (not Mice's MouseID, Genotype, Treatment and
    Behavior: the first identifies the animal, the others are the label).

    >>> from banditboost import datasets
    >>> datasets.load("car").kinds
    ('nominal', 'nominal', 'numeric', 'numeric', 'nominal', 'nominal')
    >>> set(datasets.load("car", variant="raw").kinds)
    {'nominal'}
    """
    if name not in ORIGINS:
        raise DatasetError(f"unknown data set {name!r}: the known ones are {', '.join(ORIGINS)}")
    if variant not in ("paper", "raw"):
        raise DatasetError(f"unknown variant {variant!r} of {name!r}: it is 'paper' or 'raw'")
    raw = _GENERATED[name]() if name in _GENERATED else files.load(files.FILES[name], directory)
    return raw if variant == "raw" else paper.PREPARE[name](raw)
