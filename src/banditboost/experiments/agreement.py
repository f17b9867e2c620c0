"""How far runs agree with the printed tables: cells within 0.02, and the order of the algorithms.

Made from records alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from banditboost.experiments.grouping import (
    TITLES,
    data_of,
    estimate,
    group,
    lead,
    learner_of,
    mode_of,
    title_of,
)
from banditboost.experiments.protocol import ALGORITHMS, PRINTED
from banditboost.experiments.records import Record, checked
from banditboost.experiments.sheets import Entry, Sheet
from banditboost.experiments.tables import SCORES, TOLERANCE, printed_figure, side

_NAMES = {"table1": "Table 1", "table2": "Table 2"}


@dataclass(frozen=True)
class Cell:
    """A cell of Table 1 or 2 in a mode: what was printed, and the mean over seeds."""

    table: str
    data: str
    algorithm: str
    mode: str
    printed: float
    mean: float

    @property
    def side(self) -> str:
        """'above', 'below' or, within the tolerance, nothing."""
        return side(self.mean - self.printed)


def cells(records: Iterable[Record]) -> list[Cell]:
    """Every cell of Tables 1 and 2 that was printed and played, in the tables' order."""
    runs = group(checked(records, "rounds", *SCORES.values()), data_of, mode_of, learner_of)
    return [
        Cell(table, data, algorithm, mode, printed, estimate(found, score).mean)
        for table, score in SCORES.items()
        for (data, mode, algorithm), found in runs.items()
        if (printed := printed_figure(data, algorithm, table)) is not None
    ]


def within(records: Iterable[Record]) -> Sheet:
    """How many cells of Tables 1 and 2 lie within 0.02 of the printed figure: of all, by booster, by data."""
    found = cells(records)
    modes = list(dict.fromkeys(cell.mode for cell in found))
    parts = list(_parts(found))
    rows = [
        (Entry(name), *(_count_entry([cell for cell in some if cell.mode == mode]) for mode in modes))
        for name, some in parts
    ]
    numbers = [
        {"part": name, "protocol": mode, **_counts([cell for cell in some if cell.mode == mode])}
        for name, some in parts
        for mode in modes
    ]
    title = f"Cells of Tables 1 and 2 within {TOLERANCE} of the printed figure"
    note = "Either way; then how many of the others lie above and below it."
    return Sheet("within", title, note, ("Cells", *modes), tuple(rows), tuple(numbers))


def _parts(found: Sequence[Cell]) -> Iterator[tuple[str, Sequence[Cell]]]:
    """All cells, then those of each table, booster and data set."""
    yield "all", found
    boosters = {name: name for name in ALGORITHMS}
    for field, titles in (("table", _NAMES), ("algorithm", boosters), ("data", TITLES)):
        for value, title in titles.items():
            some = [cell for cell in found if getattr(cell, field) == value]
            if some:
                yield title, some


def _counts(found: Sequence[Cell]) -> dict[str, int]:
    sides = [cell.side for cell in found]
    return {
        "cells": len(sides),
        "within": sides.count(""),
        "above": sides.count("above"),
        "below": sides.count("below"),
    }


def _count_entry(found: Sequence[Cell]) -> Entry:
    counts = _counts(found)
    return Entry(
        f"{counts['within']} of {counts['cells']}", f"{counts['above']} above, {counts['below']} below"
    )


def orders(records: Iterable[Record]) -> Sheet:
    """The algorithms of each row of Tables 1 and 2, the best first: printed, and in each mode."""
    runs = group(checked(records, "rounds", *SCORES.values()), data_of, mode_of, learner_of)
    modes = list(dict.fromkeys(mode for _, mode, _ in runs))
    rows, numbers = [], []
    for table, score in SCORES.items():
        for data in (name for name in PRINTED if any(name == key[0] for key in runs)):
            shown = [_row(runs, data, mode, table) for mode in modes]
            entries = [Entry(_ranked(_printed(shown))), *(row.entry(score) for row in shown)]
            rows.append((Entry(title_of(data)), Entry(_NAMES[table]), *entries))
            numbers += [number for row in shown for number in row.swapped(score)]
    note = (
        "The best first; = are alike. Then pairs that change places against print, with a question mark if "
        "by no more than the 95 % interval of their difference on the same seeds."
    )
    header = ("Data", "Table", "Printed", *modes)
    return Sheet("orders", "The order of the algorithms", note, header, tuple(rows), tuple(numbers), names=2)


@dataclass(frozen=True)
class _Row:
    """A row of a table in a mode."""

    data: str
    mode: str
    table: str
    runs: Mapping[str, Sequence[Record]]

    def entry(self, score: str) -> Entry:
        means = {name: estimate(found, score).mean for name, found in self.runs.items()}
        return Entry(_ranked(means), ", ".join(map(_pair, self.swapped(score))))

    def swapped(self, score: str) -> list[dict[str, Any]]:
        """Pairs whose printed order is the other one; equal figures have no order."""
        found = []
        for pair in combinations(self.runs, 2):
            first, second = (_figure(self, name) for name in pair)
            if first == second:
                continue
            behind, ahead = pair if first > second else pair[::-1]
            difference = lead(self.runs[ahead], self.runs[behind], score)
            if difference.mean > 0:
                found.append(
                    {
                        "table": self.table,
                        "data": self.data,
                        "protocol": self.mode,
                        "ahead": ahead,
                        "behind": behind,
                        "difference": round(difference.mean, 5),
                        "clear": difference.is_clear,
                    }
                )
        return found


def _pair(swapped: Mapping[str, Any]) -> str:
    text = f"{swapped['ahead']} before {swapped['behind']}"
    return text if swapped["clear"] else f"{text}?"


def _row(runs: Mapping[Any, Sequence[Record]], data: str, mode: str, table: str) -> _Row:
    played = {name: runs[data, mode, name] for name in ALGORITHMS if (data, mode, name) in runs}
    return _Row(data, mode, table, played)


def _printed(shown: Sequence[_Row]) -> dict[str, float]:
    """The printed figures of the algorithms that any mode has played."""
    played = {name for row in shown for name in row.runs}
    return {name: _figure(shown[0], name) for name in ALGORITHMS if name in played}


def _figure(row: _Row, algorithm: str) -> float:
    cell = PRINTED[row.data][algorithm]
    return cell.last if row.table == "table1" else cell.total


def _ranked(figures: Mapping[str, float]) -> str:
    """Names by their figures, the highest first.

    >>> _ranked({"AdaFull": 0.9, "OptFull": 0.8, "AdaBandit": 0.9})
    'AdaFull = AdaBandit > OptFull'
    """
    names = sorted(figures, key=lambda name: -figures[name])
    text = names[0] if names else "-"
    for before, name in pairwise(names):
        text += (" = " if figures[before] == figures[name] else " > ") + name
    return text
