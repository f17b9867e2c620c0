"""How far runs agree with the printed tables: cells within 0.02, and the order of the algorithms.

Made from records alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from banditboost.experiments.grouping import data_of, estimate, group, lead, learner_of, mode_of, title_of
from banditboost.experiments.protocol import ALGORITHMS, PRINTED, STREAMS
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
    parts = [*_parts(found)]
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
    note = "Either way; below, how many of the others lie above and below it."
    return Sheet("within", title, note, ("Cells", *modes), tuple(rows), tuple(numbers))


def _parts(found: Sequence[Cell]) -> Iterator[tuple[str, list[Cell]]]:
    """All cells, then those of each table, booster and data set."""
    yield "all", list(found)
    some: Mapping[str, Callable[[Cell], bool]] = {
        **{_NAMES[table]: lambda cell, table=table: cell.table == table for table in SCORES},
        **{name: lambda cell, name=name: cell.algorithm == name for name in ALGORITHMS},
        **{title_of(name): lambda cell, name=name: cell.data == name for name in STREAMS},
    }
    for name, belongs in some.items():
        chosen = [cell for cell in found if belongs(cell)]
        if chosen:
            yield name, chosen


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
            shown = [
                _Row(
                    data, mode, table, {a: runs[data, mode, a] for a in ALGORITHMS if (data, mode, a) in runs}
                )
                for mode in modes
            ]
            printed = {
                name: figure for name in shown[0].runs if (figure := printed_figure(data, name, table))
            }
            entries = [Entry(_ranked(printed)), *(row.entry(score) for row in shown)]
            rows.append((Entry(title_of(data)), Entry(_NAMES[table]), *entries))
            numbers += [number for row in shown for number in row.swapped(score)]
    note = (
        "The best first; = are printed alike. Below: pairs that change places against print, those in "
        "parentheses by no more than the 95 % interval of their difference on the same seeds."
    )
    header = ("Data", "Table", "Printed", *modes)
    return Sheet("orders", "The order of the algorithms", note, header, tuple(rows), tuple(numbers))


@dataclass(frozen=True)
class _Row:
    """A row of a table in a mode."""

    data: str
    mode: str
    table: str
    runs: Mapping[str, Sequence[Record]]

    def entry(self, score: str) -> Entry:
        means = {name: estimate(found, score).mean for name, found in self.runs.items()}
        pairs = [
            f"{number['ahead']}, {number['behind']}"
            if number["clear"]
            else f"({number['ahead']}, {number['behind']})"
            for number in self.swapped(score)
        ]
        return Entry(_ranked(means), "; ".join(pairs))

    def swapped(self, score: str) -> list[dict[str, Any]]:
        """Pairs whose printed order is the other one; equal figures have no order."""
        found = []
        for pair in combinations(self.runs, 2):
            first, second = (printed_figure(self.data, name, self.table) for name in pair)
            if first is None or second is None or first == second:
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


def _ranked(figures: Mapping[str, float]) -> str:
    """Names by their figures, the highest first.

    >>> _ranked({"AdaFull": 0.9, "OptFull": 0.8, "AdaBandit": 0.9})
    'AdaFull = AdaBandit > OptFull'
    """
    names = sorted(figures, key=lambda name: -figures[name])
    text = names[0]
    for before, name in zip(names, names[1:], strict=False):
        text += (" = " if figures[before] == figures[name] else " > ") + name
    return text
