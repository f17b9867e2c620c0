"""The paper's tables, with ours beside the printed figures, made from records alone.

Every table is a `Sheet`: a grid of short texts that the terminal, Markdown and the report each set in their own way.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from banditboost.datasets.summary import SUMMARY
from banditboost.experiments import protocol
from banditboost.experiments.grouping import Estimate, Record, data_of, estimate, exploration_of, group, learner_of, title_of
from banditboost.experiments.tune import Ranked

TOLERANCE = 0.02
"""How far a cell may be from the printed figure before it is marked."""


@dataclass(frozen=True)
class Entry:
    """One place of a sheet: what to read first, what to read below it, and whether to mark it."""

    main: str
    detail: str = ""
    mark: str = ""
    """'above' or 'below' if ours is off the paper's by more than the tolerance."""


@dataclass(frozen=True)
class Sheet:
    """A table to be shown. `numbers` is the same for machines: one row for each mean."""

    name: str
    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    numbers: tuple[dict[str, Any], ...]


def table1(records: Iterable[Record]) -> Sheet:
    """Accuracy over the last fifth of the stream."""
    return _scores(records, "table1", "Table 1: accuracy over the last fifth of the stream", "last_accuracy")


def table2(records: Iterable[Record]) -> Sheet:
    """Accuracy over the whole stream."""
    return _scores(records, "table2", "Table 2: accuracy over the whole stream", "accuracy")


def _scores(records: Iterable[Record], name: str, title: str, score: str) -> Sheet:
    cells = group(records, data_of, learner_of)
    datasets = list(dict.fromkeys(data for data, _ in cells))
    algorithms = [algorithm for algorithm in protocol.ALGORITHMS if any(algorithm == learner for _, learner in cells)]
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
    note = f"Ours ± half the 95 % interval over seeds; the paper's figure and the difference, coloured if beyond {TOLERANCE}."
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
    return Entry(str(ours), f"paper {printed:.2f}, {_signed(difference)}", mark)


def _signed(number: float) -> str:
    return f"{round(number, 3) + 0.0:+.3f}".replace("-", "−")


def _figures(ours: Estimate, printed: float | None) -> dict[str, Any]:
    return {
        "paper": printed,
        "ours": round(ours.mean, 5),
        "half_interval": _finite(ours.half_width),
        "difference": None if printed is None else round(ours.mean - printed, 5),
        "seeds": ours.seeds,
    }


def table3() -> Sheet:
    """The data sets. Printed numbers that are wrong stand below the right ones."""
    rows, numbers = [], []
    for name, size in SUMMARY.items():
        right = {"Size": size.rows, "Dimension": size.features, "k": size.n_labels}
        printed = dict(zip(right, size.printed, strict=True))
        entries = (Entry(f"{right[part]:,}", f"printed {printed[part]:,}" if part in size.misprints else "") for part in right)
        rows.append((Entry(title_of(name)), *entries))
        numbers.append({"table": "table3", "data": name, **{part.lower(): number for part, number in right.items()}})
    note = "The printed table has columns mixed up; the text's own stream lengths agree with the numbers here."
    return Sheet("table3", "Table 3: the data sets", note, ("Data", "Size", "Dimension", "k"), tuple(rows), tuple(numbers))


def table4(records: Iterable[Record]) -> Sheet:
    """The exploration rates that a grid search finds, beside the paper's choice."""
    records = list(records)
    algorithms = tuple(group(records, learner_of))
    rows, numbers = [], []
    for data, members in group(records, data_of).items():
        printed = protocol.EXPLORATION.get(data)
        searches = {"one for all": members, **group(members, learner_of)}
        entries = [_search_entry(_rates(runs), printed) for runs in searches.values()]
        rows.append((_stream_entry(members), Entry(_rate(printed)), *entries))
        numbers += [
            {"table": "table4", "data": data, "algorithm": algorithm, "paper_rho": printed, "rho": rate, **_figures(found, None)}
            for algorithm, runs in searches.items()
            for rate, found in _rates(runs).items()
        ]
    note = "The best rate of the grid, its accuracy over the whole (shorter) stream, and what it gains over the paper's rate."
    header = ("Data", "ρ of the paper", "One ρ for all", *algorithms)
    return Sheet("table4", "Table 4: exploration rates", note, header, tuple(rows), tuple(numbers))


