"""Who shows options: GapBoost with its defaults, AdaBandit with and without restarts, Vowpal Wabbit's
explorers (tuned, also with steps that do not shrink), epsilon-greedy on River's trees that forget by ADWIN,
LinUCB.
"""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np

from banditboost import AdaBandit, play
from benchmarks.rewards.players import Player, Settings, Shown, gap_boost, guess, wabbit
from benchmarks.rewards.streams import Row, Stream

GAP, ADA, RESTARTS = "GapBoost", "AdaBandit", "AdaBandit, restarts"
WABBIT, ADWIN, LIN_UCB, GUESSING = "Vowpal Wabbit", "ADWIN trees", "LinUCB", "guessing"
BATCH = 50
"""Rounds between two lessons of LinUCB, which learns in batches."""


def ada_bandit(stream: Stream, settings: Settings, seed: int) -> Shown:
    model = AdaBandit(range(stream.rewards.shape[1]), seed=seed, **settings)
    return np.asarray(play(model, stream.rows, rewards=stream.rewards).shown, np.int64)


def adwin(stream: Stream, settings: Settings, seed: int) -> Shown:
    """For each option one of River's HoeffdingAdaptiveTreeClassifier: will it earn? The rewards are verdicts."""
    from river.tree import HoeffdingAdaptiveTreeClassifier

    draw, k = random.Random(seed), stream.rewards.shape[1]
    trees: list[Any] = [HoeffdingAdaptiveTreeClassifier(seed=seed, grace_period=50) for _ in range(k)]
    shown = np.empty(len(stream.rows), np.int64)
    for t, row in enumerate(stream.rows):
        if draw.random() < settings["epsilon"]:
            option = draw.randrange(k)
        else:
            hopes = [tree.predict_proba_one(row).get(True, 0.5 if t < 20 * k else 0.0) for tree in trees]
            option = max(range(k), key=lambda a: (hopes[a], draw.random()))
        trees[option].learn_one(row, bool(stream.rewards[t, option] > 0.5))
        shown[t] = option
    return shown


def lin_ucb(stream: Stream, settings: Settings, seed: int) -> Shown:
    """That of contextualbandits, on columns that are standardised over the whole stream, names one-hot."""
    from contextualbandits.online import LinUCB

    X, k = _matrix(stream.rows), stream.rewards.shape[1]
    model = LinUCB(nchoices=k, alpha=settings["alpha"], random_state=seed)
    shown = np.random.default_rng(seed).integers(k, size=len(X))
    model.fit(X[:BATCH], shown[:BATCH], _earned(stream, shown, slice(0, BATCH)))
    for start in range(BATCH, len(X), BATCH):
        batch = slice(start, start + BATCH)
        shown[batch] = model.predict(X[batch])
        model.partial_fit(X[batch], shown[batch], _earned(stream, shown, batch))
    return shown


def _earned(stream: Stream, shown: Shown, batch: slice) -> Any:
    rounds = np.arange(len(shown))[batch]
    return stream.rewards[rounds, shown[batch]]


def _matrix(rows: list[Row]) -> Any:
    names = dict.fromkeys(name for row in rows for name in row)
    columns = []
    for name in names:
        values = [row.get(name) for row in rows]
        texts = {value for value in values if isinstance(value, str)}
        if texts:
            columns += [np.array([value == text for value in values], float) for text in sorted(texts)[:50]]
        else:
            column = np.array([np.nan if value is None else value for value in values], float)
            scaled = (column - np.nanmean(column)) / (np.nanstd(column) or 1.0)
            columns.append(np.nan_to_num(scaled))
    return np.column_stack(columns)


EXPLORERS = (
    "--epsilon 0.05",
    "--squarecb --gamma_scale 100",
    "--regcbopt --mellowness 0.01",
    "--bag 5 --greedify",
)
CONSTANT_STEP = " --power_t 0"


def _first() -> list[Settings]:
    usual = {"estimate": "mtr", "step": 0.5, "most": 1, "pairs": False}
    return [{**usual, "explorer": e, "rest": rest} for e, rest in product(EXPLORERS, ("", CONSTANT_STEP))]


def _neighbours(best: Settings) -> list[Settings]:
    changes: list[Settings] = [{"step": 0.1}, {"step": 0.02}, {"pairs": True}, {"most": 0}]
    changes.append({"explorer": "--squarecb --gamma_scale 1000"})
    return [{**best, **change} for change in changes]


def players() -> list[Player]:
    """Those with more than one setting are tuned."""
    return [
        Player(GAP, gap_boost),
        Player(WABBIT, wabbit, _first(), _neighbours),
        Player(ADA, ada_bandit),
        Player(RESTARTS, ada_bandit, [{"restart_on_change": True}]),
        Player(ADWIN, adwin, [{"epsilon": 0.05}]),
        Player(GUESSING, guess),
        Player(LIN_UCB, lin_ucb, [{"alpha": 0.1}]),
    ]
