"""What searches found, beside the paper's choices: exploration rates (Table 4), and numbers of learners.

Made from records alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from banditboost.experiments import protocol
from banditboost.experiments.grouping import (
    Estimate,
    data_of,
    estimate,
    exploration_of,
    group,
    learner_of,
    mode_of,
    title_of,
)
from banditboost.experiments.records import Record, checked
from banditboost.experiments.sheets import Entry, Sheet
from banditboost.experiments.tables import figures
from banditboost.experiments.wording import interval_note, signed


def table4(records: Iterable[Record]) -> Sheet:
    """The exploration rates that a grid search finds, beside the paper's choice."""
    records = checked(records, "rounds", "n_labels", "accuracy", "exploration")
    algorithms = tuple(group(records, learner_of))
    rows, numbers = [], []
    for (data, mode), members in group(records, data_of, mode_of).items():
        printed = protocol.EXPLORATION.get(data)
        searches = {"one for all": members, **group(members, learner_of)}
        found = {name: _means(runs, exploration_of) for name, runs in searches.items()}
        entries = [_search_entry(found.get(name), printed) for name in ("one for all", *algorithms)]
        rows.append((*_stream_entries(members), Entry(_value(printed)), *entries))
        numbers += _numbers("table4", (data, mode), "rho", found, dict.fromkeys(found, printed))
    note = (
        "The best rate of the grid, its accuracy over the whole (shorter) stream, "
        f"and what it gains over the paper's rate. Accuracy: {_spread(records, exploration_of)}"
    )
    header = ("Data", "Protocol", "ρ of the paper", "One ρ for all", *algorithms)
    return Sheet("table4", "Table 4: exploration rates", note, header, tuple(rows), tuple(numbers), names=2)


def learners(records: Iterable[Record]) -> Sheet:
    """The number of learners that a search finds, beside the paper's choice."""
    records = checked(records, "rounds", "n_labels", "accuracy", "n_learners")
    sizes = sorted(group(records, size_of))
    rows, numbers = [], []
    for (data, mode, algorithm), members in group(records, data_of, mode_of, learner_of).items():
        printed = protocol.setting(data, algorithm).n_learners
        found = _means(members, size_of)
        tried = [Entry(f"{found[size].mean:.3f}" if size in found else "-") for size in sizes]
        chosen = Entry(algorithm), Entry(str(printed)), _search_entry(found, printed)
        rows.append((*_stream_entries(members), *chosen, *tried))
        numbers += _numbers("learners", (data, mode), "n", {algorithm: found}, {algorithm: printed})
    note = (
        "N in multiples of five, as the paper chose it, on the streams of Table 4 with the paper's ρ: the "
        "best N, its accuracy over the whole stream, and what it gains over the printed N; then every N. "
        f"Accuracy: {_spread(records, size_of)}"
    )
    header = ("Data", "Protocol", "Algorithm", "N of the paper", "Best N", *(f"N = {size}" for size in sizes))
    return Sheet("learners", "The choice of N", note, header, tuple(rows), tuple(numbers), names=3)


def size_of(record: Record) -> int:
    """How many learners a run had."""
    return int(record["task"]["parameters"]["n_learners"])


def _stream_entries(records: Sequence[Record]) -> tuple[Entry, Entry]:
    first = records[0]
    title = Entry(title_of(data_of(first)), f"k = {first['n_labels']}, {first['rounds']:,} rounds")
    return title, Entry(mode_of(first))


def _spread(records: Sequence[Record], value_of: Callable[[Record], float]) -> str:
    """What the numbers of a table are."""
    streams = group(records, data_of, mode_of).values()
    return interval_note(found for runs in streams for found in _means(runs, value_of).values())


def _means(records: Iterable[Record], value_of: Callable[[Record], float]) -> dict[float, Estimate]:
    """The accuracy with each value, as a mean over seeds.

    Of several learners it is their mean in each seed, so that the interval is over seeds, not over learners.
    """
    return {value: _mean_learner(runs) for value, runs in sorted(group(records, value_of).items())}


def _mean_learner(records: Sequence[Record]) -> Estimate:
    by_seed = group(records, lambda record: record["task"]["seed"]).values()
    return estimate(
        [{"accuracy": fmean(record["accuracy"] for record in runs)} for runs in by_seed], "accuracy"
    )


def best(found: Mapping[float, Estimate]) -> float:
    """The best value; the lowest of several that are equally good."""
    return max(sorted(found), key=lambda value: found[value].mean)


def _search_entry(found: Mapping[float, Estimate] | None, printed: float | None) -> Entry:
    if found is None:
        return Entry("-")
    chosen = best(found)
    gain = (
        f", {signed(found[chosen].mean - found[printed].mean)}"
        if printed is not None and printed in found
        else ""
    )
    return Entry(_value(chosen), f"{found[chosen]}{gain}")


def _value(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _numbers(
    table: str,
    stream: tuple[str, str],
    symbol: str,
    searches: Mapping[str, Mapping[float, Estimate]],
    printed: Mapping[str, float | None],
) -> list[dict[str, Any]]:
    data, mode = stream
    return [
        {
            "table": table,
            "data": data,
            "algorithm": algorithm,
            "protocol": mode,
            f"paper_{symbol}": printed[algorithm],
            symbol: value,
            **figures(estimate, None),
        }
        for algorithm, found in searches.items()
        for value, estimate in found.items()
    ]
