"""What docs/theory.md tells of the weak learning condition and the bounds, and docs/guide-weak-learner.md of
cost vectors.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np

from banditboost.boosting.potential import potential
from banditboost.experiments.protocol import EDGE, STREAMS
from banditboost.experiments.statistics import mean_interval, paired_difference
from banditboost.theory import (
    WeakLearningCondition,
    adaptive_mistake_bound,
    optimal_mistake_bound,
)
from benchmarks.condition import BOOSTERS
from benchmarks.cost_vectors import BOOSTERS as BY_COSTS
from benchmarks.cost_vectors import CHOICE_ROUNDS, CLIPS, FEEDS, RIDGES
from benchmarks.numbers.sources import lines
from benchmarks.records import Record
from benchmarks.tables import render

_NO_EXPLORATION = (
    1e-12  # the bounds want some; with full information there is none, and its terms are left out
)


def _run(data: str, booster: str) -> Record:
    return next(line for line in lines("condition") if (line["data"], line["booster"]) == (data, booster))


def _conditions(line: Record) -> list[WeakLearningCondition]:
    """One for each seed."""
    sums = zip(line["losses"], line["weights"], line["largest_weights"], strict=True)
    return [WeakLearningCondition(line["n_labels"], *map(np.array, found)) for found in sums]


def condition_table() -> str:
    """Means over seeds of what the learners of a run have."""
    rows = []
    for data in STREAMS:
        for booster in BOOSTERS:
            found = _conditions(_run(data, booster))
            edges, holds = [each.edges for each in found], [each.holds(EDGE) for each in found]
            excess = [float(np.nanmax(each.excess(EDGE))) for each in found]
            mean = [float(np.mean([of(each) for each in edges])) for of in (_first, np.median, _last, np.min)]
            rows.append(
                [
                    data.capitalize(),
                    booster,
                    *(f"{value:.2f}" for value in mean),
                    f"{statistics.fmean(float(each.sum()) for each in holds):.1f} of {len(holds[0])}",
                    f"{statistics.fmean(excess):,.1f}",
                ]
            )
    heads = ["data", "booster", "first", "median", "last", "least", "edge 0.1 held for", "largest S(0.1)"]
    return render(heads, rows)


def _first(edges: Sequence[float]) -> float:
    return edges[0]


def _last(edges: Sequence[float]) -> float:
    return edges[-1]


def optimal_table() -> str:
    """Theorem 3.2 and its lemma on the runs of the first seed, as shares of the rounds."""
    rows = []
    for data in STREAMS:
        for booster in ("OptBandit", "OptFull"):
            line = _run(data, booster)
            k, t, condition = line["n_labels"], line["rounds"], _conditions(line)[0]
            n, rho = len(condition.losses), line["exploration"]
            bound = optimal_mistake_bound(k, n, EDGE, t, rho or _NO_EXPLORATION)
            extra = float(np.nansum(condition.excess(EDGE) * condition.largest_weights)) / t
            at_0 = potential([0] * k, 0, n, EDGE)
            rows.append(
                [
                    data.capitalize(),
                    booster,
                    f"{line['mistakes'][0] / t:.3f}",
                    f"{at_0:.3f}",
                    f"{extra:+.3f}",
                    f"{at_0 + extra:.3f}",
                    f"{bound.asymptotic / t:.2f}",
                    f"{2 * rho:.3f}" if rho else "-",
                    _large(bound.hidden / t) if rho else "-",
                ]
            )
    heads = [
        "data",
        "booster",
        "error",
        "phi_N(0)",
        "sum w* S / T",
        "both",
        "(k-1) exp(-gamma² N/2)",
        "2 rho",
    ]
    return render([*heads, "k^3.5 sqrt(N) / (rho T)"], rows)


def adaptive_table() -> str:
    """Theorem 3.3 on the runs of the first seed, as shares of the rounds."""
    rows = []
    for data in STREAMS:
        for booster in ("AdaBandit", "AdaFull"):
            line = _run(data, booster)
            k, t, rho = line["n_labels"], line["rounds"], line["exploration"]
            edges = _conditions(line)[0].edges.tolist()
            bounds = [
                adaptive_mistake_bound(k, edges, t, rho or _NO_EXPLORATION, sharper=sharper)
                for sharper in (False, True)
            ]
            rows.append(
                [
                    data.capitalize(),
                    booster,
                    f"{line['mistakes'][0] / t:.3f}",
                    f"{math.fsum(edge * edge for edge in edges):.2f}",
                    *(f"{bound.asymptotic / t:.2f}" for bound in bounds),
                    f"{2 * rho:.3f}" if rho else "-",
                    _large(bounds[0].hidden / t) if rho else "-",
                ]
            )
    heads = ["data", "booster", "error", "sum gamma_i²", "8 k / sum", "8 (k-1) ln 2 / sum", "2 rho"]
    return render([*heads, "k³ N² / (rho² sum T)"], rows)


def _large(value: float) -> str:
    return f"{value:,.0f}" if value < 1e6 else f"{value:.0e}".replace("e+0", "e")


def least_explicit() -> str:
    """The smallest bound of all: with known constants only."""
    explicit = []
    for line in lines("condition"):
        k, t, rho = line["n_labels"], line["rounds"], line["exploration"] or _NO_EXPLORATION
        for condition in _conditions(line):
            if line["booster"].startswith("Opt"):
                bound = optimal_mistake_bound(k, len(condition.losses), EDGE, t, rho)
            else:
                bound = adaptive_mistake_bound(k, condition.edges.tolist(), t, rho)
            explicit.append(bound.explicit / t)
    return f"{min(explicit):.2f}"


# Cost vectors


def _played(data: str, booster: str, feed: str) -> Record:
    return next(
        line
        for line in lines("cost_vectors")
        if (line["data"], line["booster"], line["feed"]) == (data, booster, feed)
        and line["rounds"] != CHOICE_ROUNDS
    )


def _scores(line: Record, score: str) -> dict[int, float]:
    return dict(zip(line["seed"], line[score], strict=True))


def _cell(data: str, booster: str, feed: str) -> str:
    """Last fifth / total; marked where it clearly differs from what cost vectors reach."""
    line, base = _played(data, booster, feed), _played(data, booster, "costs")
    cells = []
    for score in ("last_accuracy", "accuracy"):
        mean, half = mean_interval(line[score])
        ahead = paired_difference(_scores(line, score), _scores(base, score))
        mark = "" if feed == "costs" or not ahead.is_clear else " ▲" if ahead.mean > 0 else " ▼"
        cells.append(f"{mean:.3f} ± {half:.3f}{mark}")
    return " / ".join(cells)


def costs_table() -> str:
    rows = [
        [data.capitalize(), booster, *(_cell(data, booster, feed) for feed in FEEDS)]
        for data in STREAMS
        for booster in BY_COSTS
    ]
    heads = ["cost vectors", "cost vectors, unclipped", "label and weight, text", "label and weight, ours"]
    return render(["data", "booster", *heads], rows)


def choice_table() -> str:
    """Mean total accuracy over the cells that the parameters were chosen on."""
    rows = []
    for feed, name in (("costs", "cost vectors"), ("ours", "label and weight")):
        for ridge in RIDGES:
            means = [_choice(feed, ridge, clip) for clip in CLIPS]
            rows.append([name, f"{ridge:g}", *(f"{mean:.3f}" for mean in means)])
    return render(
        ["taught by", "ridge", *("no clip" if clip is None else f"clip {clip:g}" for clip in CLIPS)], rows
    )


def _choice(feed: str, ridge: float, clip: float | None) -> float:
    cells = [
        statistics.fmean(line["accuracy"])
        for line in lines("cost_vectors")
        if (line["feed"], line["ridge"], line["clip"], line["rounds"]) == (feed, ridge, clip, CHOICE_ROUNDS)
    ]
    return statistics.fmean(cells)


VALUES: dict[str, Callable[[], str]] = {
    "condition.table": condition_table,
    "condition.optimal": optimal_table,
    "condition.adaptive": adaptive_table,
    "condition.least": least_explicit,
    "costs.table": costs_table,
    "costs.choice": choice_table,
}
