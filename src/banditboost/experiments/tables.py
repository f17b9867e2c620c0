"""The paper's tables, with ours beside the printed figures, made from records alone.

Every table is a `Sheet`: a grid of short texts that the terminal, Markdown, LaTeX and the report each set in
their own way (`sheets.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from banditboost.datasets.summary import SUMMARY
from banditboost.experiments import protocol
from banditboost.experiments.grouping import (
    Estimate,
    data_of,
    estimate,
    exploration_of,
    group,
    learner_of,
    title_of,
)
from banditboost.experiments.records import Record, checked
from banditboost.experiments.sheets import Entry, Sheet
from banditboost.experiments.wording import finite, interval_note, signed

TOLERANCE = 0.02
"""How far a cell may be from the printed figure before it is marked."""


def table1(records: Iterable[Record]) -> Sheet:
    """Accuracy over the last fifth of the stream."""
    return _scores(records, "table1", "Table 1: accuracy over the last fifth of the stream", "last_accuracy")


def table2(records: Iterable[Record]) -> Sheet:
    """Accuracy over the whole stream."""
    return _scores(records, "table2", "Table 2: accuracy over the whole stream", "accuracy")


def _scores(records: Iterable[Record], name: str, title: str, score: str) -> Sheet:
    cells = group(checked(records, "rounds", "n_labels", score), data_of, learner_of)
    datasets = list(dict.fromkeys(data for data, _ in cells))
    algorithms = [
        algorithm for algorithm in protocol.ALGORITHMS if any(algorithm == learner for _, learner in cells)
    ]
    rows, numbers = [], []
    for data in datasets:
        entries = [_stream_entry(next(members for (name, _), members in cells.items() if name == data))]
        for algorithm in algorithms:
            members = cells.get((data, algorithm))
            if members is None:
                entries.append(Entry("-"))
                continue
            ours, printed = estimate(members, score), _printed(data, algorithm, score)
            entries.append(_score_entry(ours, printed))
            numbers.append({"table": name, "data": data, "algorithm": algorithm, **_figures(ours, printed)})
        rows.append(tuple(entries))
    spread = interval_note([estimate(members, score) for members in cells.values()])
    note = f"Ours: {spread} Below: the paper's figure and the difference, coloured if beyond {TOLERANCE}."
    return Sheet(name, title, note, ("Data", *algorithms), tuple(rows), tuple(numbers))


def _printed(data: str, algorithm: str, score: str) -> float | None:
    printed = protocol.PRINTED.get(data, {}).get(algorithm)
    return None if printed is None else printed.last if score == "last_accuracy" else printed.total


def _stream_entry(records: Sequence[Record]) -> Entry:
    record = records[0]
    return Entry(title_of(data_of(record)), f"k = {record['n_labels']}, {record['rounds']:,} rounds")


def _score_entry(ours: Estimate, printed: float | None) -> Entry:
    if printed is None:
        return Entry(str(ours))
    difference = round(ours.mean - printed, 3)
    mark = "" if abs(difference) <= TOLERANCE else "above" if difference > 0 else "below"
    return Entry(str(ours), f"paper {printed:.2f}, {signed(difference)}", mark)


def _figures(ours: Estimate, printed: float | None) -> dict[str, Any]:
    return {
        "paper": printed,
        "ours": round(ours.mean, 5),
        "half_interval": finite(ours.half_width),
        "difference": None if printed is None else round(ours.mean - printed, 5),
        "seeds": ours.seeds,
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


def table4(records: Iterable[Record]) -> Sheet:
    """The exploration rates that a grid search finds, beside the paper's choice."""
    records = checked(records, "rounds", "n_labels", "accuracy", "exploration")
    algorithms = tuple(group(records, learner_of))
    rows, numbers = [], []
    for data, members in group(records, data_of).items():
        printed = protocol.EXPLORATION.get(data)
        searches = {"one for all": members, **group(members, learner_of)}
        entries = [_search_entry(_rates(runs), printed) for runs in searches.values()]
        rows.append((_stream_entry(members), Entry(_rate(printed)), *entries))
        numbers += [
            {
                "table": "table4",
                "data": data,
                "algorithm": algorithm,
                "paper_rho": printed,
                "rho": rate,
                **_figures(found, None),
            }
            for algorithm, runs in searches.items()
            for rate, found in _rates(runs).items()
        ]
    spread = interval_note(
        found for runs in group(records, data_of).values() for found in _rates(runs).values()
    )
    note = (
        "The best rate of the grid, its accuracy over the whole (shorter) stream, "
        f"and what it gains over the paper's rate. Accuracy: {spread}"
    )
    header = ("Data", "ρ of the paper", "One ρ for all", *algorithms)
    return Sheet("table4", "Table 4: exploration rates", note, header, tuple(rows), tuple(numbers))


def _rates(records: Iterable[Record]) -> dict[float, Estimate]:
    """The accuracy of each rate, as a mean over seeds.

    Of several learners it is their mean in each seed, so that the interval is over seeds, not over learners.
    """
    return {rate: _mean_learner(runs) for rate, runs in sorted(group(records, exploration_of).items())}


def _mean_learner(records: Sequence[Record]) -> Estimate:
    by_seed = group(records, lambda record: record["task"]["seed"]).values()
    return estimate(
        [{"accuracy": fmean(record["accuracy"] for record in runs)} for runs in by_seed], "accuracy"
    )


def _best_rate(rates: Mapping[float, Estimate]) -> float:
    """The best rate; the lowest of several that are equally good."""
    return max(sorted(rates), key=lambda rate: rates[rate].mean)


def _search_entry(rates: Mapping[float, Estimate], printed: float | None) -> Entry:
    best = _best_rate(rates)
    gain = (
        f", {signed(rates[best].mean - rates[printed].mean)}"
        if printed is not None and printed in rates
        else ""
    )
    return Entry(_rate(best), f"{rates[best]}{gain}")


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:g}"
