"""A compiled booster and its slow twin from tests/naive, made alike, fed alike, and compared in all that can
be seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import HoeffdingTree
from banditboost.memo import CHOSEN_EXPERT, GREEDY, POLICY, POLICY_BY_VOTES, PROBABILITY, SHOWN, VOTES
from tests.boosting.streams import Stream
from tests.naive import boosters as naive
from tests.naive import mixture, rng
from tests.naive.tree import Tree

SEED = 5
RHO = 0.1
GAMMA = 0.1
BANDITS = ["AdaBandit", "OptBandit", "BinBandit", "MixBandit"]
BOOSTERS = [*BANDITS, "AdaFull", "OptFull", "MixFull"]
GAP = "GapBoost"  # its twin is compared in test_gap_twin.py
DECIDERS = [*BANDITS, GAP]
ALL_BOOSTERS = [*BOOSTERS, GAP]
MIXTURES = ["MixBandit", "MixFull"]
ADAPTIVE = ["AdaBandit", "AdaFull", *MIXTURES]
CLOSE = {"rel": 1e-9, "abs": 1e-12}
CLOSE_WEIGHT = {
    "rel": 1e-6,
    "abs": 1e-7,
}  # of a class in a leaf, where weights are kept to 24 bits, and what follows from it
CLOSE_MIXTURE = {"rel": 0.0, "abs": 1e-9}  # the twin integrates by other points
_RANGES = ((5.0, 20.0), (0.01, 0.9), (0.01, 0.9))  # the defaults of HoeffdingTree


def parameters_of(name: str, **options: Any) -> dict[str, Any]:
    """What the booster `name` is made with: the options of all, and its own."""
    own = {"exploration": RHO} if name in BANDITS else {}
    return {**own, **({} if name in ADAPTIVE or name == GAP else {"edge": GAMMA}), **options}


def make_booster(
    name: str, k: int, n_learners: int, *, leaf_prediction: str = "majority", **options: Any
) -> Any:
    """A booster over the labels 0 .. k-1."""
    parameters = {"weak_learner": HoeffdingTree(leaf_prediction=leaf_prediction), "seed": SEED, **options}
    return getattr(banditboost, name)(range(k), n_learners=n_learners, **parameters_of(name, **parameters))


def naive_tree(
    number: int, k: int, kinds: list[str], n_values: list[int], leaf_prediction: str = "majority"
) -> Tree:
    """Tree `number` of a committee, with its keyed draw of the parameters."""
    u = [rng.uniform(SEED, number, rng.TREE_PARAMETER, index) for index in range(3)]
    drawn = (
        rng.between(u[0], *_RANGES[0]),
        rng.log_between(u[1], *_RANGES[1]),
        rng.log_between(u[2], *_RANGES[2]),
    )
    return Tree(k, kinds, n_values, *drawn, leaf_prediction)


def make_twin(
    name: str, k: int, n_learners: int, make_learner: Any, *, exploration: float = RHO, **options: Any
) -> Any:
    """`make_learner(number, k)` makes a learner of k labels."""
    if name == "BinBandit":
        return naive.BinBandit(
            k, n_learners, lambda number: make_learner(number, 2), exploration, GAMMA, SEED, **options
        )
    learners = [make_learner(number, k) for number in range(n_learners)]
    first = [exploration] if name in BANDITS else []
    gamma = [] if name in ADAPTIVE else [GAMMA]
    made_of = mixture if name in MIXTURES else naive
    return getattr(made_of, name)(k, learners, *first, *gamma, SEED, **options)


class Both:
    """A booster and its twin, a round at a time."""

    def __init__(self, booster: Any, twin: Any) -> None:
        self.booster, self.twin = booster, twin

    def decide(self, x: Any, coded: list[float]) -> tuple[Any, Any, list[float]]:
        """Asserts that they decide alike.

        `x` is the row as the booster takes it, `coded` as the twin does.
        """
        raise NotImplementedError

    def learn(self, both: tuple[Any, Any, list[float]], y: int) -> None:
        decision, expected, coded = both
        correct = decision.label == y
        self.booster.learn(decision, correct)
        self.twin.learn(expected, coded, correct)

    def step(self, x: Any, coded: list[float], y: int) -> None:
        """Decide and learn at once."""
        self.learn(self.decide(x, coded), y)

    def play(self, stream: Stream) -> None:
        for x, y in zip(stream.X, stream.y.tolist(), strict=True):
            self.step(x, x.tolist(), y)

    def play_late(self, stream: Stream, seed: int) -> None:
        """After each decision between none and three of the open ones are learned, drawn at random; some
        never are.
        """
        luck = np.random.default_rng(seed)
        waiting: list[Any] = []
        for x, y in zip(stream.X, stream.y.tolist(), strict=True):
            waiting.append((self.decide(x, x.tolist()), y))
            for _ in range(min(luck.integers(0, 4), len(waiting))):
                self.learn(*waiting.pop(luck.integers(len(waiting))))


class Pair(Both):
    """One of the paper's boosters, by name."""

    def __init__(self, name: str, booster: Any, twin: Any) -> None:
        super().__init__(booster, twin)
        self.name = name
        self.close = CLOSE_MIXTURE if name in MIXTURES else CLOSE

    def step(self, x: Any, coded: list[float], y: int) -> None:
        if self.name in BANDITS:
            super().step(x, coded, y)
        else:
            memo, _ = self.booster._choose(self.booster._joined(x), self.booster.rounds)
            expected = self.twin.step(coded, y)
            self._compare(memo, expected)
            self.booster.learn_one(x, y)

    def decide(self, x: Any, coded: list[float]) -> tuple[Any, Any, list[float]]:
        decision, expected = self.booster.decide(x), self.twin.decide(coded)
        self._compare(decision._memo, expected)
        return decision, expected, coded

    def _compare(self, memo: np.ndarray, expected: Any) -> None:
        n = self.booster.n_learners
        assert (int(memo[SHOWN]), int(memo[GREEDY])) == (expected.ytilde, expected.yhat)
        close = (
            self.close if memo[POLICY] == POLICY_BY_VOTES else {"rel": 0.0, "abs": 0.0}
        )  # alphas agree to the ninth digit, and votes weigh alphas
        assert memo[PROBABILITY] == pytest.approx(expected.p, **close)
        h, alpha = memo[VOTES : VOTES + n].tolist(), memo[VOTES + n : VOTES + 2 * n].tolist()
        if self.name == "BinBandit":
            assert h == pytest.approx(expected.h[expected.ytilde], **CLOSE_WEIGHT)
            assert alpha == pytest.approx(expected.alpha[expected.ytilde], **CLOSE_WEIGHT)
        else:
            assert h == expected.h
            assert alpha == pytest.approx(expected.alpha, **self.close)
            assert int(memo[CHOSEN_EXPERT]) == expected.expert

    def compare_state(self) -> None:
        """What has been learned: weights of learners and experts, and every tree to its last leaf."""
        self.compare_weights()
        committee = self.booster._committee
        for number, tree in enumerate(self.twin_learners()):
            compare_shapes(shape_of(committee, int(committee.forest.trees[number]["root"])), tree.shape())

    def compare_weights(self) -> None:
        if self.name in ADAPTIVE:
            assert self.booster.alphas.tolist() == pytest.approx(self.twin.alpha, **self.close)
            assert self.booster._weights[self.booster.n_learners :].tolist() == pytest.approx(
                self.twin.logv, rel=1e-9, abs=1e-9
            )
        elif self.name == "BinBandit":
            assert self.booster.n_groups == len(self.twin.groups)
            for number, label in enumerate(self.twin.groups):
                assert self.booster._log_alphas[number].tolist() == pytest.approx(
                    self.twin.log_alpha[label], **CLOSE_WEIGHT
                )

    def twin_learners(self) -> list[Any]:
        """The twin's learners in the order of the booster's."""
        if self.name != "BinBandit":
            return list(self.twin.learners)
        return [learner for group in self.twin.groups.values() for learner in group]