def _rates(records: Iterable[Record]) -> dict[float, Estimate]:
    return {rate: estimate(runs, "accuracy") for rate, runs in sorted(group(records, exploration_of).items())}


def _best_rate(rates: Mapping[float, Estimate]) -> float:
    """Of equally good rates the lowest."""
    return max(sorted(rates), key=lambda rate: rates[rate].mean)


def _search_entry(rates: Mapping[float, Estimate], printed: float | None) -> Entry:
    best = _best_rate(rates)
    gain = f", {_signed(rates[best].mean - rates[printed].mean)}" if printed is not None and printed in rates else ""
    return Entry(_rate(best), f"{rates[best]}{gain}")


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:g}"


_SCORES = {"accuracy": "Whole stream", "last_accuracy": "Last fifth", "greedy_accuracy": "Greedy label"}


def summary(records: Iterable[Record]) -> Sheet:
    """Learners side by side on one stream."""
    records = list(records)
    rows, numbers = [], []
    for learner, members in group(records, learner_of).items():
        entries, figures = _measures(members)
        rows.append((Entry(learner, _seeds(members)), *entries))
        numbers.append({"learner": learner, **figures})
    return Sheet("summary", _stream_title(records), _NOTE, ("Learner", *_SCORES.values(), "Rounds/s", "MiB"), tuple(rows), tuple(numbers))


def ranking(title: str, ranked: Sequence[Ranked]) -> Sheet:
    """What a search has found, the best first."""
    names = list(ranked[0].parameters)
    rows, numbers = [], []
    for candidate in ranked:
        found = Estimate(candidate.mean, candidate.half_width, candidate.seeds)
        values = [value_text(candidate.parameters[name]) for name in names]
        rows.append((*map(Entry, values), Entry(str(found)), Entry(f"{candidate.rounds:,}")))
        spread = {"accuracy": candidate.mean, "half_interval": _finite(candidate.half_width), "seeds": candidate.seeds}
        numbers.append({**dict(zip(names, values, strict=True)), **spread, "rounds": candidate.rounds})
    return Sheet("ranking", title, _NOTE, (*names, "Accuracy", "Rounds"), tuple(rows), tuple(numbers))


_NOTE = "Accuracy ± half the 95 % interval over seeds."


def value_text(value: Any) -> str:
    """A parameter: a range is written 5 to 20."""
    if isinstance(value, list):
        return " to ".join(value_text(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _measures(records: Sequence[Record]) -> tuple[tuple[Entry, ...], dict[str, Any]]:
    """Accuracies, speed and memory: for people, and for machines."""
    scores = {score: estimate(records, score) for score in _SCORES}
    speed = estimate(records, "rounds_per_second").mean
    memory = max(int(record["memory_bytes"]) for record in records)
    entries = *(Entry(str(found)) for found in scores.values()), Entry(f"{speed:,.0f}"), Entry(f"{memory / 2**20:.1f}")
    figures = {
        f"{score}{part}": value
        for score, found in scores.items()
        for part, value in (("", found.mean), ("_half_interval", _finite(found.half_width)))
    }
    return entries, {**figures, "rounds_per_second": speed, "memory_bytes": memory, "seeds": len(records)}


def _finite(number: float) -> float | None:
    return None if math.isnan(number) else round(number, 5)


def _seeds(records: Sequence[Record]) -> str:
    return f"{len(records)} seed{'s' if len(records) > 1 else ''}"


def _stream_title(records: Sequence[Record]) -> str:
    stream = records[0]
    return f"{title_of(data_of(stream))}: {stream['rounds']:,} rounds, {stream['n_labels']} labels"


def markdown(sheet: Sheet) -> str:
    """A Markdown table under its title."""
    lines = ["| " + " | ".join(sheet.header) + " |", "|" + "---|" * len(sheet.header)]
    for row in sheet.rows:
        cells = (f"{entry.main} ({entry.detail})" if entry.detail else entry.main for entry in row)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return f"### {sheet.title}\n\n{sheet.note}\n\n" + "\n".join(lines) + "\n"


def csv_text(sheet: Sheet) -> str:
    """The numbers of a sheet, one mean for each line."""
    if not sheet.numbers:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(sheet.numbers[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(sheet.numbers)
    return out.getvalue()
