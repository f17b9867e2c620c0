"""`python -m benchmarks.condition`: does the weak learning condition hold on the paper's streams, and what do
the bounds say of these very runs?

Each run is written down when it is done; the same command goes on where it was stopped, and with `--record`
keeps what docs/theory.md tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from banditboost import play
from banditboost.experiments.learners import make
from banditboost.experiments.paper import paper_parameters
from banditboost.experiments.protocol import STREAMS, setting
from banditboost.experiments.run import open_stream
from banditboost.experiments.task import Source
from benchmarks import resumed

NAME = "condition"
BOOSTERS = ("AdaBandit", "OptBandit", "AdaFull", "OptFull")
SEEDS = range(4, 9)
KEY = ("data", "booster")
LISTS = ("seed", "mistakes", "losses", "weights", "largest_weights", "suffered")


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
            "losses": _rounded(result.condition.losses),
            "weights": _rounded(result.condition.weights),
            "largest_weights": _rounded(result.condition.largest_weights),
            "suffered": _rounded(result.suffered),
        }


def _rounded(numbers: Iterable[float]) -> list[float]:
    """Seven digits are enough for a page."""
    return [float(f"{number:.7g}") for number in numbers]


def all_runs() -> Iterator[Run]:
    """Seed by seed, so that a part is useful."""
    for seed in SEEDS:
        for data in STREAMS:
            for booster in BOOSTERS:
                yield Run(data, booster, seed)


def main(arguments: Sequence[str] | None = None) -> None:
    options = resumed.parser_of(NAME, __doc__).parse_args(arguments)
    played = resumed.play_missing(all_runs(), options.results)
    if options.record:
        lines = resumed.grouped(played, (*KEY, "n_labels", "exploration", "rounds"), LISTS)
        resumed.keep(options.record, NAME, lines, KEY)


if __name__ == "__main__":
    main()