def shape_of(committee: Any, node: int) -> dict[str, Any]:
    """A compiled tree in the form of the naive tree's `shape`."""
    step, at = committee.forest.steps[node], committee.forest.nodes[node]
    if step["feature"] < 0:
        return {"classes": _classes(committee.forest.entries, int(at["first_entry"]))}
    threshold = None if np.isnan(step["threshold"]) else float(step["threshold"])
    children = range(int(step["next"]), int(step["next"]) + int(at["n_children"]))
    return {
        "feature": int(step["feature"]),
        "threshold": threshold,
        "children": [shape_of(committee, child) for child in children],
    }


def _classes(entries: np.ndarray, entry: int) -> list[tuple[int, float]]:
    found = []
    while entry >= 0:
        found.append((int(entries[entry]["label"]), float(entries[entry]["weight"])))
        entry = int(entries[entry]["next"])
    return found


def compare_shapes(shape: dict[str, Any], expected: dict[str, Any]) -> None:
    assert shape.keys() == expected.keys()
    if "classes" in expected:
        assert [label for label, _ in shape["classes"]] == [label for label, _ in expected["classes"]]
        assert [weight for _, weight in shape["classes"]] == pytest.approx(
            [weight for _, weight in expected["classes"]], **CLOSE_WEIGHT
        )
        return
    assert (shape["feature"], shape["threshold"]) == (expected["feature"], expected["threshold"])
    assert len(shape["children"]) == len(expected["children"])
    for child, twin in zip(shape["children"], expected["children"], strict=True):
        compare_shapes(child, twin)
