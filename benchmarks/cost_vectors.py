"""`python -m benchmarks.cost_vectors`: a linear learner boosted by whole cost vectors, or by label and weight.

Each run is written down when it is done; the same command goes on where it was stopped, and with `--record`
keeps what docs/guide-weak-learner.md tells. `--choose` plays the runs by which the learner's parameters were
chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from banditboost import AdaBandit, OptBandit, play
from banditboost.boosting.costs import LESSONS
from banditboost.experiments.protocol import STREAMS, setting
from banditboost.experiments.run import open_stream
from banditboost.experiments.task import Source
from banditboost.weak_learners.cost_sensitive_linear import CostSensitiveLinear
from benchmarks import resumed

NAME = "cost_vectors"
BOOSTERS: dict[str, Any] = {"AdaBandit": AdaBandit, "OptBandit": OptBandit}
RIDGE, CLIP = 1.0, 1.0
"""The learner's defaults, chosen by `--choose`."""
FEEDS = {"costs": CLIP, "unclipped": None, "text": CLIP, "ours": CLIP}
"""How a learner is taught, and its own clip: by `learn_costs`, or by label and weight of the appendix or ours."""
ROUNDS = 10_000
SEEDS = range(4, 9)
CHOSEN_ON, CHOICE_ROUNDS, CHOICE_SEEDS = ("balance", "car", "mice"), 2_500, range(100, 102)
RIDGES, CLIPS = (0.1, 1.0, 10.0), (1.0, 3.0, 10.0, 100.0, None)
KEY = ("data", "booster", "feed", "rounds", "ridge", "clip")
Array = np.ndarray[Any, Any]


class ByLabel:
    """A learner whose door for cost vectors is shut."""

    def __init__(self, learner: CostSensitiveLinear) -> None:
        self.learner = learner

    def predict(self, x: Array) -> int:
        return self.learner.predict(x)

    def learn(self, x: Array, label: int, weight: float) -> None:
        self.learner.learn(x, label, weight)


@dataclass(frozen=True)
class Run:
    """One stream, boosted one way."""

    data: str
    booster: str
    feed: str
    seed: int
    rounds: int
    ridge: float = RIDGE
    clip: float | None = CLIP

    @property
    def id(self) -> str:
        way = f"{self.data}/{self.booster}/{self.feed}/ridge={self.ridge:g}/clip={self.clip}"
        return f"{way}/rounds={self.rounds}/seed={self.seed}"

    def play(self) -> dict[str, Any]:
        plan, paper = STREAMS[self.data], setting(self.data, self.booster)
        stream = open_stream(Source(self.data, repeat=plan.repeat, rounds=self.rounds), self.seed)
        learner: Any = CostSensitiveLinear(stream.schema(), ridge=self.ridge, clip=self.clip)
        by_label = self.feed in LESSONS
        model = BOOSTERS[self.booster](
            stream.labels,
            n_learners=paper.n_learners,
            exploration=paper.exploration,
            weak_learner=ByLabel(learner) if by_label else learner,
            lesson=self.feed if by_label else "ours",
            schema=stream.schema(),
            seed=self.seed,
        )
        result = play(model, *stream)
        scores = {"accuracy": result.accuracy, "last_accuracy": result.last_accuracy}
        return {"id": self.id, **asdict(self), **scores}


def all_runs() -> Iterator[Run]:
    """Seed by seed, so that a part is useful."""
    for seed in SEEDS:
        for data, plan in STREAMS.items():
            for booster in BOOSTERS:
                for feed, clip in FEEDS.items():
                    yield Run(data, booster, feed, seed, min(ROUNDS, plan.rounds), clip=clip)


def choice_runs() -> Iterator[Run]:
    """The grid of parameters, on other seeds and on half of the data sets."""
    for seed in CHOICE_SEEDS:
        for data in CHOSEN_ON:
            for booster in BOOSTERS:
                for feed in ("costs", "ours"):
                    for ridge in RIDGES:
                        for clip in CLIPS:
                            yield Run(data, booster, feed, seed, CHOICE_ROUNDS, ridge, clip)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = resumed.parser_of(NAME, __doc__)
    parser.add_argument("--choose", action="store_true", help="play the runs that the parameters come from")
    options = parser.parse_args(arguments)
    played = resumed.play_missing(choice_runs() if options.choose else all_runs(), options.results)
    if options.record:
        lines = resumed.grouped(played, KEY, ("seed", "accuracy", "last_accuracy"))
        resumed.keep(options.record, NAME, lines, KEY)


if __name__ == "__main__":
    main()
