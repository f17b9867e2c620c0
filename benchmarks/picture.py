"""`python -m benchmarks.picture`: the learning curves of the landing page.

They are of one seed of the Car stream, with the paper's settings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from banditboost import (
    AdaBandit,
    AdaFull,
    BinBandit,
    GapBoost,
    HoeffdingTree,
    OptBandit,
    OptFull,
    datasets,
    play,
)

TARGET = Path(__file__).parents[1] / "docs/figures/car.png"
SEED = 4
LARGE_TREES = HoeffdingTree(grace_period=(50, 200), split_confidence=(1e-11, 0.9))
LEARNERS: list[tuple[str, Any, dict[str, Any]]] = [
    ("GapBoost (right or wrong)", GapBoost, {}),
    ("AdaBandit (right or wrong)", AdaBandit, {"n_learners": 15, "exploration": 0.001}),
    ("OptBandit (right or wrong)", OptBandit, {"n_learners": 15, "exploration": 0.001}),
    (
        "BinBandit (right or wrong)",
        BinBandit,
        {"n_learners": 10, "exploration": 0.001, "weak_learner": LARGE_TREES},
    ),
    ("AdaFull (told the label)", AdaFull, {"n_learners": 20, "weak_learner": LARGE_TREES}),
    ("OptFull (told the label)", OptFull, {"n_learners": 20, "weak_learner": LARGE_TREES}),
]


def main() -> None:
    stream = datasets.load("car").stream(repeat=6, seed=SEED)
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    for name, booster, parameters in LEARNERS:
        curve = play(booster(stream.labels, schema=stream.schema(), seed=SEED, **parameters), *stream).curve(
            window=0.1
        )
        axes.plot(
            range(stream.rounds - len(curve) + 1, stream.rounds + 1),
            curve,
            label=name,
            linestyle="--" if "told" in name else "-",
        )
    axes.set(
        xlabel="round",
        ylabel="share of right labels, last tenth of the stream",
        title="Car, 4 labels",
        ylim=(0.6, 1.0),
    )
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", frameon=False)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(TARGET, dpi=110)
    print(TARGET)


if __name__ == "__main__":
    main()
