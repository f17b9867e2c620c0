"""What docs/deviations.md says about each departure from the paper's text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from banditboost.experiments.protocol import ALGORITHMS, PRINTED, STREAMS
from banditboost.experiments.statistics import mean_interval, paired_difference
from benchmarks.departures import BY_COSTS, LONG, OURS
from benchmarks.numbers.sources import lines
from benchmarks.records import Record
from benchmarks.tables import render


def _found(change: str, data: str, algorithm: str) -> Record:
    return next(
        line
        for line in lines("departures")
        if (line["change"], line["data"], line["algorithm"]) == (change, data, algorithm)
    )


def _score(line: Record, base: Record, score: str) -> str:
    """Mean and half interval; marked where it clearly differs from ours on the same seeds."""
    mean, half = mean_interval(line[score])
    ahead = paired_difference(
        dict(zip(line["seeds"], line[score], strict=True)), dict(zip(base["seeds"], base[score], strict=True))
    )
    mark = "" if line is base or not ahead.is_clear else " ▲" if ahead.mean > 0 else " ▼"
    return f"{mean:.3f} ± {half:.3f}{mark}"


def _cell(change: str, data: str, algorithm: str) -> str:
    line, base = _found(change, data, algorithm), _found(OURS, data, algorithm)
    return f"{_score(line, base, 'last')} / {_score(line, base, 'total')}"


def _printed(data: str, algorithm: str) -> str:
    printed = PRINTED[data][algorithm]
    return f"{printed.last:.2f} / {printed.total:.2f}"


def table(
    columns: Sequence[tuple[str, str]], algorithms: Sequence[str], datasets: Sequence[str] = tuple(STREAMS)
) -> str:
    """Last fifth / total: printed, and with each change; columns are headings and names of changes."""
    rows = [
        [
            data.capitalize(),
            algorithm,
            _printed(data, algorithm),
            *(_cell(change, data, algorithm) for _, change in columns),
        ]
        for algorithm in algorithms
        for data in datasets
    ]
    return render(["data", "booster", "printed", *(heading for heading, _ in columns)], rows)


VALUES: dict[str, Callable[[], str]] = {
    "departures.lessons": lambda: table(
        [("text", "text"), ("differences clipped", "differences"), ("ours: and the right label", OURS)],
        BY_COSTS,
    ),
    "departures.binbandit": lambda: table(
        [("clipped at 100", "clipped"), ("unclipped (ours)", OURS)], ["BinBandit"]
    ),
    "departures.adafull": lambda: table(
        [("the program's scale", "the program's scale"), ("as written (ours)", OURS)], ["AdaFull"]
    ),
    "departures.data": lambda: table([("the text's", "data of the text"), ("ours", OURS)], ALGORITHMS, LONG),
}
