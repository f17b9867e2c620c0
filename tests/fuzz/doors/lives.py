"""Honest lives: whatever a model was made with and has met, it tells sound probabilities, and its own file is
loaded.

A life is a kind of model, parameters up to their extremes, and odd rows: numbers of 1e100, of 5e-324 and next to
each other, constants, labels and features that join, allowed labels, verdicts that come late or never.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

import banditboost
from banditboost import HoeffdingTree, baselines, schedules
from tests.fuzz.checks import ACCEPTED
from tests.fuzz.harness import scratch_folder
from tests.fuzz.luck import Luck
from tests.fuzz.models import demand, look_at_shares, look_at_summary

_NUMBERS: tuple[tuple[float, ...], ...] = (
    (0.0, 1.0, -1.0),
    (-1.0, 1.0, 1e-75, 1e-76, 4.0),
    (0.0, 3e-162, 1.5e-162),
    (0.0, 5e-324, 1e-323),
    (1e100, -1e100, 0.0),
    (1e100, 1e-100, 1e-200, -1e50),
    (1e15, 1e15 + 0.125, 1e15 - 0.125),
    (7.0,),
)
_RATES = (0.05, 0.0, 1e-300, 1e-9, 0.5, 0.999999, 1.0 - 2.0**-53)
_SCHEDULES = (
    schedules.Adaptive(), schedules.Adaptive(scale=1e6, memory=1e12), schedules.Decaying(scale=1e12, power=10.0),
    schedules.Decaying(scale=1e-300, power=1e-300), schedules.Theory(least=1e-300, most=0.99),
)  # fmt: skip
_SCALES = (1.0, 1.0, 1e-12, 1e12)
_TREES = (
    None,
    HoeffdingTree(grace_period=1e-300, split_confidence=1.0, tie_threshold=1e12, leaf_prediction="adaptive"),
    HoeffdingTree(grace_period=5.0, split_confidence=5e-324, tie_threshold=1e-300, min_branch_fraction=0.0),
    HoeffdingTree(grace_period=2.0, split_confidence=0.5, tie_threshold=0.5, leaf_prediction="naive_bayes"),
)
_BOOSTERS = ("AdaBandit", "OptBandit", "BinBandit", "GapBoost", "AdaFull", "OptFull", "MixBandit", "MixFull")
KINDS = (*_BOOSTERS, *baselines.__all__)


def _parameters(name: str, luck: random.Random) -> dict[str, Any]:
    given: dict[str, Any] = {"seed": luck.randrange(2**40)}
    has_trees = name in _BOOSTERS or name.startswith("Epsilon")
    if has_trees:
        given["weak_learner"] = luck.choice(_TREES)
        given["max_memory"] = luck.choice((1 << 20, 1 << 20, 1 << 28))
    if has_trees and name != "EpsilonGreedyTree":
        given["n_learners"] = luck.choice((1, 2, 5))
    if name in _BOOSTERS and name != "GapBoost":
        given |= {"clip": luck.choice(_SCALES), "importance_scale": luck.choice(_SCALES)}
        given["tie_tolerance"] = luck.choice((1e-9, 0.0, 1e6))
    if name in ("AdaBandit", "OptBandit", "BinBandit", "MixBandit", "Majority", "Banditron", "DiagonalSOBA"):
        given["exploration"] = luck.choice(_rates_of(name))
    if name in ("OptBandit", "BinBandit", "OptFull"):
        given["edge"] = luck.choice((0.1, 0.0, 0.999))
    if name == "BinBandit":
        given["step"] = luck.choice((None, 0.0, 1e6))
    if name == "DiagonalSOBA":
        given["regularization"] = luck.choice((1.0, 1e-100, 1e12))
    return given


def _rates_of(name: str) -> tuple[Any, ...]:
    theory = _SCHEDULES if name in ("AdaBandit", "OptBandit") else _SCHEDULES[:-1]
    if name in ("AdaBandit", "OptBandit", "MixBandit"):
        return (*_RATES, *theory, schedules.Divided(), schedules.Divided(least=1e-300, most=0.99))
    return (*_RATES, *theory)


class Life:
    """A model, and what it will meet."""

    def __init__(self, luck: random.Random, kind: str | None = None) -> None:
        self._luck = luck
        name = kind or luck.choice(KINDS)
        parameters = _parameters(name, luck)
        n_labels = luck.choice((2, 3, 7, 50))
        self.told = f"{name}, {n_labels} labels, {parameters}"
        make = getattr(banditboost if name in _BOOSTERS else baselines, name)
        self.model = make(range(n_labels), **parameters)
        self._pools = [luck.choice(_NUMBERS) for _ in range(luck.choice((1, 3, 12)))]
        self._n_values = luck.choice((1, 3, 40, 300))
        self._joining = luck.choice((0.0, 0.01, 0.05))
        self._right = luck.choice((0.0, 0.1, 0.5, 1.0))
        self._prompt = luck.choice((0.3, 1.0))
        self._open: list[Any] = []

    def _row(self) -> dict[str, Any]:
        luck = self._luck
        if luck.random() < self._joining and len(self._pools) < 20:
            self._pools.append(luck.choice(_NUMBERS))
        row: dict[str, Any] = {f"n{i}": luck.choice(pool) for i, pool in enumerate(self._pools)}
        row["v"] = f"v{luck.randrange(self._n_values)}"
        return {name: value for name, value in row.items() if luck.random() < 0.95}

    def live(self, n_rounds: int) -> None:
        for _ in range(n_rounds):
            if self._luck.random() < self._joining / 5 and not self.model.labels_are_fixed:
                self.model.add_label(f"label {len(self.model.labels)}")
            if hasattr(self.model, "decide"):
                self._decide_and_learn()
            else:
                right = 0 if self._right == 1.0 else self._luck.choice(self.model.labels)
                look_at_shares(self.model.predict_proba_one(self._row()))
                self.model.learn_one(self._row(), right)

    def _decide_and_learn(self) -> None:
        luck, model, allowed = self._luck, self.model, None
        if not model.labels_are_fixed and luck.random() < 0.1:
            allowed = luck.sample(model.labels, luck.randint(1, len(model.labels)))
        decision = model.decide(self._row(), allowed)
        demand(0.0 < decision.probability <= 1.0, f"the probability is {decision.probability}")
        self._open.append(decision)
        while self._open and luck.random() < self._prompt:
            told = luck.random() < self._right
            graded = {"reward": luck.random()} if luck.chance(0.3) else {"correct": told}
            model.learn(self._open.pop(luck.randrange(len(self._open))), **graded)
            if self._prompt == 1.0 and not self._open:
                break

    def look(self, folder: Path) -> None:
        """What the model tells is sound, and its file makes the same model."""
        model, path = self.model, folder / "life.bb"
        look_at_summary(model.summary())
        if hasattr(model, "distribution"):
            look_at_shares(model.distribution(self._row()))
        model.save(path)
        again = banditboost.load(path)
        ours, theirs = model._arrays(), again._arrays()
        same = ours.keys() == theirs.keys() and all(
            np.array_equal(ours[name], theirs[name], equal_nan=ours[name].dtype.kind == "f")
            for name in ours
            if ours[name].dtype.names is None
        )
        demand(same and model.parameters == again.parameters, "the loaded model is another one")


def live(luck: random.Random, folder: Path, kind: str | None = None, n_rounds: int = 150) -> Life:
    """A life, looked at after every third of it."""
    life = Life(luck, kind)
    try:
        for _ in range(3):
            life.live(n_rounds // 3)
            life.look(folder)
    except Exception as error:
        error.add_note(life.told)
        raise
    return life


def prepare() -> None:
    """Compile every kind of model."""
    with scratch_folder() as folder:
        for number, kind in enumerate(KINDS):
            live(random.Random(number), Path(folder), kind, n_rounds=6)


def play(luck: Luck, folder: Path) -> str:
    live(luck, folder)
    return ACCEPTED
