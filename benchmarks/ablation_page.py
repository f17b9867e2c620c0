"""Page and table of the ablation, from its records alone."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from banditboost.experiments.protocol import STREAMS
from banditboost.experiments.statistics import mean_interval
from benchmarks.tables import render
from benchmarks.variants import BASE, FRESH, RECOMMENDED, VARIANTS, Variant

ASKED: Final[Mapping[str, float]] = {
    "balance": 0.97,
    "car": 0.985,
    "nursery": 0.97,
    "movement": 0.97,
    "mice": 0.95,
    "isolet": 0.75,
}
"""What the recommended parameters are to reach over the last fifth."""
PARTS: Final = ("whole", "beginning", "fresh")
"""Whole streams, the beginnings of long ones, and whole streams with fresh seeds."""
FEWEST_SEEDS: Final = 3
"""For an interval: with two, Student's t makes it wider than all that can be seen."""
SCORES: Final = ("last_accuracy", "accuracy")
PAGE: Final = """# What each part of AdaBandit brings

`python -m benchmarks.ablation`: a base of AdaBandit on the paper's six streams, and one change at a time, with seeds from 4 on.
{days}; {machines}; {versions}.

The base is the same on all streams:
`AdaBandit(labels, n_learners=40, exploration=schedules.Divided(), tie_tolerance=1.0)` with the default trees.

**These streams chose it.** The schedule (rho = doubt^2), N = 40 and a tie tolerance of 1 were chosen on these same six streams with seeds 4
to 13. So its line is no clean test, and changes are compared with something that was picked because it did well here.

Recommended is the base with adaptive leaves, `weak_learner=HoeffdingTree(leaf_prediction="adaptive")`. It was chosen among the changes
below after the base had missed what is asked for on Car by 0.0013.

## What was asked of the recommended setting

Accuracy over the last fifth of the stream, mean ± half the 95 % interval over seeds, how many these were, and whether the mean is what was
asked for. Seeds that chose it are 4 to 13, fresh ones 14 to 23: other orders of the same rows.

{asked}

## One change at a time

Accuracy over the last fifth. ▲ and ▼: better or worse than the base on the same seeds, by more than the 95 % interval of the difference;
of so many cells some would be marked by chance. One or two seeds have no interval and no mark: their cells are a hint, no more. Empty cells
were not played. [All figures](ablation.csv), with the differences from the base.

{last}

- *Constant exploration* also changes the steps of alpha, which have rho as a factor; with `Divided` that factor is its least rate, 0.001.
- *theory* is `schedules.Theory()`, *decaying* `Decaying()`, *adaptive* `Adaptive()`, with their default parameters.
- *tree ranges*: the paper's other two, *patient* (Mice, Isolet; grace period 300) and *steady* (full information; grace period 50 to 200).
- *expert: the last* shows what all learners together say, where Hedge draws one of the 40 experts.

## The first {rounds} rounds of the long streams

The last fifth of these rounds. Where the first line has more seeds, compare by the differences in [the file](ablation.csv).

{beginning}

## Fresh seeds

Last fifth, whole streams, seeds 14 to 23. The two changes are here because they did well above on several streams.

{fresh}

## Other boosters

With the paper's parameters, and with a schedule instead of its rate. ▲ and ▼ compare with the paper's parameters.

{others}

## Over all rounds

{total}

{findings}
"""
# Read off the tables of the day that they name: read them again when the records are new.
FINDINGS: Final = """
## What can be read off

Balance and Car have five seeds, Nursery and Mice mostly three, the long streams one: what is said of those is a hint.

- **The schedule.** *Divided* is best or near the best on all streams but the beginning of Movement, where *adaptive* was better by 0.015.
  A constant 0.001 comes close on most, but lagged on the whole of Isolet. A rate of 0.1 costs what it must, a tenth of the rounds.
  *theory* stays near its ceiling of 0.5 and is useless on streams of this length. *adaptive* was lower on Isolet, *decaying* on Isolet
  and with two of three seeds on Mice.
- **The estimator**: (3) instead of (4) loses 0.086 on Balance and 0.036 on Car, and surely on Nursery, too.
- **Tree ranges.** Eager trees are needed on Balance, Car and Nursery; patient ones are better on Mice, where the paper has them.
- **Weights.** Three times the weight is better on Balance and Car, and with fresh seeds on Balance; on Car the gain is then within the
  interval. On the beginning of Isolet it was worse, and 0.3 times the weight, bad on Balance and Car, was better. So no factor is
  recommended for all.
- **Leaves.** Adaptive leaves, which are recommended, are better on Balance, with fresh seeds, too. Elsewhere they are within the intervals:
  0.002 higher on Car, 0.007 lower on Isolet. Naive Bayes alone is good on Balance and bad on Mice.
- **More learners.** 10 are too few for Mice; 80 are better on Car and Nursery, by little, for twice the work.
- **Nothing to see** in the step of alpha (a factor of 100 between the two), in the clip, and in Hedge against the last expert.
- **Tie tolerance.** 1e-9 loses 0.002 on Balance and Car, which is within the intervals; over all rounds it loses 0.006 on Balance.
- **Other boosters.** OptBandit gets worse with *divided* on Balance and Car. With *adaptive* neither it nor BinBandit is surely better or
  worse there.

## Seen in the search, not in these tables

- A doubly robust estimate, with the committee's shares of votes as its prior, made Car 0.72 to 0.91 instead of 0.97 to 0.98: what the
  committee believes is fed back to it.
- Three times the weight and adaptive leaves together, with fresh seeds: 0.998 on Balance and 0.989 on Car, no better than the weight alone.
"""

