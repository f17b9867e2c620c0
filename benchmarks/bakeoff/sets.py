"""The tables: index.csv and a CSV for each, in the folder `bakeoff` of BANDITBOOST_DATA."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from banditboost import datasets
from banditboost.datasets import Stream

SAME_TABLE = {"cpu": "machine.cpu"}
"""Two names of one table."""
PLAYED = frozenset({21, 23, 28, 32, 54, 953, 979, 991, 997, 1019})
"""Made from tables that GapBoost had played before: car, contraceptive, optdigits, penbased, vehicle, splice,
waveform (with fewer columns), car, balance, penbased.
"""
NAMES_OF_ROWS = {953: ("c0",)}
"""Columns that nobody gets: each row of splice has a name of its own, and GapBoost takes 256 to a column."""


@dataclass(frozen=True)
class Set:
    """One of OpenML's sets, as the index describes it."""

    id: int
    name: str
    rows: int
    labels: int
    kinds: str
    """A letter for each column: n for numbers, c for names."""

    @property
    def nominal(self) -> bool:
        """Has it columns of names?"""
        return "c" in self.kinds

    def stream(self, folder: Path) -> Stream:
        """Its rows in the order of the file, which was shuffled once."""
        ignored = NAMES_OF_ROWS.get(self.id, ())
        columns = [name for i, kind in enumerate(self.kinds) if (name := f"{kind}{i}") not in ignored]
        return datasets.read(
            folder / f"{self.id}.csv.gz",
            "label",
            numeric=[column for column in columns if column[0] == "n"],
            nominal=[column for column in columns if column[0] == "c"],
            ignore=ignored,
        ).stream()


def folder() -> Path | None:
    """Where the tables are, or None."""
    data = os.environ.get("BANDITBOOST_DATA")
    found = Path(data) / "bakeoff" if data else None
    return found if found is not None and (found / "index.csv").exists() else None


def read(path: Path) -> list[Set]:
    """All sets of an index, the shortest first."""
    with path.open(newline="", encoding="utf-8") as file:
        found = [
            Set(int(line["id"]), line["name"], int(line["rows"]), int(line["labels"]), line["kinds"])
            for line in csv.DictReader(file)
        ]
    return sorted(found, key=lambda item: (item.rows, item.id))


def originals(names: Iterable[tuple[int, str]]) -> set[int]:
    """Ids without near-duplicates: of the sets made from one table, that with the lowest id."""
    kept: dict[str, int] = {}
    for number, name in sorted(names):
        kept.setdefault(SAME_TABLE.get(name, name), number)
    return set(kept.values())
