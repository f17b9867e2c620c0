"""Tables made from records alone: the paper's, beside the printed figures; comparisons; rankings.

Every table is a `Sheet`: a grid of short texts that the terminal, Markdown, LaTeX and the report each set in
their own way (`sheets.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from banditboost.datasets.summary import SUMMARY
from banditboost.experiments import protocol
from banditboost.experiments.grouping import (
    Estimate,
    Record,
    data_of,
    estimate,
    exploration_of,
    group,
    is_told_the_label,
    lead,
    learner_of,
    title_of,
)
from banditboost.experiments.sheets import Entry, Sheet
from banditboost.experiments.statistics import FEWEST_FOR_AN_INTERVAL, PairedDifference
from banditboost.experiments.tune import Ranked
from banditboost.validation import check_choice

TOLERANCE = 0.02
"""How far a cell may be from the printed figure before it is marked."""


def table1(records: Iterable[Record]) -> Sheet:
    """Accuracy over the last fifth of the stream."""
    return _scores(records, "table1", "Table 1: accuracy over the last fifth of the stream", "last_accuracy")


def table2(records: Iterable[Record]) -> Sheet:
    """Accuracy over the whole stream."""
    return _scores(records, "table2", "Table 2: accuracy over the whole stream", "accuracy")


def _scores(records: Iterable[Record], name: str, title: str, score: str) -> Sheet:
    cells = group(records, data_of, learner_of)
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
    records = list(records)
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
    note = (
        "The best rate of the grid, its accuracy over the whole (shorter) stream, "
        "and what it gains over the paper's rate."
    )
    header = ("Data", "ρ of the paper", "One ρ for all", *algorithms)
    return Sheet("table4", "Table 4: exploration rates", note, header, tuple(rows), tuple(numbers))


def _rates(records: Iterable[Record]) -> dict[float, Estimate]:
    return {rate: estimate(runs, "accuracy") for rate, runs in sorted(group(records, exploration_of).items())}


def _best_rate(rates: Mapping[float, Estimate]) -> float:
    """The best rate; the lowest of several that are equally good."""
    return max(sorted(rates), key=lambda rate: rates[rate].mean)


def _search_entry(rates: Mapping[float, Estimate], printed: float | None) -> Entry:
    best = _best_rate(rates)
    gain = (
        f", {_signed(rates[best].mean - rates[printed].mean)}"
        if printed is not None and printed in rates
        else ""
    )
    return Entry(_rate(best), f"{rates[best]}{gain}")


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:g}"


_SCORES = {"accuracy": "Whole stream", "last_accuracy": "Last fifth", "greedy_accuracy": "Greedy label"}
_TOLD = "right label"
_NOT_TOLD = "verdict"


def summary(records: Iterable[Record], against: str | None = None) -> Sheet:
    """Learners side by side on one stream, the best first, each with its lead over one of them.

    Args:
        records: of one stream.
        against: the learner that the others are compared with; None is the best of those that are not told
            the label.
    """
    records = list(records)
    learners = group(records, learner_of)
    scores = {learner: estimate(members, "accuracy") for learner, members in learners.items()}
    ranked = sorted(learners, key=lambda learner: -scores[learner].mean)
    reference = _reference(ranked, against)
    rows, numbers = [], []
    for learner in ranked:
        ahead = lead(learners[learner], learners[reference], "accuracy")
        entries, figures = _measures(learners[learner])
        told = _TOLD if is_told_the_label(learner) else _NOT_TOLD
        seeds = (
            ""
            if len({len(members) for members in learners.values()}) == 1
            else count(len(learners[learner]), "seed")
        )
        rows.append(
            (
                Entry(learner, seeds),
                Entry(told),
                *entries[:1],
                _lead_entry(ahead, learner == reference),
                *entries[1:],
            )
        )
        numbers.append({"learner": learner, "feedback": told, **figures, **_lead_figures(ahead, reference)})
    whole, *others = _SCORES.values()
    header = ("Learner", "Feedback", whole, f"Minus {reference}", *others, "Rounds/s", "MiB")
    note = _summary_note(list(scores.values()), reference, chosen=against is not None)
    return Sheet("summary", _stream_title(records, learners), note, header, tuple(rows), tuple(numbers))


def _reference(ranked: Sequence[str], against: str | None) -> str:
    if against is None:
        return next((learner for learner in ranked if not is_told_the_label(learner)), ranked[0])
    return check_choice("against", against, ranked)


def _lead_entry(ahead: PairedDifference, is_reference: bool) -> Entry:
    if is_reference:
        return Entry("-")
    spread = f" ± {ahead.half_width:.3f}" if ahead.half_width == ahead.half_width else ""
    return Entry(_signed(ahead.mean) + spread)


def _lead_figures(ahead: PairedDifference, reference: str) -> dict[str, Any]:
    return {
        "against": reference,
        "difference": round(ahead.mean, 5),
        "difference_half_interval": _finite(ahead.half_width),
        "common_seeds": ahead.seeds,
    }


def _summary_note(scores: Sequence[Estimate], reference: str, *, chosen: bool) -> str:
    note = (
        f"Accuracy: {interval_note(scores)} Who has the feedback '{_TOLD}' is told it after every round; "
        f"the others hear only right or wrong. Minus {reference}: difference on the same seeds"
    )
    if any(score.has_interval for score in scores):
        note += ", with the 95 % interval of a paired t test, for each comparison by itself"
    if not chosen:
        note += f"; {reference} was picked after the runs, as the best, which flatters it a little"
    return f"{note}."


def interval_note(scores: Iterable[Estimate]) -> str:
    """What the numbers of a table are: means with intervals, or without them where seeds are too few."""
    found = list(scores)
    most = max(score.seeds for score in found)
    fewest = f"intervals take at least {FEWEST_FOR_AN_INTERVAL} seeds"
    if all(score.has_interval for score in found):
        return "mean ± half the 95 % interval over seeds."
    if any(score.has_interval for score in found):
        return f"mean ± half the 95 % interval over seeds; {fewest}."
    return f"one seed; {fewest}." if most == 1 else f"mean over {most} seeds; {fewest}."


def ranking(title: str, ranked: Sequence[Ranked]) -> Sheet:
    """What a search has found, the best first."""
    names = list(ranked[0].parameters)
    rows, numbers = [], []
    scores = [Estimate(candidate.mean, candidate.half_width, candidate.seeds) for candidate in ranked]
    for candidate, found in zip(ranked, scores, strict=True):
        values = [value_text(candidate.parameters[name]) for name in names]
        rows.append((*map(Entry, values), Entry(str(found)), Entry(f"{candidate.rounds:,}")))
        spread = {
            "accuracy": candidate.mean,
            "half_interval": _finite(candidate.half_width),
            "seeds": candidate.seeds,
        }
        numbers.append({**dict(zip(names, values, strict=True)), **spread, "rounds": candidate.rounds})
    note = f"Accuracy: {interval_note(scores)}"
    return Sheet("ranking", title, note, (*names, "Accuracy", "Rounds"), tuple(rows), tuple(numbers))


def value_text(value: Any) -> str:
    """A parameter for people: a range is written 5 to 20."""
    if isinstance(value, list):
        return " to ".join(value_text(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def count(number: int, noun: str) -> str:
    """A number of things.

    >>> count(1, "seed"), count(1200, "combination")
    ('1 seed', '1,200 combinations')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _measures(records: Sequence[Record]) -> tuple[tuple[Entry, ...], dict[str, Any]]:
    """Accuracies, speed and memory: for people, and for machines."""
    scores = {score: estimate(records, score) for score in _SCORES}
    speed = estimate(records, "rounds_per_second").mean
    memory = max(int(record["memory_bytes"]) for record in records)
    entries = (
        *(Entry(str(found)) for found in scores.values()),
        Entry(f"{speed:,.0f}"),
        Entry(f"{memory / 2**20:.1f}"),
    )
    figures: dict[str, Any] = {}
    for score, found in scores.items():
        figures |= {score: found.mean, f"{score}_half_interval": _finite(found.half_width)}
    return entries, {**figures, "rounds_per_second": speed, "memory_bytes": memory, "seeds": len(records)}


def _finite(number: float) -> float | None:
    return None if math.isnan(number) else round(number, 5)


def _stream_title(records: Sequence[Record], learners: Mapping[str, Sequence[Record]]) -> str:
    stream = records[0]
    sizes = {len(members) for members in learners.values()}
    seeds = f", {count(sizes.pop(), 'seed')}" if len(sizes) == 1 else ""
    labels = count(stream["n_labels"], "label")
    return f"{title_of(data_of(stream))}: {count(stream['rounds'], 'round')}, {labels}{seeds}"
