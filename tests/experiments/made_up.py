"""Records as a runner would write them, made up without playing."""

from __future__ import annotations

import numpy as np

from banditboost.experiments.protocol import ALGORITHMS, BANDIT, PRINTED, STREAMS, setting

RATES = (0.0001, 0.001, 0.01, 0.1, 0.3)


def record(
    data="car",
    learner="AdaBandit",
    seed=4,
    accuracy=0.9,
    last=None,
    rounds=None,
    exploration=None,
    mode="ours",
    given=None,
    **extra,
):
    """`given` are parameters beside the usual ones."""
    plan = STREAMS.get(data)
    rounds = rounds or (plan.rounds if plan else 1000)
    last = accuracy + 0.05 if last is None else last
    shown = [round(float(at)) for at in np.linspace(0.2 * rounds, rounds, 200)]
    curve = last - (last - 0.4) * np.exp(-4 * np.linspace(0, 1, 200))
    parameters = {"n_learners": 15, "edge": 0.1, "grace_period": [5, 20], "tie_threshold": [0.01, 0.9]}
    if learner in BANDIT:
        parameters["exploration"] = 0.001 if exploration is None else exploration
    return {
        "format": 1,
        "id": f"{data}-{mode}-{learner}-{seed}-{exploration}-{given}",
        "task": {
            "source": {"name": data, "repeat": 6, **({"variant": "text"} if mode == "text" else {})},
            "learner": learner,
            "parameters": {**parameters, **(given or {})},
            "seed": seed,
        },
        "rounds": rounds,
        "n_labels": plan.n_labels if plan else 3,
        "accuracy": accuracy,
        "last_accuracy": last,
        "greedy_accuracy": accuracy + 0.001,
        "explored": 0.001,
        "curve": {"window": 0.2, "round": shown, "accuracy": curve.tolist()},
        "alphas": None,
        "expert_weights": None,
        "edges": None,
        "seconds": 1.5,
        "rounds_per_second": 50_000.0,
        "memory_bytes": 3 << 20,
        "peak_rss_bytes": 200 << 20,
        "versions": {"banditboost": "0.1.0", "numpy": "2.1.0", "numba": "0.61.0", "python": "3.11.9"},
        "machine": {"cpu": "a processor with <angle> brackets", "cores": 2, "system": "Linux"},
        "finished": "2026-11-16T12:00:00Z",
        **extra,
    }


def paper(datasets=tuple(STREAMS), seeds=range(4, 8), modes=("ours",)):
    """All five boosters, a little off the printed figures, each seed a little different."""
    noise = np.random.default_rng(1)
    return [
        record(
            data,
            learner,
            seed,
            *(float(printed + 0.02 * noise.standard_normal()) for printed in (cell.total, cell.last)),
            mode=mode,
        )
        for mode in modes
        for data in datasets
        for learner, cell in PRINTED[data].items()
        for seed in seeds
    ]


def grid(datasets=tuple(STREAMS), seeds=range(4, 7), modes=("ours",)):
    """A search over exploration rates in which 0.01 is best."""
    noise = np.random.default_rng(2)
    return [
        record(
            data,
            learner,
            seed,
            0.8 - 0.05 * abs(np.log10(rate) + 2) + 0.01 * noise.standard_normal(),
            exploration=rate,
            rounds=2500,
            mode=mode,
        )
        for mode in modes
        for data in datasets
        for learner in ALGORITHMS
        if setting(data, learner).exploration is not None
        for seed in seeds
        for rate in RATES
    ]
