"""`python -m benchmarks.verdicts`: what late and lost verdicts cost, on three of the paper's streams.

Each run is written down when it is done; the same command goes on where it was stopped, and then writes the
page, the table and the figure.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from banditboost import play
from banditboost.experiments import figures
from banditboost.experiments.learners import make
from banditboost.experiments.paper import FIRST_SEED, paper_parameters
from banditboost.experiments.protocol import STREAMS
from banditboost.experiments.results import Results
from banditboost.experiments.run import open_stream
from banditboost.experiments.statistics import mean_interval
from banditboost.experiments.task import Source
from benchmarks.tables import render

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "results/verdicts.jsonl"
TARGET = ROOT / "docs/results"
DATA = ("car", "nursery", "mice")
LEARNERS = ("AdaBandit", "GapBoost")
DELAYS = (0, 10, 100, 1_000, 10_000)
LOSSES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
SEEDS = range(FIRST_SEED, FIRST_SEED + 5)
PAGE = """# What late and lost verdicts cost

`python -m benchmarks.verdicts`: `play(model, X, y, delay=..., lost=...)` on three of the paper's streams, AdaBandit with the paper's
parameters and GapBoost with its own, {seeds} seeds. Accuracy over the last fifth of the stream ± half the 95 % interval over seeds;
[all figures, and those of the whole stream](verdicts.csv).

## Verdicts that come late

Every verdict is learned so many rounds after its decision, and none is lost. Those that are due after the end of the stream are never
learned: the longest delay leaves Car 368 verdicts, Nursery 41,840, and Mice, with 8,640 rounds, none at all.

{late}

## Verdicts that never come

A verdict is lost with this probability, whatever it says; the others come at once.

{lost}

![Accuracy against delay and loss](verdicts.svg)
"""


@dataclass(frozen=True)
class Run:
    """One stream under one regime."""

    data: str
    learner: str
    delay: int
    loss: float
    seed: int

    @property
    def id(self) -> str:
        return f"{self.data}/{self.learner}/delay={self.delay}/loss={self.loss:g}/seed={self.seed}"

    def play(self) -> dict[str, Any]:
        stream = open_stream(Source(self.data, repeat=STREAMS[self.data].repeat), self.seed)
        parameters = paper_parameters(self.data, self.learner) if self.learner == "AdaBandit" else {}
        model = make(self.learner, stream.labels, stream.schema(), parameters, self.seed)
        result = play(model, *stream, delay=self.delay, lost=self.loss)
        scores = {
            "rounds": len(result.y),
            "learned": result.learned,
            "accuracy": result.accuracy,
            "last_accuracy": result.last_accuracy,
        }
        return {"id": self.id, **asdict(self), **scores}


def all_runs(data: Sequence[str], seeds: Sequence[int]) -> Iterator[Run]:
    """Delay and loss are varied one at a time."""
    regimes = [(delay, 0.0) for delay in DELAYS] + [(0, loss) for loss in LOSSES if loss]
    for name in data:
        for learner in LEARNERS:
            for delay, loss in regimes:
                for seed in seeds:
                    yield Run(name, learner, delay, loss, seed)


def means(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each stream, learner and regime: means over seeds."""
    cells: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in records:
        cells.setdefault((record["data"], record["learner"], record["delay"], record["loss"]), []).append(
            record
        )
    rows = []
    for (data, learner, delay, loss), members in cells.items():
        row: dict[str, Any] = {
            "data": data,
            "learner": learner,
            "delay": delay,
            "loss": loss,
            "seeds": len(members),
        }
        row["learned"] = round(sum(record["learned"] for record in members) / len(members))
        for score in ("last_accuracy", "accuracy"):
            row[score], row[f"{score}_half_interval"] = (
                round(value, 5) for value in mean_interval([r[score] for r in members])
            )
        rows.append(row)
    return rows


def table(rows: Sequence[dict[str, Any]], regime: str, values: Sequence[float]) -> str:
    other = "loss" if regime == "delay" else "delay"
    cells = {(row["data"], row["learner"], row[regime]): _cell(row) for row in rows if not row[other]}
    lines = list(dict.fromkeys((row["data"], row["learner"]) for row in rows))
    heads = [
        "stream",
        "learner",
        *(f"{value:,}" if regime == "delay" else f"{value:.0%}" for value in values),
    ]
    return render(
        heads,
        [
            [data.capitalize(), learner, *(cells[data, learner, value] for value in values)]
            for data, learner in lines
        ],
    )


def _cell(row: dict[str, Any]) -> str:
    return f"{row['last_accuracy']:.3f} ± {row['last_accuracy_half_interval']:.3f}"


def draw(rows: Sequence[dict[str, Any]]) -> Figure:
    data = list(dict.fromkeys(row["data"] for row in rows))
    figure = Figure(figsize=(3.4 * len(data), 5.8), layout="constrained")
    grid = figure.subplots(2, len(data), squeeze=False)
    for column, name in enumerate(data):
        members = [row for row in rows if row["data"] == name]
        late, lost = grid[0][column], grid[1][column]
        _lines(late, [row for row in members if not row["loss"]], "delay")
        _lines(lost, [row for row in members if not row["delay"]], "loss")
        late.set(title=name.capitalize(), xlabel="rounds until the verdict")
        late.set_xscale("symlog", linthresh=10)
        late.set_xticks(DELAYS, [f"{delay:,}" for delay in DELAYS])
        late.set_xlim(-2, 16_000)
        lost.set(xlabel="share of verdicts that never come")
    for axes in grid[:, 0]:
        axes.set(ylabel="accuracy, last fifth")
    grid[0][0].legend(frameon=False, loc="lower left")
    return figure


def _lines(axes: Axes, rows: Sequence[dict[str, Any]], regime: str) -> None:
    for learner in LEARNERS:
        mine = sorted((row for row in rows if row["learner"] == learner), key=lambda row: float(row[regime]))
        axes.errorbar(
            [row[regime] for row in mine],
            [row["last_accuracy"] for row in mine],
            [row["last_accuracy_half_interval"] for row in mine],
            color=figures.colour(learner),
            marker="o",
            markersize=4,
            capsize=3,
            linewidth=1.8,
            label=learner,
        )
    axes.set_ylim(0.0, 1.02)
    axes.grid(alpha=0.3)


def write(records: Sequence[dict[str, Any]], seeds: int) -> None:
    rows = means(records)
    TARGET.mkdir(parents=True, exist_ok=True)
    with (TARGET / "verdicts.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    page = PAGE.format(seeds=seeds, late=table(rows, "delay", DELAYS), lost=table(rows, "loss", LOSSES))
    (TARGET / "verdicts.md").write_text(page, encoding="utf-8")
    figures.save(draw(rows), TARGET / "verdicts.svg")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.verdicts", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "--records", type=Path, default=RECORDS, help="what was played (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    results = Results(options.records)
    runs = list(all_runs(DATA, SEEDS))
    finished = results.finished_ids()
    for number, run in enumerate(runs, start=1):
        if run.id not in finished:
            print(f"{number}/{len(runs)} {run.id}", file=sys.stderr, flush=True)
            results.append(run.play())
    ours = {run.id for run in runs}
    write([record for record in results.records() if record["id"] in ours], len(SEEDS))


if __name__ == "__main__":
    main()
