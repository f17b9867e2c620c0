"""The page of the bake-off and its chart, made from records alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmarks import charts
from benchmarks.bakeoff import score
from benchmarks.bakeoff.players import ALGORITHMS, GAPBOOST, SEEDS, STEPS, WABBIT_NAMES, WABBIT_PAIRS
from benchmarks.bakeoff.score import BEST, PROPER, THEIRS, Result
from benchmarks.records import FOLDER, Record
from benchmarks.tables import render

RECORDS = FOLDER / "bakeoff.jsonl"
PAGE_NAME, CHART_NAME = "bakeoff.md", "bakeoff.svg"
_TITLE = "# The contextual bandit bake-off"
TEXT = """{title}

[![Loss of GapBoost beside the best of Vowpal Wabbit's algorithms, and the difference by the length of the stream](bakeoff.svg)](bakeoff.svg)

*A Contextual Bandit Bake-off* (Bietti, Agarwal and Langford, JMLR 2021) is the largest published comparison of
contextual bandits: a table is played once, row by row, and the share of wrong labels that were shown is the
*loss*. Here its protocol is repeated on {sets} of its sets, with the algorithms that won in it, as Vowpal
Wabbit has them today, and GapBoost beside them.

Vowpal Wabbit plays each set with {steps} learning rates, and on each set the best of them counts, as in the
bake-off. GapBoost has its defaults on all of them: one setting, nothing tuned.

{standing}

*Their rule* is the bake-off's: a set is won if the difference is more than 1.386 standard errors. *5 % rule*
is the usual test, 1.96 of them. *Best of the six* takes, on each set, whichever of the six was best there: as
if one had known beforehand. *Normalised loss* is the median over sets of how much more was lost than by Vowpal
Wabbit's learner that is told every label, as a share of what that one lost.

{seeds}

## Without near-duplicates

{duplicates} of the sets are made from a table that another one is made from, too. Without them, {originals}
sets are left.

{without}

GapBoost had played the tables of {played} of these before its defaults were set (they are in
[the peers' table](peers.md), or its constants were chosen on them). On the {fresh} others:

{on_fresh}

## By the length of the stream

Against the best of the six:

{lengths}

*Mean gap* is the loss of Vowpal Wabbit minus that of GapBoost: above zero GapBoost lost less.

## Everybody against everybody

Wins minus losses of the row against the column, by their rule, as in the bake-off's tables.

{everybody}

## If nominal values are names for Vowpal Wabbit, too

In the bake-off nominal values are integer codes, which suits no linear learner. GapBoost is told which columns
are nominal. With a feature for each value, Vowpal Wabbit stands so:

{names}

## If Vowpal Wabbit sees pairs of columns, too

The bake-off's learners are linear, and GapBoost is not. With `-q ::` products of columns are features as well,
beside a feature for each nominal value.

{pairs}

## Where GapBoost is behind

Its loss is higher than that of the best of the six; a star says that it loses by their rule. *Told* is the
learner that is told every label, *one label* shows always the same, the best one. Where these two are hardly
apart there is hardly anything to learn, and the best of {runs} runs is the luckiest of them.

{behind}

## All sets

Losses. Those with a star are won or lost by their rule, against the best of the six.

{all}

## How it is measured

- `python -m benchmarks.bakeoff` plays what is not in [the record](bakeoff.jsonl) yet, and writes this page and
  the chart from it. `--only gapboost --again` plays GapBoost anew, and leaves Vowpal Wabbit's lines.
- The sets are {sets} of the 200 on which the bake-off chose parameters, so they are, if anything, kind to its
  winners: rebuilt from public collections of Weka and StatLib, each known by its rows, columns and the loss
  of the best constant. None of them was capped: {rows:,} rows in all. The rows were shuffled once; everybody
  meets them in the same order. Sets 953, 991 and 1021 have the labels of their tables here, two in the bake-off.
- The losses of the learner that is told every label are those that were published with the bake-off: half of
  them agree to within 0.013, though orders and codes of names differ.
- Vowpal Wabbit: `-b 24 --cbify K --cb_explore_adf --loss0 -1 --loss1 0`, one pass, with {algorithms}.
  Learning rates are {rates}. The bake-off's seventh winner, *active*, is not in Vowpal Wabbit any more
  (`--nounifagree`), nor is `--randomtie`, which is now what it does by itself.
- Columns are called `c0`, `c1` and so on. The bake-off called them 0, 1 and so on; today's Vowpal Wabbit, given
  bare numbers under `--cbify`, shares weights between features and loses far more (0.53 instead of 0.15 on
  optdigits). Zeros are left out, as there; so are missing cells.
- The column of splice that names each row is given to nobody.
- GapBoost: the mean loss of seeds {first_seed} to {last_seed}, which change its draws, not the order of the rows.
  Vowpal Wabbit plays once with each learning rate.
- {origin}
"""


def write(records: Sequence[Record], folder: Path = FOLDER) -> list[Path]:
    (folder / PAGE_NAME).write_text(page(records), encoding="utf-8")
    if not score.results(records):
        return [folder / PAGE_NAME]
    return [folder / PAGE_NAME, charts.save(draw, chart_numbers(records), folder / CHART_NAME)]


def page(records: Sequence[Record]) -> str:
    found = score.results(records)
    if not found:
        return f"{_TITLE}\n\nNothing has been played yet.\n"
    originals, fresh = score.without_duplicates(found), score.fresh(found)
    return TEXT.format(
        title=_TITLE,
        sets=len(found),
        steps=len(STEPS),
        runs=len(STEPS) * len(ALGORITHMS),
        standing=standing(found),
        seeds=_seeds(found),
        duplicates=len(found) - len(originals),
        originals=len(originals),
        without=standing(originals),
        played=len(originals) - len(fresh),
        fresh=len(fresh),
        on_fresh=standing(fresh),
        lengths=_lengths(found),
        everybody=_everybody(found),
        names=standing(score.results(records, WABBIT_NAMES)),
        pairs=_pairs(score.results(records, WABBIT_PAIRS)),
        behind=_behind(found),
        all=_all(found),
        rows=sum(result.rows for result in found),
        algorithms="; ".join(f"*{name}*: `{flags}`" for name, flags in ALGORITHMS.items()),
        rates=", ".join(f"{step:g}" for step in STEPS),
        first_seed=SEEDS[0],
        last_seed=SEEDS[-1],
        origin=_origin(records),
    )


def standing(found: Sequence[Result]) -> str:
    """GapBoost against each algorithm, and against the best of them on each set."""
    rows = [
        [
            name,
            *map(str, score.count(found, GAPBOOST, name, THEIRS)),
            *map(str, score.count(found, GAPBOOST, name, PROPER)),
            *_means(found, name),
        ]
        for name in (*ALGORITHMS, BEST)
    ]
    rows.append([f"**{GAPBOOST}**", *[""] * 4, *_means(found, GAPBOOST)])
    heads = [
        "GapBoost against",
        "wins, their rule",
        "losses",
        "wins, 5 % rule",
        "losses",
        "its mean loss",
        "its normalised loss",
    ]
    return render(heads, rows)


def _pairs(found: Sequence[Result]) -> str:
    if not found:
        return "It has not been played yet."
    text = f"On {len(found)} sets of up to {found[-1].rows:,} rows:"
    return (
        f"{text}\n\n{standing(found)}\n\nBy their length, against the best of the six:\n\n{_lengths(found)}"
    )


def _means(found: Sequence[Result], name: str) -> tuple[str, str]:
    middle = statistics.median(result.normalised(name) for result in found)
    return f"{statistics.fmean(result.losses[name] for result in found):.3f}", f"{middle:+.2f}"


def _seeds(found: Sequence[Result]) -> str:
    (few, many), (less, more) = score.range_over_seeds(found, BEST, THEIRS)
    return (
        f"With single seeds instead of their mean, GapBoost wins {few} to {many} sets against the best of the six "
        f"by their rule, and loses {less} to {more}."
    )


def _lengths(found: Sequence[Result]) -> str:
    rows = []
    for (low, high), members in score.by_length(found).items():
        gaps = [result.losses[BEST] - result.losses[GAPBOOST] for result in members]
        rows.append(
            [
                f"{low:,} and more"
                if high is None
                else f"under {high:,}"
                if low == 0
                else f"{low:,} to {high - 1:,}",
                str(len(members)),
                *map(str, score.count(members, GAPBOOST, BEST, THEIRS)),
                *map(str, score.count(members, GAPBOOST, BEST, PROPER)),
                f"{statistics.fmean(gaps):+.3f}",
            ]
        )
    return render(
        ["rows", "sets", "wins, their rule", "losses", "wins, 5 % rule", "losses", "mean gap"], rows
    )


def _everybody(found: Sequence[Result]) -> str:
    names = (GAPBOOST, *ALGORITHMS)
    return render(
        ["", *names], [[first, *(_difference(found, first, second) for second in names)] for first in names]
    )


def _difference(found: Sequence[Result], first: str, second: str) -> str:
    wins, losses = score.count(found, first, second, THEIRS)
    return "" if first == second else f"{wins - losses:+d}"


def _behind(found: Sequence[Result]) -> str:
    behind = [result for result in found if result.losses[GAPBOOST] > result.losses[BEST]]
    rows = [
        [
            f"{result.name} ({result.id})" + "*" * abs(_verdict(result)),
            f"{result.rows:,}",
            str(result.labels),
            f"{result.losses[GAPBOOST]:.3f}",
            f"{result.losses[BEST]:.3f}",
            _best(result),
            f"{result.told:.3f}",
            f"{result.constant:.3f}",
        ]
        for result in sorted(behind, key=lambda result: result.losses[BEST] - result.losses[GAPBOOST])
    ]
    heads = ["set", "rows", "labels", GAPBOOST, "best of the six", "which", "told", "one label"]
    return render(heads, rows) if rows else "On none."


def _all(found: Sequence[Result]) -> str:
    names = (GAPBOOST, *ALGORITHMS)
    rows = [
        [
            f"{result.name} ({result.id})" + "*" * abs(_verdict(result)),
            f"{result.rows:,}",
            str(result.labels),
            *(f"{result.losses[name]:.3f}" for name in names),
            f"{result.told:.3f}",
        ]
        for result in found
    ]
    return render(["set", "rows", "labels", *names, "told"], rows)


def _verdict(result: Result) -> int:
    return score.verdict(result.losses[GAPBOOST], result.losses[BEST], result.rows, THEIRS)


def _best(result: Result) -> str:
    return min(ALGORITHMS, key=lambda name: result.losses[name])


def _origin(records: Sequence[Record]) -> str:
    last = max(records, key=lambda record: str(record["date"]))
    versions = ", ".join(f"{name} {value}" for name, value in last["machine"].items() if name != "cpu")
    days = sorted({str(record["date"]) for record in records})
    return f"{' to '.join(dict.fromkeys((days[0], days[-1])))}, {last['machine']['cpu']}, {versions}."


def chart_numbers(records: Iterable[Record]) -> list[dict[str, Any]]:
    """What the chart shows: for each set its rows, the two losses, and who has won."""
    return [
        {
            "rows": result.rows,
            "ours": round(result.losses[GAPBOOST], 5),
            "theirs": round(result.losses[BEST], 5),
            "verdict": _verdict(result),
        }
        for result in score.results(records)
    ]


_COLOURS = {1: charts.OURS, 0: "#aaaaaa", -1: charts.PEER}
_MEANINGS = {
    1: "GapBoost wins",
    0: "neither",
    -1: "Vowpal Wabbit wins (best of six algorithms, best of nine rates)",
}


def draw(numbers: Sequence[Mapping[str, Any]]) -> Figure:
    figure = Figure(figsize=(9.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    _points(left, [(n["theirs"], n["ours"], n["verdict"]) for n in numbers])
    most = 1.05 * max(max(n["theirs"], n["ours"]) for n in numbers)
    left.plot([0, most], [0, most], color="#333333", lw=0.8)
    left.set(xlabel="loss of Vowpal Wabbit", ylabel="loss of GapBoost", xlim=(0, most), ylim=(0, most))
    _points(right, [(n["rows"], n["theirs"] - n["ours"], n["verdict"]) for n in numbers])
    right.axhline(0, color="#333333", lw=0.8)
    right.set(xscale="log", xlabel="rows", ylabel="loss of Vowpal Wabbit minus that of GapBoost")
    handles = [
        Line2D([], [], ls="", marker="o", color=_COLOURS[v], label=text) for v, text in _MEANINGS.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _points(axes: Axes, points: Sequence[tuple[float, float, int]]) -> None:
    for who in (0, -1, 1):
        mine = [(x, y) for x, y, verdict in points if verdict == who]
        axes.plot(
            [x for x, _ in mine], [y for _, y in mine], "o", ms=4.5, color=_COLOURS[who], mec="white", mew=0.4
        )