Row = dict[str, Any]
Scores = dict[int, dict[str, float]]
"""By seed."""


def write(records: Sequence[Row], target: Path) -> None:
    rows = means(records)
    target.mkdir(parents=True, exist_ok=True)
    with (target / "ablation.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (target / "ablation.md").write_text(page(records, rows), encoding="utf-8")


def means(records: Iterable[Row]) -> list[Row]:
    """A row for each variant and stream, in the order of the variants: means over seeds, and what the change
    brings on the same seeds.
    """
    played: dict[tuple[str, str, str], Scores] = {}
    for record in records:
        source, seed = record["task"]["source"], record["task"]["seed"]
        parts = (
            {"fresh": record["whole"]}
            if seed in FRESH
            else {part: record[part] for part in ("whole", "beginning")}
        )
        for part, scores in parts.items():
            if scores is not None:
                played.setdefault((record["variant"], source["name"], part), {})[seed] = scores
    return [
        _row(
            variant,
            data,
            part,
            played[variant.name, data, part],
            played.get((_reference(variant).name, data, part), {}),
        )
        for part in PARTS
        for variant in VARIANTS
        for data in STREAMS
        if (variant.name, data, part) in played
    ]


def _reference(variant: Variant) -> Variant:
    """What a variant changes one thing of: the first one of its learner."""
    return next(other for other in VARIANTS if other.learner == variant.learner)


def _row(variant: Variant, data: str, part: str, scores: Scores, reference: Scores) -> Row:
    one = next(iter(scores.values()))
    row: Row = {
        "learner": variant.learner,
        "change": change(variant),
        "data": data,
        "rounds": one["rounds"],
        "part": part,
        "seeds": len(scores),
    }
    for score in SCORES:
        row |= _interval(score, [found[score] for found in scores.values()])
        row |= _interval(
            f"{score}_gain",
            [found[score] - reference[seed][score] for seed, found in scores.items() if seed in reference],
        )
    return row


def _interval(name: str, values: Sequence[float]) -> Row:
    mean, half = mean_interval(values) if values else (math.nan, math.nan)
    return {name: round(mean, 5), f"{name}_half_interval": round(half, 5)}


def change(variant: Variant) -> str:
    return f"{variant.subject}: {variant.value}"


def page(records: Sequence[Row], rows: Sequence[Row]) -> str:
    ours = [row for row in rows if row["learner"] == BASE.learner]
    others = [row for row in rows if row["learner"] != BASE.learner]
    return PAGE.format(
        asked=_asked(ours),
        last=table(_part(ours, "whole")),
        beginning=table(_part(rows, "beginning")),
        fresh=table(_part(rows, "fresh")),
        others=table(_part(others, "whole")),
        total=table(_part(rows, "whole"), "accuracy"),
        findings=FINDINGS.strip(),
        rounds=f"{max((row['rounds'] for row in _part(rows, 'beginning')), default=0):,}",
        days=_span(sorted({record["finished"][:10] for record in records})),
        machines=_each(
            f"{record['machine']['cpu']}, {record['machine']['cores']} cores" for record in records
        ),
        versions=_each(
            " ".join(f"{name} {version}" for name, version in record["versions"].items())
            for record in records
        ),
    )


def _part(rows: Iterable[Row], part: str) -> list[Row]:
    return [row for row in rows if row["part"] == part]


def table(rows: Sequence[Row], score: str = "last_accuracy") -> str:
    """A line for each change, a column for each stream that was played."""
    data = [name for name in STREAMS if any(row["data"] == name for row in rows)]
    cells = {(row["learner"], row["change"], row["data"]): _cell(row, score) for row in rows}
    lines = dict.fromkeys((row["learner"], row["change"]) for row in rows)
    bodies = [[_head(*line), *(cells.get((*line, name), "") for name in data)] for line in lines]
    seeds = [
        "*seeds: first line; others*",
        *(_seeds([row for row in rows if row["data"] == name]) for name in data),
    ]
    return render(["change", *map(str.capitalize, data)], [*bodies, seeds])


def _seeds(rows: Sequence[Row]) -> str:
    first, *others = (int(row["seeds"]) for row in rows)
    return f"{first}; {_span([str(count) for count in sorted(set(others))])}" if others else str(first)


def _head(learner: str, change: str) -> str:
    return change if learner == BASE.learner else f"{learner}, {change}"


def _cell(row: Row, score: str) -> str:
    if row["seeds"] < FEWEST_SEEDS:
        return f"{row[score]:.3f}"
    gain = row[f"{score}_gain"]
    sure = abs(gain) > row[f"{score}_gain_half_interval"]  # never if that is not a number
    mark = "" if not sure else " ▲" if gain > 0 else " ▼"
    return f"{row[score]:.3f} ± {row[f'{score}_half_interval']:.3f}{mark}"


def _asked(rows: Iterable[Row]) -> str:
    found = {(row["data"], row["part"]): row for row in rows if row["change"] == change(RECOMMENDED)}
    lines = [
        [
            data.capitalize(),
            f"{asked:g}",
            *(_verdict(found.get((data, part)), asked) for part in ("whole", "fresh")),
        ]
        for data, asked in ASKED.items()
    ]
    return render(["stream", "asked for", "seeds that chose it", "fresh seeds"], lines)


def _verdict(row: Row | None, asked: float) -> str:
    if row is None:
        return ""
    missing = asked - row["last_accuracy"]
    return f"{_cell(row, 'last_accuracy')} ({row['seeds']}), {'reached' if missing <= 0 else f'missed by {missing:.4f}'}"


def _span(days: Sequence[str]) -> str:
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _each(values: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(values))
