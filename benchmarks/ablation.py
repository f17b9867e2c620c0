"""`python -m benchmarks.ablation`: what each part of AdaBandit brings, on the paper's six streams.

Each run is written down when it is done; the same command goes on where it was stopped, and then writes the
page and the table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from banditboost import play
from banditboost.experiments.engine import Engine
from banditboost.experiments.machine import machine, versions
from banditboost.experiments.protocol import LAST_FRACTION, STREAMS
from banditboost.experiments.results import Results
from banditboost.experiments.run import open_stream, warm_up
from banditboost.experiments.task import Source, Task
from benchmarks import ablation_page
from benchmarks.variants import (
    BASE,
    EXPLORATION,
    FRESH,
    OTHER_BOOSTERS,
    OTHERS,
    PAPER,
    PROMISING,
    RECOMMENDED,
    SEEDS,
    Variant,
)

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "results/ablation.jsonl"
TARGET = ROOT / "docs/results"
SHORT = ("balance", "car", "nursery", "mice")
LONG = ("movement", "isolet")
BEGINNING = 40_000
"""Rounds of the two long streams that every variant plays."""


@dataclass(frozen=True)
class Run:
    """A variant on a stream, whole or its beginning."""

    variant: Variant
    data: str
    seed: int
    rounds: int | None = None

    @property
    def task(self) -> Task:
        source = Source(self.data, repeat=STREAMS[self.data].repeat, rounds=self.rounds)
        return Task(source, self.variant.learner, self.variant.parameters(self.data), self.seed)

    @property
    def id(self) -> str:
        """Depends on what is played, not on what it is called."""
        return f"{self.task.id}/step={self.variant.step:g}/last_expert={self.variant.last_expert}"

    def play(self) -> dict[str, Any]:
        warm_up(self.variant.learner)
        stream = open_stream(self.task.source, self.seed)
        correct = play(self.variant.make(stream, self.data, self.seed), *stream).correct
        return {
            "id": self.id,
            "variant": self.variant.name,
            "task": self.task.to_dict(),
            "whole": None if self.rounds else scores(correct),
            "beginning": scores(correct[:BEGINNING]) if self.data in LONG else None,
            "machine": machine(),
            "versions": versions(),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        }


def scores(correct: np.ndarray[Any, Any]) -> dict[str, Any]:
    last = max(1, int(LAST_FRACTION * len(correct)))
    return {
        "rounds": len(correct),
        "accuracy": float(correct.mean()),
        "last_accuracy": float(correct[-last:].mean()),
    }


def all_runs() -> Iterator[Run]:
    """What matters most comes first, so that a study that is stopped has a table, too."""
    others = [variant for variant in OTHERS if variant is not RECOMMENDED]
    yield from _runs([BASE, RECOMMENDED], SHORT, SEEDS)
    yield from _runs([BASE, RECOMMENDED], LONG, SEEDS[:2])
    yield from _runs([PAPER, *EXPLORATION, *others], SHORT, SEEDS[:5])
    yield from _runs([BASE], SHORT, FRESH)
    yield from _runs([PAPER, *EXPLORATION, *others], LONG, SEEDS[:2], BEGINNING)
    yield from _runs(PROMISING, SHORT, FRESH)
    yield from _runs(OTHER_BOOSTERS, SHORT, SEEDS[:5])
    yield from _runs([PAPER, *EXPLORATION], LONG, SEEDS[:2])
    yield from _runs(OTHER_BOOSTERS, LONG, SEEDS[:2], BEGINNING)


def _runs(
    variants: Sequence[Variant], data: Sequence[str], seeds: range, rounds: int | None = None
) -> Iterator[Run]:
    for seed in seeds:
        for variant in variants:
            for name in data:
                yield Run(variant, name, seed, rounds)


def some_runs(datasets: Sequence[str], seeds: int | None) -> list[Run]:
    """`seeds` is how many of SEEDS; None is all that are planned, fresh ones too."""
    some = None if seeds is None else SEEDS[:seeds]
    return [run for run in all_runs() if run.data in datasets and (some is None or run.seed in some)]


def play_missing(runs: Sequence[Run], results: Results, jobs: int) -> None:
    finished = results.finished_ids()
    waiting = [run for run in runs if run.id not in finished]
    for done, (position, record) in enumerate(Engine(jobs=jobs).outcomes(Run.play, waiting), start=1):
        results.append(record)
        run = waiting[position]
        print(
            f"{done}/{len(waiting)} {run.variant.name}: {run.data}, seed {run.seed}",
            file=sys.stderr,
            flush=True,
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ablation", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "--datasets",
        nargs="+",
        choices=STREAMS,
        default=list(STREAMS),
        metavar="NAME",
        help="some of %(choices)s",
    )
    parser.add_argument(
        "--seeds",
        type=int,
        help="at most so many, from 4 on, and none of the fresh ones (default: as planned)",
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many runs at a time (default: %(default)s)")
    parser.add_argument(
        "--records", type=Path, default=RECORDS, help="what was played (default: %(default)s)"
    )
    parser.add_argument(
        "--target", type=Path, default=TARGET, help="where page and table are written (default: %(default)s)"
    )
    parser.add_argument(
        "--page", action="store_true", help="play nothing: write page and table of what was played"
    )
    options = parser.parse_args(arguments)
    results = Results(options.records)
    if not options.page:
        play_missing(some_runs(options.datasets, options.seeds), results, options.jobs)
    planned = {run.id for run in all_runs()}
    ablation_page.write([record for record in results.records() if record["id"] in planned], options.target)


if __name__ == "__main__":
    main()
