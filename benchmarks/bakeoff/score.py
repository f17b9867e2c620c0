"""Progressive losses, and who wins by them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.bakeoff import sets
from benchmarks.bakeoff.players import ALGORITHMS, GAPBOOST, TOLD, WABBIT, WABBIT_NAMES

BEST = "best of the six"
THEIRS, PROPER = 1.0, math.sqrt(2.0)
"""What a difference in standard errors is divided by before erf: a win by the bake-off's rule needs 1.386 of
them, by the usual two-sided 5 % rule 1.96.
"""
LEVEL = 0.05
LENGTHS = (0, 100, 300, 1_000, 10_000)
"""Sets are told apart by their rows: those from one number to the next."""


@dataclass(frozen=True)
class Result:
    """What came of one set."""

    id: int
    name: str
    rows: int
    labels: int
    losses: Mapping[str, float]
    """By GapBoost (mean of its seeds), by each algorithm with the best learning rate, and by the best of them."""
    seeds: Sequence[float]
    """GapBoost's, one by one."""
    constant: float
    """Of the label that is right most often, if it is always shown."""
    told: float
    """By Vowpal Wabbit's learner that is told every label, with the best learning rate."""

    def normalised(self, player: str) -> float:
        """How much more is lost than by who is told every label; a share of that, or of one row."""
        return (self.losses[player] - self.told) / max(self.told, 1 / self.rows)


def results(records: Iterable[Mapping[str, Any]], peer: str = WABBIT) -> list[Result]:
    """Sets that GapBoost and this peer have played, the shortest first."""
    found: dict[int, dict[str, Mapping[str, Any]]] = {}
    for record in records:
        found.setdefault(record["set"], {})[record["player"]] = record
    if peer == WABBIT_NAMES:  # where nothing has a name, it is the same player
        found = {number: {WABBIT_NAMES: lines.get(WABBIT, {}), **lines} for number, lines in found.items()}
    both = [
        (lines[GAPBOOST], lines[peer]) for lines in found.values() if lines.get(GAPBOOST) and lines.get(peer)
    ]
    return sorted((_result(*pair) for pair in both), key=lambda result: (result.rows, result.id))


def _result(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Result:
    rows = ours["rows"]
    losses = {name: min(theirs["wrong"][name]) / rows for name in ALGORITHMS}
    return Result(
        ours["set"],
        ours["name"],
        rows,
        ours["labels"],
        {GAPBOOST: statistics.fmean(ours["wrong"]) / rows, **losses, BEST: min(losses.values())},
        [wrong / rows for wrong in ours["wrong"]],
        ours["constant"] / rows,
        min(theirs["wrong"][TOLD]) / rows,
    )


def verdict(first: float, second: float, rows: int, rule: float) -> int:
    """1 if the first loss is so much smaller that it wins, -1 if it loses, else 0."""
    error = 1e-6 + math.sqrt((first * (1 - first) + second * (1 - second)) / rows)
    if 1 - math.erf(abs(first - second) / error / rule) >= LEVEL:
        return 0
    return 1 if first < second else -1


def count(found: Iterable[Result], first: str, second: str, rule: float) -> tuple[int, int]:
    """Sets that the first wins, and that it loses."""
    verdicts = [verdict(r.losses[first], r.losses[second], r.rows, rule) for r in found]
    return verdicts.count(1), verdicts.count(-1)


def range_over_seeds(
    found: Sequence[Result], second: str, rule: float
) -> tuple[tuple[int, int], tuple[int, int]]:
    """The fewest and most wins, and the fewest and most losses, of GapBoost's seeds one by one."""
    counts = []
    for seed in range(len(found[0].seeds)):
        verdicts = [verdict(r.seeds[seed], r.losses[second], r.rows, rule) for r in found]
        counts.append((verdicts.count(1), verdicts.count(-1)))
    wins, losses = zip(*counts, strict=True)
    return (min(wins), max(wins)), (min(losses), max(losses))


def without_duplicates(found: Sequence[Result]) -> list[Result]:
    kept = sets.originals((result.id, result.name) for result in found)
    return [result for result in found if result.id in kept]


def fresh(found: Sequence[Result]) -> list[Result]:
    """Without near-duplicates, and without what GapBoost had played before its defaults were set."""
    return [result for result in without_duplicates(found) if result.id not in sets.PLAYED]


def by_length(found: Iterable[Result]) -> dict[tuple[int, int | None], list[Result]]:
    """Rows from and below -> sets; None is no limit."""
    limits = list(zip(LENGTHS, (*LENGTHS[1:], None), strict=True))
    groups: dict[tuple[int, int | None], list[Result]] = {limit: [] for limit in limits}
    for result in found:
        groups[next((a, b) for a, b in reversed(limits) if result.rows >= a)].append(result)
    return {limit: members for limit, members in groups.items() if members}
