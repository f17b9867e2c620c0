"""From a name to a data set, and what is known about each."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from banditboost.datasets import files, paper, rules, to_the_letter
from banditboost.datasets.dataset import Dataset
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.origin import ORIGINS
from banditboost.datasets.summary import SUMMARY
from banditboost.text import quoted

Variant = Literal["paper", "text", "raw"]
Directory = str | os.PathLike[str] | None

_PREPARE = {"paper": paper.PREPARE, "text": to_the_letter.PREPARE}
_GENERATED = {"balance": rules.balance, "car": rules.car, "nursery": rules.nursery}


def names() -> tuple[str, ...]:
    """The data sets that `load` knows, in the order of the paper's tables."""
    return tuple(ORIGINS)


def load(name: str, variant: Variant = "paper", directory: Directory = None) -> Dataset:
    """Load a data set by name.

    Balance, Car and Nursery are generated. Movement, Mice and Isolet are read from `directory`, as gzip CSV
    or as UCI's archive; without one from the directory that the environment variable BANDITBOOST_DATA names,
    else they are downloaded from UCI into the cache, once.

    `variant="paper"` is the data as the authors played it. `variant="text"` is the data as the paper's text
    has it: Isolet's columns are standardised before they become 50 principal components, and Movement lacks
    the row with a missing value; the others are the same. `variant="raw"` is the plain data: nominal columns
    stay nominal, missing values stay missing, all feature columns are there (not Mice's MouseID, Genotype,
    Treatment and Behavior: the first identifies the animal, the others are the label).

    >>> from banditboost import datasets
    >>> datasets.load("car").kinds
    ('nominal', 'nominal', 'numeric', 'numeric', 'nominal', 'nominal')
    >>> set(datasets.load("car", variant="raw").kinds)
    {'nominal'}
    """
    _check(name)
    if not isinstance(variant, str) or variant not in get_args(Variant):
        raise DatasetError(f"unknown variant {quoted(variant)} of {name!r}: it is 'paper', 'text' or 'raw'")
    raw = _GENERATED[name]() if name in _GENERATED else files.load(files.FILES[name], directory)
    return raw if variant == "raw" else _PREPARE[variant][name](raw)


def download(name: str) -> Path | None:
    """Download a data set from UCI now, into the cache, and return where it is.

    A data set that is built in has no file: the answer is None. A copy that is there already is downloaded
    again.
    """
    _check(name)
    return None if name in _GENERATED else files.fetch(files.FILES[name])


@dataclass(frozen=True)
class Info:
    """What is known about a data set without loading it.

    >>> from banditboost import datasets
    >>> sum(fact.rows for fact in datasets.info())
    189823
    """

    name: str
    title: str
    rows: int
    features: int
    """How many features the paper played."""
    raw_features: int
    """All feature columns of the source."""
    classes: int
    licence: str
    source: str
    """Title, makers, address."""
    built_in: bool
    path: Path | None
    """Where the copy is that `load` would read."""

    @property
    def copy(self) -> str:
        """Where the copy is, in words."""
        return "built in" if self.built_in else str(self.path or "not here yet")


def info(directory: Directory = None) -> tuple[Info, ...]:
    """The facts about each data set, in the order of the paper's tables.

    >>> from banditboost import datasets
    >>> [(fact.name, fact.rows, fact.features, fact.classes, fact.copy) for fact in datasets.info()][1]
    ('car', 1728, 6, 4, 'built in')
    """
    return tuple(_facts(name, directory) for name in names())


def _facts(name: str, directory: Directory) -> Info:
    size, origin, built_in = SUMMARY[name], ORIGINS[name], name in _GENERATED
    path = None if built_in else files.locate(files.FILES[name], directory)
    facts = size.rows, size.features, size.raw_features, size.n_labels
    return Info(name, origin.title, *facts, origin.licence, origin.source, built_in, path)


def _check(name: str) -> None:
    if not isinstance(name, str) or name not in ORIGINS:
        raise DatasetError(f"unknown data set {quoted(name)}: the known ones are {', '.join(ORIGINS)}")
