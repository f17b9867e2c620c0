"""The paper's tables, each mode beside the printed figures, made from records alone.

Every table is a `Sheet`: a grid of short texts that the terminal, Markdown, LaTeX and the report each set in
their own way (`sheets.py`). Table 4 is in `searches.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from banditboost.datasets.summary import SUMMARY
from banditboost.experiments import protocol
from banditboost.experiments.grouping import Estimate, data_of, estimate, group, learner_of, mode_of, title_of
from banditboost.experiments.records import Record, checked
from banditboost.experiments.sheets import Entry, Sheet
from banditboost.experiments.wording import finite, interval_note, signed

TOLERANCE = 0.02
"""How far a cell may be from the printed figure before it is marked."""
SCORES = {"table1": "last_accuracy", "table2": "accuracy"}
"""What each of the two tables is about."""
_Cells = Mapping[tuple[str, str, str], Sequence[Record]]
"""Data set, mode and learner -> the runs with all seeds."""


def table1(records: Iterable[Record]) -> Sheet:
    """Accuracy over the last fifth of the stream."""
    return _scores(records, "table1", "Table 1: accuracy over the last fifth of the stream")


def table2(records: Iterable[Record]) -> Sheet:
    """Accuracy over the whole stream."""
    return _scores(records, "table2", "Table 2: accuracy over the whole stream")


def _scores(records: Iterable[Record], name: str, title: str) -> Sheet:
    cells = group(checked(records, "rounds", "n_labels", SCORES[name]), data_of, mode_of, learner_of)
    algorithms = tuple(
        algorithm for algorithm in protocol.ALGORITHMS if any(algorithm == learner for *_, learner in cells)
    )
    rows = [
        row
        for data in dict.fromkeys(data for data, *_ in cells)
        for row in _block(cells, data, algorithms, name)
    ]
    spread = interval_note([estimate(runs, SCORES[name]) for runs in cells.values()])
    note = (
        f"Accuracy: {spread} With it the difference from the printed figure, bold or coloured if beyond "
        f"{TOLERANCE}. Text: what the paper's text says, wherever it speaks. Ours: what the package does. "
        "Program: the authors', where it was measured: one seed (Balance: three), Nursery with four classes."
    )
    header = ("Data", "Protocol", *algorithms)
    return Sheet(name, title, note, header, tuple(rows), tuple(numbers_of(cells, name)), names=2)


def _block(cells: _Cells, data: str, algorithms: Sequence[str], table: str) -> list[tuple[Entry, ...]]:
    """The rows of a data set: as printed, in each mode, and as the authors' program was measured."""
    streams = {mode: runs[0] for (name, mode, _), runs in cells.items() if name == data}
    title = Entry(title_of(data), f"k = {next(iter(streams.values()))['n_labels']}")
    rows = [_figures_row(title, "printed", protocol.PRINTED.get(data, {}), algorithms, table)]
    for mode, stream in streams.items():
        entries = [_score_entry(cells.get((data, mode, name)), name, table) for name in algorithms]
        rows.append((title, Entry(mode, f"{stream['rounds']:,} rounds"), *entries))
    if program := protocol.PROGRAM.get(data):
        rows.append(_figures_row(title, "program", program, algorithms, table))
    return rows


def _figures_row(
    title: Entry,
    protocol_name: str,
    figures: Mapping[str, protocol.Printed],
    algorithms: Sequence[str],
    table: str,
) -> tuple[Entry, ...]:
    known = [figures.get(algorithm) for algorithm in algorithms]
    digits = 2 if protocol_name == "printed" else 3
    entries = [Entry("-") if cell is None else Entry(f"{_part(cell, table):.{digits}f}") for cell in known]
    return title, Entry(protocol_name), *entries


def _part(cell: protocol.Printed, table: str) -> float:
    return cell.last if table == "table1" else cell.total


def printed_figure(data: str, algorithm: str, table: str) -> float | None:
    """What the paper printed, if it did."""
    cell = protocol.PRINTED.get(data, {}).get(algorithm)
    return None if cell is None else _part(cell, table)


def _score_entry(runs: Sequence[Record] | None, algorithm: str, table: str) -> Entry:
    if runs is None:
        return Entry("-")
    found, printed = estimate(runs, SCORES[table]), printed_figure(data_of(runs[0]), algorithm, table)
    if printed is None:
        return Entry(str(found))
    difference = round(found.mean - printed, 3)
    return Entry(str(found), signed(difference), side(difference))


def side(difference: float) -> str:
    """'above' or 'below' if a cell is beyond the tolerance, else nothing.

    >>> side(0.021), side(-0.02)
    ('above', '')
    """
    return "" if abs(round(difference, 3)) <= TOLERANCE else "above" if difference > 0 else "below"


def numbers_of(cells: _Cells, table: str) -> list[dict[str, Any]]:
    """The cells of a table for machines."""
    return [
        {
            "table": table,
            "data": data,
            "algorithm": algorithm,
            "protocol": mode,
            **figures(estimate(runs, SCORES[table]), printed_figure(data, algorithm, table)),
        }
        for (data, mode, algorithm), runs in cells.items()
        if algorithm in protocol.ALGORITHMS
    ]


def figures(found: Estimate, printed: float | None) -> dict[str, Any]:
    """A mean over seeds beside the printed figure."""
    return {
        "paper": printed,
        "accuracy": round(found.mean, 5),
        "half_interval": finite(found.half_width),
        "difference": None if printed is None else round(found.mean - printed, 5),
        "seeds": found.seeds,
    }


def table3() -> Sheet:
    """The data sets. Printed numbers that are wrong stand below the right ones."""
    rows, numbers = [], []
    for name, size in SUMMARY.items():
        right = {"Size": size.rows, "Dimension": size.features, "k": size.n_labels}
        printed = dict(zip(right, size.printed, strict=True))
        entries = (
            Entry(f"{right[part]:,}", f"printed {printed[part]:,}" if part in size.misprints else "")
            for part in right
        )
        rows.append((Entry(title_of(name)), *entries))
        numbers.append(
            {"table": "table3", "data": name, **{part.lower(): number for part, number in right.items()}}
        )
    note = (
        "The printed table has columns mixed up; the text's own stream lengths agree with the numbers here."
    )
    return Sheet(
        "table3",
        "Table 3: the data sets",
        note,
        ("Data", "Size", "Dimension", "k"),
        tuple(rows),
        tuple(numbers),
    )
