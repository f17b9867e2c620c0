"""`python -m benchmarks.condition`: does the weak learning condition hold on the paper's streams, and what do
the bounds say of these very runs?

Each run is written down when it is done; the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from banditboost import play
from banditboost.experiments.learners import make
from banditboost.experiments.paper import paper_parameters
from banditboost.experiments.protocol import STREAMS, setting
from banditboost.experiments.results import Results
from banditboost.experiments.run import open_stream
from banditboost.experiments.task import Source
from benchmarks import records

NAME = "condition"
BOOSTERS = ("AdaBandit", "OptBandit", "AdaFull", "OptFull")
SEEDS = range(4, 9)


@dataclass(frozen=True)
class Run:
    """One booster on one of the paper's streams, with the paper's parameters."""

    data: str
    booster: str
    seed: int

    @property
    def id(self) -> str:
        return f"{self.data}/{self.booster}/seed={self.seed}"

    def play(self) -> dict[str, Any]:
        stream = open_stream(Source(self.data, repeat=STREAMS[self.data].repeat), self.seed)
        parameters = paper_parameters(self.data, self.booster)
        model = make(self.booster, stream.labels, stream.schema(), parameters, self.seed)
        result = play(model, *stream, condition=True)
        return {
            "id": self.id,
            "data": self.data,
            "booster": self.booster,
            "seed": self.seed,
            "n_labels": len(result.labels),
            "exploration": setting(self.data, self.booster).exploration,
            "rounds": len(result.y),
            "mistakes": int((~result.correct).sum()),
            "losses": result.condition.losses.tolist(),
            "weights": result.condition.weights.tolist(),
            "largest_weights": result.condition.largest_weights.tolist(),
            "suffered": result.suffered.tolist(),
        }


def all_runs() -> Iterator[Run]:
    """Seed by seed, so that a part is useful."""
    for seed in SEEDS:
        for data in STREAMS:
            for booster in BOOSTERS:
                yield Run(data, booster, seed)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.condition", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "--records", type=Path, default=records.path_of(NAME), help="what was played (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    results = Results(options.records)
    runs = list(all_runs())
    finished = results.finished_ids()
    for number, run in enumerate(runs, start=1):
        if run.id not in finished:
            print(f"{number}/{len(runs)} {run.id}", file=sys.stderr, flush=True)
            results.append(run.play())


if __name__ == "__main__":
    main()
